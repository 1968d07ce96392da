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
// A [Witness] is one player: the servers that the player was asked for, what came of it, and
// to how many servers that shows the player's address. What nobody asked for does not
// count. [Knowledge] adds what the others behind the same address measured, and [Table] is
// what a choice is made from. [Hearsay] is what the players heard the servers say of
// themselves, of which it takes for true what most heard.
package evidence
