// Package roster keeps the people of a room: players and guests, their names and credentials, their
// open pages, the organiser, and whether the room is locked.
//
//	hello ─▶ Recognise ─▶ Refusal ─▶ Admit ─▶ a player ◀──┐
//	                                            │ Unseat   │ Admit
//	page ──▶ Caller ───▶ Enter ─────────────────┴▶ a guest ┘
//	                                                │ Drop, Remove, Quit
//	                                                ▼
//	                                              nobody
//
// A name belongs to the one person with its credential. People see only names, so no two names in
// use look alike, and guests give way to players. All other parts of a room know people by their
// [people.ID], which they keep when they leave and come back with a credential of theirs. The room
// tells the parts who comes and who leaves by an [Event].
package roster
