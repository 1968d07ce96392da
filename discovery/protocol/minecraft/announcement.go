package minecraft

import (
	"net/netip"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/protocol/bedrock"
)

// A world that is open to the local network announces itself every 1.5 s:
//
//	world                                     everybody, at 224.0.2.60:4445
//	[MOTD]ann - Home[/MOTD][AD]54321[/AD]  ──▶
//
// The port is on the sender's machine. Versions before 1.7 put its address in front,
// which may be another card's.
//
// Source: the game's own LanServerPinger, as the Minecraft wiki describes it ("Server
// List Ping", "Ping via LAN").

// maxAnnouncement is how much the game itself reads of one, in bytes.
const maxAnnouncement = 1024

// Group returns the multicast address of the announcements. It makes the protocol a
// [discovery.Announced].
func (Protocol) Group() netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{224, 0, 2, 60}), 4445)
}

// ParseAnnouncement reads such an announcement.
func (Protocol) ParseAnnouncement(datagram []byte) (port uint16, info discovery.Info, err error) {
	text := string(datagram[:min(len(datagram), maxAnnouncement)])
	motd, rest, found := textBetween(text, "[MOTD]", "[/MOTD]")
	if !found {
		return 0, info, malformed("an announcement without its name")
	}
	at, _, found := textBetween(rest, "[AD]", "[/AD]")
	if !found {
		return 0, info, malformed("an announcement without its port")
	}
	n, err := strconv.ParseUint(at[strings.LastIndex(at, ":")+1:], 10, 16)
	if err != nil || n == 0 {
		return 0, info, malformed("an announcement of port %.20q", at)
	}
	return uint16(n), discovery.Info{Name: bedrock.CleanName(motd)}, nil
}

// textBetween returns the text between two marks, and the text after them.
func textBetween(text, mark, end string) (inside, rest string, found bool) {
	_, text, found = strings.Cut(text, mark)
	if !found {
		return "", "", false
	}
	return strings.Cut(text, end)
}
