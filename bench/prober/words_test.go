package prober

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"muster/discovery"
)

// lines is a protocol over TCP, like Minecraft's: a description, then an echo.
//
//	what?  ->  i am NAME
//	again NONCE  ->  echo NONCE
type lines struct{}

func (lines) AppendGreeting(b []byte, _ netip.AddrPort) []byte { return b }

func (lines) AppendQuery(b []byte, nonce discovery.Nonce, challenge []byte) []byte {
	if len(challenge) == 0 {
		return append(b, "what?\n"...)
	}
	return fmt.Appendf(b, "%s %x\n", challenge, uint64(nonce))
}

func (lines) Parse(datagrams [][]byte) (reply discovery.Reply, err error) {
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

// talk answers as a server of lines does.
func talk(conn net.Conn) {
	for r := bufio.NewReader(conn); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		if nonce, isEcho := strings.CutPrefix(line, "again "); isEcho {
			fmt.Fprint(conn, "echo "+nonce)
		} else {
			fmt.Fprint(conn, "i am arena\n")
		}
	}
}

// connecting is a protocol that only wants to know whether a server listens.
type connecting struct{ lines }

func (connecting) AppendQuery(b []byte, _ discovery.Nonce, _ []byte) []byte { return b }
