// Package coordinate finds the group's best server though nobody measured
// everything: round after round it says which servers each player should still
// ask, and how much better a server could yet be found. It is pure; whoever
// drives it carries questions and answers.
//
//	players' results ─▶ Observe ─▶ candidates ─▶ posterior: a value for every
//	                                   │         address, and how uncertain it is
//	Next ◀─ questions ◀─ samples ◀─────┼───────────────┘
//	Progress, Finalists ◀──────────────┘
package coordinate
