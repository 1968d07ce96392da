// Package jsonrpc reads and writes JSON-RPC 2.0, one message a line, in bounded memory.
//
//	lines ─▶ Lines ─▶ Parse ─▶ calls
//	lines ◀─ Outbox ◀─ answers, and the newest of each kind of news
//
// The libraries jrpc2 1.3.6, sourcegraph/jsonrpc2 0.2.3 and x/exp/jsonrpc2 read a message of any length
// before they look at it. They queue requests without a bound, or read none while they answer one. Their
// notifications wait for the launcher to read. A launcher may send without end, or read nothing,
// and a room must suffer from neither.
package jsonrpc
