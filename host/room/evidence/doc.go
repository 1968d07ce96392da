// Package evidence keeps the players' measurements of a round, and decides which of them count.
//
//	Ask, Admit, AskAll ─▶ ┌───────────────┐
//	Report ─────────────▶ │ PlayerResults │ ─▶ At, Servers, Progress ─┐
//	Look ───────────────▶ └───────────────┘                           ▼
//	                       one a player     NAT group ─▶ Knowledge ─▶ Table
//
// [PlayerResults] are one player's: the servers that the player was asked for, the results, and how
// many servers have seen the player's address. A result without a question does not count. [Knowledge]
// adds the results of the others behind the same address, and a [Table] holds everybody's for a
// choice.
package evidence
