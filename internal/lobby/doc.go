// Package lobby shows a room to its organiser and its players, and lets them steer it and vote. It
// works at a terminal, which leads to the person's page for the rest, or on Home's page.
//
//	what is typed ─▶ Typing ─┬─ the organiser's orders ─▶ the room
//	                         └─ votes ─▶ Player, as a peer ─▶
//	the screen ◀── View ◀── its newest state ────────────────
package lobby
