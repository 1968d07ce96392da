package portmap

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	natpmp "github.com/jackpal/go-nat-pmp"
)

// pcp is the Port Control Protocol's MAP (RFC 6887, sections 7 and 11):
//
//	0        1        2                 4                 8
//	version  R opcode reserved  result  lifetime          …
//	12       … 24     36       37        40      42       44            60
//	client / nonce    protocol reserved  port    external external address
type pcp struct {
	server netip.AddrPort
	local  netip.Addr
	nonce  [12]byte // permits changes to the mapping
}

const (
	pcpVersion = 2
	pcpMap     = 1
	pcpReply   = 0x80
	pcpSize    = 60
	pcpTCP     = 6 // IANA's protocol numbers
	pcpUDP     = 17
	// gatewayPort is where PCP and NAT-PMP listen.
	gatewayPort = 5351
)

var errMalformed = errors.New("portmap: malformed reply")

func newPCP(gateway, local netip.Addr) *pcp {
	p := &pcp{server: netip.AddrPortFrom(gateway, gatewayPort), local: local}
	rand.Read(p.nonce[:])
	return p
}

func (p *pcp) name() string { return "PCP" }

func (p *pcp) open(ctx context.Context, t Transport, port uint16, life time.Duration) (Mapping, error) {
	return p.ask(ctx, t, port, netip.AddrPortFrom(netip.IPv4Unspecified(), port), life)
}

func (p *pcp) close(ctx context.Context, m Mapping) error {
	_, err := p.ask(ctx, m.Transport, m.Port, m.External, 0)
	return err
}

// ask sends a request until it is answered (RFC 6887, section 8.1.1, with shorter pauses).
func (p *pcp) ask(ctx context.Context, t Transport, port uint16, suggested netip.AddrPort, life time.Duration) (Mapping, error) {
	request := appendPCP(nil, p.local, p.nonce, t, port, suggested, life)
	var m Mapping
	err := exchange(ctx, p.server, request, func(reply []byte) (bool, error) {
		if len(reply) < pcpSize || !bytes.Equal(reply[24:36], p.nonce[:]) {
			return false, nil // not for us
		}
		var err error
		m, err = parsePCP(reply)
		return true, err
	})
	m.Port, m.Transport = port, t
	if err != nil {
		m.External = suggested
	}
	return m, err
}

func appendPCP(b []byte, client netip.Addr, nonce [12]byte, t Transport, port uint16, suggested netip.AddrPort, life time.Duration) []byte {
	b = append(b, pcpVersion, pcpMap, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(life/time.Second))
	protocol := byte(pcpTCP)
	if t == UDP {
		protocol = pcpUDP
	}
	from, to := client.As16(), suggested.Addr().As16()
	b = append(b, from[:]...)
	b = append(b, nonce[:]...)
	b = append(b, protocol, 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, port)
	b = binary.BigEndian.AppendUint16(b, suggested.Port())
	return append(b, to[:]...)
}

func parsePCP(reply []byte) (Mapping, error) {
	if len(reply) < pcpSize || reply[0] != pcpVersion || reply[1] != pcpReply|pcpMap {
		return Mapping{}, errMalformed
	}
	if code := reply[3]; code != 0 {
		return Mapping{}, fmt.Errorf("the router refuses, with code %d", code)
	}
	addr, _ := netip.AddrFromSlice(reply[44:60])
	return Mapping{
		External: netip.AddrPortFrom(addr.Unmap(), binary.BigEndian.Uint16(reply[42:])),
		Protocol: "PCP", Life: time.Duration(binary.BigEndian.Uint32(reply[4:])) * time.Second,
	}, nil
}

// exchange sends a request, with pauses that double, until take has accepted a reply.
func exchange(ctx context.Context, server netip.AddrPort, request []byte, take func([]byte) (bool, error)) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "udp", server.String())
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	buf := make([]byte, 1100) // PCP's limit, section 7
	const tries = 3
	for pause := 250 * time.Millisecond; pause < 250*time.Millisecond<<tries; pause *= 2 {
		if _, err := conn.Write(request); err != nil {
			return err
		}
		conn.SetReadDeadline(time.Now().Add(pause))
		for {
			n, err := conn.Read(buf)
			if err != nil {
				break
			}
			if done, err := take(buf[:n]); done {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errNoAnswer
}

// pmp is NAT-PMP (RFC 6886).
type pmp struct{ gateway netip.Addr }

// pmpTime is how long the library keeps asking, twice. It knows no context, and nobody waits longer for the end.
const pmpTime = 750 * time.Millisecond

func (p pmp) name() string { return "NAT-PMP" }

func (p pmp) open(ctx context.Context, t Transport, port uint16, life time.Duration) (Mapping, error) {
	client := natpmp.NewClientWithTimeout(p.gateway.AsSlice(), pmpTime)
	outside, err := client.GetExternalAddress()
	if err != nil {
		return Mapping{}, err
	}
	if ctx.Err() != nil {
		return Mapping{}, ctx.Err()
	}
	m, err := client.AddPortMapping(strings.ToLower(string(t)), int(port), int(port), int(life/time.Second))
	if err != nil {
		// The library does not tell a silent router from one that refuses.
		return Mapping{Port: port, Transport: t}, errors.Join(errNoAnswer, err)
	}
	return Mapping{
		External: netip.AddrPortFrom(netip.AddrFrom4(outside.ExternalIPAddress), m.MappedExternalPort), Port: port, Transport: t,
		Protocol: p.name(), Life: time.Duration(m.PortMappingLifetimeInSeconds) * time.Second,
	}, nil
}

func (p pmp) close(_ context.Context, m Mapping) error {
	_, err := natpmp.NewClientWithTimeout(p.gateway.AsSlice(), backTime).
		AddPortMapping(strings.ToLower(string(m.Transport)), int(m.Port), 0, 0)
	if err != nil {
		return fmt.Errorf("portmap: %w", err)
	}
	return nil
}
