// Package tcp is the protocol of servers that are asked no more than whether somebody
// listens: any that take connections over TCP. What they say is not heard.
//
//	client              server
//	SYN            ──▶
//	               ◀──  SYN-ACK
package tcp

import (
	"net/netip"

	"muster/discovery"
)

// Protocol connects. It is a [discovery.Stream].
type Protocol struct{}

// AppendGreeting appends nothing.
func (Protocol) AppendGreeting(b []byte, _ netip.AddrPort) []byte { return b }

// AppendQuery appends nothing.
func (Protocol) AppendQuery(b []byte, _ discovery.Nonce, _ []byte) []byte { return b }

// Parse takes whatever is said for an answer.
func (Protocol) Parse([][]byte) (discovery.Reply, error) { return discovery.Reply{}, nil }
