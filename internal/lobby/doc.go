// Package lobby is a room as its organiser and its players see and steer it at a terminal,
// or on Home's page in its stead.
//
//	what is typed ─▶ Steering ── the organiser's orders ─▶ the room
//	              ─▶ voter ─▶ Player ── as a peer ───────▶
//	the screen ◀── View ◀── its newest state ─────────────
package lobby
