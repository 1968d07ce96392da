// Package announcing tells the local networks about a room. The host does so on its own, and the
// programs of its players on theirs, because multicast ends at the router:
//
//	host ── network A ── router ── network B ── ann's program: "ann knows of a room, at the host's address"
//
// A program announces only what it has seen: the address at which it is connected to the host, and the
// certificate that the host has shown there. The rest, such as the room's name, is the host's word.
package announcing

import (
	"cmp"
	"net/netip"

	"muster/discovery"
	"muster/discovery/lists/lan"
	"muster/host/wire"
)

// Describe completes what everybody on the network may know of a room: not its code.
func Describe(s *wire.Snapshot, as lan.Room) lan.Room {
	for _, p := range s.People {
		if p.Organiser {
			as.Organiser = p.Name
		}
	}
	as.Name, as.Game = s.Room.Name, s.Room.Game
	if as.Name == "" && as.Organiser != "" {
		as.Name = as.Organiser + "'s room"
	}
	as.Players, as.Seats, as.Open = len(s.Players()), s.Room.Players, s.Room.Open
	as.ID = cmp.Or(s.Room.AnnounceAs, as.ID)
	return as
}

// Relay decides what a player's program announces. It is told what the program learns. The zero value
// announces nothing.
type Relay struct {
	player      string
	host        netip.AddrPort
	fingerprint string
	room        *wire.Snapshot
}

// Joined notes the player's name in the room.
func (r *Relay) Joined(player string) { r.player = player }

// Reached notes where the host is, and the fingerprint of the certificate that it has shown there.
func (r *Relay) Reached(host netip.AddrPort, fingerprint string) {
	r.host, r.fingerprint = host, fingerprint
}

// Lost notes that there is no connection to the host.
func (r *Relay) Lost() { r.host = netip.AddrPort{} }

// Changed notes the newest state of the room.
func (r *Relay) Changed(room *wire.Snapshot) { r.room = room }

// Room returns the room that the program announces, if it may announce one.
func (r *Relay) Room() (room lan.Room, may bool) {
	if r.room == nil || r.player == "" || !r.mayLead(r.host.Addr()) || r.room.Room.AnnounceAs == "" || !r.room.Room.Ended.IsZero() {
		return lan.Room{}, false
	}
	return Describe(r.room, lan.Room{
		Via: r.player, Host: discovery.Canonical(r.host), Port: r.host.Port(), Fingerprint: r.fingerprint,
	}), true
}

// mayLead reports whether the program may announce a host at this address. A link-local address holds
// on one cable only, and this machine's own means another one elsewhere. A public address is announced
// only if the organiser has said so: the player may sit in a café, and strangers there would learn
// where the organiser lives.
func (r *Relay) mayLead(host netip.Addr) bool {
	switch discovery.ReachOf(host) {
	case discovery.NetworkReach:
		return !host.IsLinkLocalUnicast()
	case discovery.InternetReach:
		return r.room.Room.Announce == wire.Yes
	}
	return false
}
