// Package openers counts the rooms that addresses have opened on a public host, so that no address
// gets more than its share.
package openers

import (
	"bytes"
	"crypto/sha256"
	"net/netip"
	"slices"
	"sync"
	"time"

	"muster/host/access"
	"muster/host/store"
	"muster/host/wire"
	"muster/internal/clock"
)

// Openers count the rooms that addresses have opened since the host started. They stay in memory,
// because addresses are personal data. If there are several hosts, each counts for some of the
// networks (see [Counting]) and answers the others. Otherwise an address would have a share at
// every host:
//
//	POST /api/rooms ─▶ any host ── may this address? ──▶ the one that counts for it
//	                      └─ opens the room itself ── it has ──▶
//	…/settings ─▶ the room's host ── may it stay? it stays no more ──▶
//
// If hosts come or go, other hosts count, and counting starts again.
//
// An address counts together with the networks around it, from a household's to a provider's.
// Without that, one customer could use many addresses of a network up to the limit of each.
type Openers struct {
	levels [len(networks)]level
	find   func(code string) store.State
	clock  clock.Clock

	mu     sync.Mutex                // guards following
	opened map[netip.Prefix][]opened // by provider, see counter
	swept  time.Time
}

// networks are the lengths of the prefixes that count, in IPv4 and IPv6, the narrowest first. A
// network may have a multiple of an address's limit, but at most a share of all rooms, and never
// less than one address.
var networks = [...]struct{ four, six, times, share int }{
	{32, 64, 1, 1},
	{29, 56, 2, 16}, // a business line; a household's delegated prefix
	{24, 48, 8, 16}, // a site
	{16, 32, 32, 4}, // a provider
}

// level is the limit for networks of one size.
type level struct {
	four, six       int
	rooms, standing int
	pace            *access.Pace
}

func (l level) network(a netip.Addr) netip.Prefix {
	return access.Network(a, l.four, l.six)
}

// count returns how many of the rooms a network has opened, and how many of those stay.
func (l level) count(rooms []opened, from netip.Addr) (all, stay int) {
	network := l.network(from)
	for _, room := range rooms {
		if l.network(room.from) != network {
			continue
		}
		if all++; room.stays {
			stay++
		}
	}
	return all, stay
}

// opened is a room: its code, its opener's address, and its time. A room without a code is about to
// be opened.
type opened struct {
	from  netip.Addr
	code  string
	at    time.Time
	stays bool
}

const (
	// every is how often an address may open another room once it has opened as many as it may have
	// at once. An address that closes rooms and opens others costs as much as an address that keeps
	// its rooms.
	every = time.Minute
	// newsWait is how long another host may take to report a room that was opened there.
	newsWait = 2 * time.Second
)

// Limit is how many rooms of a kind a host has, and how many of them one address may open.
type Limit struct{ All, OfOne int }

// New returns counts for all rooms and for standing ones. find says where a room is.
func New(rooms, standing Limit, find func(code string) store.State, clock clock.Clock) *Openers {
	o := &Openers{find: find, clock: clock, opened: map[netip.Prefix][]opened{}}
	for i, n := range networks {
		most := func(l Limit) int { return max(l.OfOne, min(l.OfOne*n.times, l.All/n.share)) }
		o.levels[i] = level{n.four, n.six, most(rooms), most(standing), nil}
		o.levels[i].pace = access.NewPace(o.levels[i].rooms, every/time.Duration(n.times))
	}
	return o
}

// counter returns the network under which an address's rooms are counted. All addresses that share
// a limit have the same one.
func counter(from netip.Addr) netip.Prefix {
	widest := networks[len(networks)-1]
	return level{four: widest.four, six: widest.six}.network(from)
}

// isOver reports whether a room is over. This host may not know yet of a room that was just opened
// at another.
func (o *Openers) isOver(room opened) bool {
	if room.code == "" {
		return o.clock.Since(room.at) > newsWait
	}
	switch o.find(room.code) {
	case store.Over:
		return true
	case store.Unknown:
		return o.clock.Since(room.at) > newsWait
	}
	return false
}

// TooMany says why an address may open no room.
type TooMany struct {
	Wait    time.Duration `json:"wait,omitempty"` // until it may again; 0 if that is unknown
	Refusal wire.Refusal  `json:"refusal"`
}

// Judge says why an address may open no room now. If the address may, Judge returns nil, and keeps
// a place for the room for a moment, so that no more come in at the same time.
func (o *Openers) Judge(about Opening) *TooMany {
	from := about.From
	if about.Max > 0 {
		return o.judgeLeague(about)
	}
	for _, l := range o.levels { // an address that must wait takes nothing from its network
		if wait := l.pace.Wait(l.network(from).Addr(), o.clock.Now()); wait > 0 {
			return &TooMany{wait, *wire.Refuse(wire.ReasonBusy, "refused.many-opened").
				Advising("refused.many-opened-hint", "wait", max(time.Second, wait.Round(time.Second)))}
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sweep()
	left := o.left(from)
	for i, l := range o.levels {
		all, stay := l.count(left, from)
		switch {
		case about.Stays && stay >= l.standing:
			return tooManyStay(i, l)
		case all >= l.rooms && i == 0:
			return &TooMany{0, *wire.Refuse(wire.ReasonFull, "refused.network-rooms", "n", l.rooms).
				Advising("refused.network-rooms-hint")}
		case all >= l.rooms:
			return &TooMany{0, *wire.Refuse(wire.ReasonFull, "refused.networks-rooms", "n", l.rooms).
				Advising("refused.networks-rooms-hint")}
		}
	}
	o.opened[counter(from)] = append(left, opened{from, "", o.clock.Now(), about.Stays})
	return nil
}

// judgeLeague is [Openers.Judge] for a league, which has only the limit of its rooms.
func (o *Openers) judgeLeague(about Opening) *TooMany {
	o.mu.Lock()
	defer o.mu.Unlock()
	left, own := o.left(about.From), 0
	for _, room := range left {
		if room.from == about.From {
			own++
		}
	}
	if own >= about.Max {
		return &TooMany{0, *wire.Refuse(wire.ReasonFull, "refused.league-rooms", "n", about.Max).
			Advising("refused.league-rooms-hint")}
	}
	o.opened[counter(about.From)] = append(left, opened{about.From, "", o.clock.Now(), about.Stays})
	return nil
}

// Change notes that a room stays from now on, or no longer stays. It returns the reason if a room
// may not stay.
func (o *Openers) Change(about Opening) *TooMany {
	from := about.From
	o.mu.Lock()
	defer o.mu.Unlock()
	rooms := o.left(from)
	at := slices.IndexFunc(rooms, func(room opened) bool { return room.code == about.Code })
	if about.Stays && (at < 0 || !rooms[at].stays) {
		for i, l := range o.levels {
			if _, stay := l.count(rooms, from); stay >= l.standing {
				return tooManyStay(i, l)
			}
		}
	}
	switch {
	case at >= 0:
		rooms[at].stays = about.Stays
	case about.Stays: // opened before this host counted for the address
		o.opened[counter(from)] = append(rooms, opened{from, about.Code, o.clock.Now(), true})
	}
	return nil
}

// left returns the rooms of an address and of all addresses counted with it. The caller holds the
// mutex.
func (o *Openers) left(from netip.Addr) []opened {
	network := counter(from)
	left := slices.DeleteFunc(o.opened[network], o.isOver)
	if o.opened[network] = left; len(left) == 0 {
		delete(o.opened, network)
	}
	return left
}

func tooManyStay(at int, l level) *TooMany {
	if at == 0 {
		return &TooMany{0, *wire.Refuse(wire.ReasonFull, "refused.network-stays", "n", l.standing).
			Advising("refused.network-stays-hint")}
	}
	return &TooMany{0, *wire.Refuse(wire.ReasonFull, "refused.networks-stays", "n", l.standing).
		Advising("refused.networks-stays-hint")}
}

// Note notes that an address has opened a room.
func (o *Openers) Note(about Opening) {
	from := about.From
	o.mu.Lock()
	defer o.mu.Unlock()
	rooms := o.opened[counter(from)]
	isKept := func(room opened) bool { return room.from == from && room.code == "" && room.stays == about.Stays }
	if kept := slices.IndexFunc(rooms, isKept); kept >= 0 {
		rooms = slices.Delete(rooms, kept, kept+1)
	}
	o.opened[counter(from)] = append(rooms, opened{from, about.Code, o.clock.Now(), about.Stays})
}

// sweepEvery is how often openers forgets addresses whose rooms are over or were never opened. At a
// full host every address that tries once is such an address.
const sweepEvery = 10 * time.Minute

// sweep forgets addresses without rooms. The caller holds the mutex.
func (o *Openers) sweep() {
	now := o.clock.Now()
	if now.Sub(o.swept) < sweepEvery {
		return
	}
	o.swept = now
	for network := range o.opened {
		o.left(network.Addr())
	}
}

// Opening is a message between hosts about an address: it wants to open a room, or has opened the
// room with a code.
type Opening struct {
	From netip.Addr `json:"from"`
	Code string     `json:"code,omitempty"`
	// Stays says that the room is a standing one.
	Stays bool `json:"stays,omitempty"`
	// Max is how many rooms a league may have, whose address [public.League.Addr] is. It is 0 for
	// people.
	Max int `json:"most,omitempty"`
	// Changes says that the room is already open, and from now on stays or no longer stays.
	Changes bool `json:"changes,omitempty"`
}

// Hear takes another host's message, and returns the answer for that host's caller.
func (o *Openers) Hear(about Opening) *TooMany {
	switch {
	case about.Changes:
		return o.Change(about)
	case about.Code != "":
		o.Note(about)
		return nil
	}
	return o.Judge(about)
}

// Counting returns the host that counts for an address (rendezvous hashing); it is empty if there
// are no hosts.
func Counting(from netip.Addr, hosts []string) (host string) {
	var most []byte
	for _, name := range hosts {
		if sum := sha256.Sum256([]byte(counter(from).String() + "\x00" + name)); bytes.Compare(sum[:], most) > 0 {
			most, host = sum[:], name
		}
	}
	return host
}
