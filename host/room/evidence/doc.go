// Package evidence keeps the players' measurements of a round and the servers' words that they
// heard, and decides which of them count.
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
// servers have seen the player's address. A result without a question does not count. [Knowledge]
// adds the results of the others behind the same address, and a [Table] holds everybody's for a
// choice. [Hearsay] keeps the players' words about the servers, and believes what most of them
// heard.
package evidence
