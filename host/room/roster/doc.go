// Package roster keeps the people of a room: players and guests, their names and credentials, their
// open pages, the organiser, and whether the room is locked.
//
//	hello ─▶ Recognise ─▶ Refusal ─▶ Admit ─▶ a player ◀──┐
//	                                            │ Unseat   │ Admit
//	page ──▶ Caller ───▶ Enter ─────────────────┴▶ a guest ┘
//	                                                │ Drop, Remove, Quit, Sleep
//	                                                ▼
//	                                              nobody
//
// A name belongs to one person, who holds its credential. People see only names, so no two that
// look alike are in use, and guests give way to players. All other parts of a room know people by
// these names. When a name changes or goes, the room tells them by an [Event].
package roster
