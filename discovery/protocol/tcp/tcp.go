// Package tcp is the protocol for any server that accepts TCP connections. It only asks
// whether the port is open, and ignores all that the server sends.
//
//	client              server
//	SYN            ──▶
//	               ◀──  SYN-ACK
package tcp

import (
	"net/netip"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol connects. It is a [discovery.Stream] and a [discovery.Aside]. Above is how far
// above the players' port the server takes connections.
type Protocol struct{ Above uint16 }

// QueryPort returns the port to connect to, given the port that players use.
func (p Protocol) QueryPort(port uint16) uint16 { return packet.Above(port, p.Above) }

// AppendGreeting appends nothing.
func (Protocol) AppendGreeting(b []byte, _ netip.AddrPort) []byte { return b }

// AppendQuery appends nothing.
func (Protocol) AppendQuery(b []byte, _ discovery.Nonce, _ []byte) []byte { return b }

// Parse takes anything for an answer.
func (Protocol) Parse([][]byte) (discovery.Reply, error) { return discovery.Reply{}, nil }
