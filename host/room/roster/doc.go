// Package roster keeps who is in a room: players and guests, their names and credentials, which
// pages are open, who is the organiser, and whether the room is locked.
//
//	hello ─▶ Recognise ─▶ Refusal ─▶ Admit ─▶ a player ◀──┐
//	                                            │ Unseat   │ Admit
//	page ──▶ Caller ───▶ Enter ─────────────────┴▶ a guest ┘
//	                                                │ Drop, Remove, Quit, Sleep
//	                                                ▼
//	                                              nobody
//
// A name is one person's, and belongs to whoever holds its credential. People see names alone, so
// no two that look alike are in use, and guests give way to players. All other parts of a room
// know people by these names: what becomes of a name is an [Event], which the room tells them.
package roster
