// Package wire is the messages between host and peer.
//
//	peer                                 host
//	 │ ── hello ────────────────────────▶ │   version, code, name, token
//	 │ ◀──────────────── welcome, room ── │   or refused
//	 │ ── able ─────────────────────────▶ │   whether it can start the room's game
//	 │ ── bring ────────────────────────▶ │   servers that the player likes, if the player
//	 │                                    │   wants the room to have them
//	 │ ◀────────────────────────── look ─ │   what is on the player's own networks,
//	 │ ── near ─────────────────────────▶ │   if the host is not on them
//	 │ ◀──────────────── list, measure ── │   once the group is complete
//	 │ ── report, infos … done ─────────▶ │   as servers answer
//	 │ ◀────────────────────────── ask ── │   which to ask next, if the host coordinates
//	 │ ◀──────────────────── finalists ── │   the best few, once more
//	 │ ── verified ─────────────────────▶ │
//	 │ ◀─────────────────────── survey ── │   places where a server could be
//	 │ ── surveyed ─────────────────────▶ │
//	 │ ── say ──────────────────────────▶ │   votes, if people vote
//	 │ ◀─────────────── launch (room …) ─ │
//	 │ ── launched ─────────────────────▶ │   what came of it
//
// Readers skip fields and messages that their version does not know, so later versions can add
// some.
//
// Control messages are JSON text frames: {"type":"hello", …}. The server list, reports and infos
// are binary frames, and their first byte is their kind. A room message has those sections of the
// room's [Snapshot] that have changed.
//
// # Compatibility
//
// The messages are PROTOCOL.md's, and [Version] is their version. It rises when a program of the old
// version could no longer take part. Messages gain fields, and there will be more messages: skip one that
// you do not know.
package wire
