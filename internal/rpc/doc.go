// Package rpc lets a launcher that ships Muster beside itself find servers, open rooms and play in
// them, over standard input and output. It runs the commands that a person runs at a terminal, and
// shows the launcher what they do.
//
//	launcher ── calls ────────▶ Server ─▶ command line ─▶ a command of Muster's
//	         ◀─ answers, news ─        ◀─ lobby.Front, home.Terminal ─┘
//	         ── orders ───────▶ lobby.Client ─▶ the room's host
//
// One table (methods.go) has the methods, their parameters and the news. The OpenRPC document and the
// reference in docs/rpc.md are made from it.
package rpc
