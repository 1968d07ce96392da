// Package probertest has protocols over TCP for tests of the prober, and a server that speaks one.
//
//	hello ADDRESS, what?  ->  i am NAME
//	again NONCE           ->  echo NONCE
package probertest

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"muster/discovery"
)

// Lines is a protocol like Minecraft's: a description, then an echo.
type Lines struct{}

// AppendGreeting appends the address that the client has asked for.
func (Lines) AppendGreeting(b []byte, to netip.AddrPort) []byte {
	return fmt.Appendf(b, "hello %v\n", to)
}

// AppendQuery appends the question for the description or, with a challenge, for the echo.
func (Lines) AppendQuery(b []byte, nonce discovery.Nonce, challenge []byte) []byte {
	if len(challenge) == 0 {
		return append(b, "what?\n"...)
	}
	return fmt.Appendf(b, "%s %x\n", challenge, uint64(nonce))
}

// Parse reads the description, and the echo once it is there.
func (Lines) Parse(datagrams [][]byte) (reply discovery.Reply, err error) {
	first, rest, whole := bytes.Cut(datagrams[0], []byte("\n"))
	if !whole {
		return discovery.Reply{Incomplete: true}, nil
	}
	name, ok := strings.CutPrefix(string(first), "i am ")
	if !ok {
		return reply, fmt.Errorf("lines: %w", discovery.ErrMalformed)
	}
	reply.Info = &discovery.Info{Name: name}
	if _, err := fmt.Sscanf(string(rest), "echo %x\n", &reply.Nonce); err == nil {
		reply.Echoed = true
	} else {
		reply.Challenge = []byte("again")
	}
	return reply, nil
}

// Connecting is a protocol that only wants to know whether a server listens.
type Connecting struct{ Lines }

// AppendGreeting appends nothing.
func (Connecting) AppendGreeting(b []byte, _ netip.AddrPort) []byte { return b }

// AppendQuery appends nothing.
func (Connecting) AppendQuery(b []byte, _ discovery.Nonce, _ []byte) []byte { return b }

// Talk answers a client as a server that speaks Lines, until the connection's end.
func Talk(conn net.Conn) {
	for r := bufio.NewReader(conn); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		switch nonce, isEcho := strings.CutPrefix(line, "again "); {
		case isEcho:
			fmt.Fprint(conn, "echo "+nonce)
		case line == "what?\n":
			fmt.Fprint(conn, "i am arena\n")
		}
	}
}
