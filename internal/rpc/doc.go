// Package rpc lets a launcher that ships Muster beside itself find servers, open rooms and play in
// them, over standard input and output. It runs the commands that a person runs at a terminal, and
// shows the launcher what they do.
//
//	launcher ── calls ────────▶ Server ─▶ command line ─▶ a command of Muster's
//	         ◀─ answers, news ─        ◀─ lobby.Front, home.Terminal ─┘
//	         ── orders ───────▶ lobby.Client ─▶ the room's host
//
// The methods, their parameters and the news are one table (methods.go), from which the document for
// programs follows. docs/rpc.md tells launchers how to use them.
package rpc
