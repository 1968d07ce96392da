// Package listing decides which servers a round is about. It knows the source of the list, the part
// of it that players get, and the list's own facts about servers that the room keeps.
//
//	Awaits ─▶ Supply, IsOverdue ─▶ Query ─▶ the host fetches ─▶ Shared ─┐
//	                                                                    ▼
//	servers on players' own networks ────────────────────────────────▶ Begin
//	                                                                    │
//	Save, Trim ◀── selection.Servers ◀── Servers ◀── List ◀─────────────┘
//
// A [Source] belongs to a room, round after round. A [List] belongs to one round. Rooms with the
// same list share it.
package listing

import (
	"iter"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/selection"
)

// saidCounts is how long the list's facts about a server's seats or map may exclude it from a round
// that begins. Services renew their lists about once a minute, and a map lasts ten. Older facts are
// shown, and exclude nothing.
const saidCounts = 5 * time.Minute

// List is a round's list of servers. The zero value has none.
type List struct {
	tree *topology.Tree
	// hash is the key under which the host keeps the list apart from its rooms, or empty.
	hash string
	// packed is the list in its saved form. The first save makes it.
	packed []byte
}

// New returns the list of a tree that [Shared] made. Hash is the key under which the host keeps it
// apart from the room, or empty.
func New(tree *topology.Tree, hash string) List { return List{tree: tree, hash: hash} }

// Begin returns a round's list: the list that came, and servers on players' own networks that no
// list has. If no list came, it has only these servers, and the note says so. A LAN party may have
// no internet, and a game no master. The error says why there is nothing to measure.
func Begin(came List, failure error, found []netip.AddrPort) (l List, note sentence.Sentence, err error) {
	var listed []discovery.Server
	if failure == nil {
		l, listed = came, came.tree.List()
	}
	if len(found) > 0 {
		l = New(topology.New(Shared(listed, found)), "")
	}
	switch {
	case failure != nil && len(found) == 0:
		return List{}, note, missing{wire.Refuse(wire.ReasonAction, "room.no-list", "why", failure.Error()), failure}
	case len(l.tree.List()) == 0:
		return List{}, note, wire.Refuse(wire.ReasonAction, "room.list-empty")
	case failure != nil:
		note = sentence.Of("room.list-own-networks", "why", failure.Error())
	}
	return l, note, nil
}

// missing says that no list came, and why.
type missing struct {
	*wire.Refusal
	why error
}

func (m missing) Unwrap() []error { return []error{m.Refusal, m.why} }

// Shared returns a list as everyone in a room gets it, along with the addresses of servers that no
// list has. It leaves out servers that cannot be asked or named on the wire. Each server appears
// once. The order is that of [topology.Compare], because neighbours share their markers and have
// nearly the same RTT.
func Shared(servers []discovery.Server, hidden []netip.AddrPort) []discovery.Server {
	var usable []discovery.Server
	add := func(s discovery.Server) {
		if s = canonical(s); s.Addr.IsValid() && s.Addr.Port() != 0 {
			usable = append(usable, s)
		}
	}
	for _, s := range servers {
		add(s)
	}
	for _, addr := range hidden {
		add(discovery.Server{Addr: addr})
	}
	slices.SortFunc(usable, discovery.CompareAddr)
	usable = slices.CompactFunc(usable, func(a, b discovery.Server) bool { return a.Addr == b.Addr })
	names := 0
	usable = slices.DeleteFunc(usable, func(s discovery.Server) bool {
		if hostport.IsName(s.Addr.Addr()) {
			names++
		}
		return names > discovery.MaxNames && hostport.IsName(s.Addr.Addr())
	})
	usable = usable[:min(len(usable), discovery.MaxServers)]
	slices.SortFunc(usable, topology.Compare)
	return usable
}

// canonical returns a server in the form of [discovery.AppendList]: with a country of two capitals
// or none, and without an AS number that its markers use.
func canonical(s discovery.Server) discovery.Server {
	const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	const firstMarker = 0xff000000
	s.Addr = discovery.Canonical(s.Addr)
	if !hostport.IsName(s.Addr.Addr()) {
		s.Addr = netip.AddrPortFrom(s.Addr.Addr().WithZone(""), s.Addr.Port())
	}
	if len(s.Country) != 2 || strings.Trim(s.Country, capitals) != "" {
		s.Country = ""
	}
	if s.ASN >= firstMarker {
		s.ASN = 0
	}
	return s
}

// Tree returns the topology of the list.
func (l *List) Tree() *topology.Tree { return l.tree }

// Servers returns the servers of a round that begins now, with the list's facts about them and no
// player's.
func (l *List) Servers(said discovery.Said, now time.Time) selection.Servers {
	return selection.Servers{List: l.tree.List(), Said: said, Dated: now.Sub(said.At) > saidCounts}
}

// Trim returns the servers of a round with only the useful part of the list's facts. All facts take
// much memory, and rooms with the same list share them. A room that has launched, or is saved,
// keeps the facts about servers that somebody has asked, because servers may tell less themselves.
// It can do without the rest: it asks the other servers again, or gets a new list.
func Trim(s selection.Servers, asked iter.Seq[int]) selection.Servers {
	s.Said = saidOf(s.List, useful(s, asked), s.Said.At)
	return s
}

// useful returns the useful part of the list's facts.
func useful(s selection.Servers, asked iter.Seq[int]) (useful []wire.ServerInfo) {
	if len(s.Said.Infos) == 0 {
		return nil
	}
	isAsked := make([]bool, len(s.List))
	for server := range asked {
		isAsked[server] = true
	}
	for server := range s.List {
		if !isAsked[server] {
			continue
		}
		listed := s.Said.Infos[s.List[server].Addr]
		if listed != nil && s.Info(server).AsListed {
			useful = append(useful, wire.ServerInfo{Server: server, Info: *listed})
		}
	}
	return useful
}

// saidOf returns a list's facts about some of its servers, as of a time.
func saidOf(list []discovery.Server, useful []wire.ServerInfo, at time.Time) discovery.Said {
	if len(useful) == 0 {
		return discovery.Said{}
	}
	said := discovery.Said{At: at, Infos: make(map[netip.AddrPort]*discovery.Info, len(useful))}
	for _, one := range useful {
		one.Info.AsListed = true
		said.Infos[list[one.Server].Addr] = &one.Info
	}
	return said
}
