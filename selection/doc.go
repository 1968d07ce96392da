// Package selection chooses one server for a whole group. It culls the servers that do not suit
// everyone, ranks the rest by a rule, and says why. It is pure: tables in, a verdict out.
//
//	reports ─▶ Table ─▶ cull ─▶ rank ─▶ Selection
//	                     │        │        │
//	                     └────────┴────────┴── reasons
//
// The JSON of a [Selection] is a document of its own, [Format], and only gains fields. The sentences of
// [Selection.Explain] may change, so do not parse them: discovery/sentence/say turns them into words.
package selection
