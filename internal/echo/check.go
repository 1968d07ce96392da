package echo

import (
	"bytes"
	"encoding/binary"
	"net/netip"

	"github.com/pion/stun/v3"

	"muster/discovery/protocol/beacon"
)

const (
	// shortestCheck is the length of the shortest answer to a check, in bytes: to an IPv4 address.
	shortestCheck = 64
	// longestCheck is the size of packet that every IPv6 path takes, in bytes.
	longestCheck = 1280
	// header is the length of a message's header, in bytes.
	header = 20
	// room is what a message may grow by while a library computes with it, in bytes.
	room = 128
)

// checks answers the ICE connectivity checks of browsers (RFC 8445) as a lite agent whose ufrag and password everybody
// knows. It keeps nothing from one check to the next but the memory that it works in.
type checks struct {
	asked, answer *stun.Message
	key           stun.MessageIntegrity
	sender        stun.XORMappedAddress
}

func newChecks() *checks {
	// Strict: what follows the integrity does not count, because nobody vouches for it.
	c := &checks{asked: stun.NewWithOptions(stun.WithStrict(true)), answer: stun.New(), key: stun.NewShortTermIntegrity(beacon.Password)}
	c.asked.Raw = make([]byte, 0, longestCheck+room)
	c.answer.Raw = make([]byte, 0, room)
	return c
}

// reads reports whether a datagram has the form of a check of a beacon. It is cheap: whether the check is genuine
// remains open.
func (c *checks) reads(datagram []byte) bool {
	if len(datagram) < shortestCheck || len(datagram) > longestCheck || !stun.IsMessage(datagram) ||
		binary.BigEndian.Uint16(datagram) != stun.BindingRequest.Value() ||
		int(binary.BigEndian.Uint16(datagram[2:])) != len(datagram[header:]) || !isWhole(datagram[header:]) ||
		stun.Decode(datagram, c.asked) != nil {
		return false
	}
	for _, a := range c.asked.Attributes {
		switch a.Type {
		case stun.AttrUsername, stun.AttrMessageIntegrity, stun.AttrMessageIntegritySHA256, stun.AttrPriority, stun.AttrUseCandidate:
		default:
			if a.Type.Required() { // who does not understand it must not agree to it
				return false
			}
		}
	}
	username, _ := c.asked.Attributes.Get(stun.AttrUsername)
	return bytes.HasPrefix(username.Value, []byte(beacon.Ufrag+":"))
}

// isWhole reports whether attributes are neither cut nor followed by anything. The library finds that out, too, but its
// errors are long texts: in a flood of rubbish they would cost more than answers do.
func isWhole(attributes []byte) bool {
	for len(attributes) >= 4 {
		n := 4 + (int(binary.BigEndian.Uint16(attributes[2:]))+3)&^3
		if n > len(attributes) {
			return false
		}
		attributes = attributes[n:]
	}
	return len(attributes) == 0
}

// isGenuine reports whether the check that was read last was made with the password, and came undamaged.
func (c *checks) isGenuine() bool {
	return c.key.Check(c.asked) == nil && (!c.asked.Contains(stun.AttrFingerprint) || stun.Fingerprint.Check(c.asked) == nil)
}

// answers returns the answer to the check that was read last, which tells the asker their own address. It is empty if
// it would be longer than the check. It is valid until the next call.
func (c *checks) answers(from netip.AddrPort) []byte {
	addr := from.Addr().Unmap()
	if addr.Is4() {
		ip := addr.As4()
		c.sender.IP = append(c.sender.IP[:0], ip[:]...)
	} else {
		ip := addr.As16()
		c.sender.IP = append(c.sender.IP[:0], ip[:]...)
	}
	c.sender.Port = int(from.Port())
	c.answer.Reset()
	c.answer.Type, c.answer.TransactionID = stun.BindingSuccess, c.asked.TransactionID
	c.answer.WriteHeader()
	for _, add := range []stun.Setter{&c.sender, c.key, stun.Fingerprint} {
		if add.AddTo(c.answer) != nil {
			return nil
		}
	}
	if len(c.answer.Raw) > len(c.asked.Raw) {
		return nil
	}
	return c.answer.Raw
}
