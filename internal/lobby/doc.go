// Package lobby shows a room to its organiser and its players, and lets them steer it. It works at
// a terminal or on Home's page.
//
//	what is typed ─▶ Steering ── the organiser's orders ─▶ the room
//	              ─▶ voter ─▶ Player ── as a peer ───────▶
//	the screen ◀── View ◀── its newest state ─────────────
package lobby
