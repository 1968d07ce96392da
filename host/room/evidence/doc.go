// Package evidence keeps what the players of a round measured of its servers and heard them
// say, and says what of it counts.
//
//	Ask, Admit, AskAll ─▶ ┌─────────┐
//	Report ─────────────▶ │ Witness │ ─▶ At, Servers, Progress ─┐
//	Look ───────────────▶ └─────────┘                           ▼
//	                     one a player     mates ─▶ Knowledge ─▶ Table
//
//	Hear ───▶ ┌─────────┐ ─▶ Taken, Own
//	          │ Hearsay │
//	Attend ─▶ └─────────┘ ─▶ Contradictions
//
// A [Witness] is one player: the servers that the player was asked for, the results, and how many
// servers have seen the player's address. A result that nobody asked for does not count.
// [Knowledge] adds the results of the others behind the same address, and a [Table] holds
// everybody's for a choice. [Hearsay] keeps the players' words about the servers, and takes for
// true what most of them heard.
package evidence
