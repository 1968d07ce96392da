// Package jsonrpc reads and writes JSON-RPC 2.0, one message a line, in bounded memory.
//
//	lines ─▶ Lines ─▶ Parse ─▶ calls
//	lines ◀─ Outbox ◀─ answers, and the newest of each kind of news
//
// Libraries read a whole message before they look at it, queue requests without a bound, and wait
// for the reader of their output. A launcher may do all three wrong, and a room must not suffer from
// that.
package jsonrpc
