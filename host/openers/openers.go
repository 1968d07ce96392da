// Package openers counts the rooms that addresses have opened on a public host, so that
// nobody has more of them than one may.
package openers

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"muster/host/access"
	"muster/host/store"
	"muster/host/wire"
)

// Openers count the rooms that addresses have opened since the host started. They are kept in
// memory alone: an address is nothing to keep. Of several hosts each counts for some of the
// networks (see [Counting]) and answers the others, so that nobody has one share a host:
//
//	POST /api/rooms ─▶ any host ── may this address? ──▶ the one that counts for it
//	                      └─ opens the room itself ── it has ──▶
//	…/settings ─▶ the room's host ── may it stay? it stays no more ──▶
//
// When the hosts change, the counting hosts change, too, and counting begins anew.
//
// An address counts with the networks around it, from a household's to a provider's: one
// customer may have as many addresses of a network as a limit for each lets pass.
type Openers struct {
	levels [len(networks)]level
	find   func(code string) store.State

	mu     sync.Mutex                // guards following
	opened map[netip.Prefix][]opened // by provider, see counter
	swept  time.Time
}

// networks are the lengths of the prefixes that count, in IPv4 and IPv6, the narrowest first.
// Each may have so many times what an address may, but no more than a share of all rooms,
// and never less than an address.
var networks = [...]struct{ four, six, times, share int }{
	{32, 64, 1, 1},
	{29, 56, 2, 16}, // a business line; a household's delegated prefix
	{24, 48, 8, 16}, // a site
	{16, 32, 32, 4}, // a provider
}

// level is what a network of one size may.
type level struct {
	four, six       int
	rooms, standing int
	pace            *access.Pace
}

// network returns the network of an address.
func (l level) network(a netip.Addr) netip.Prefix {
	return access.Network(a, l.four, l.six)
}

// count returns how many of some rooms a network opened, and how many of those stay.
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

// opened is a room: its code, where it was opened from, and when. A room without a code is
// about to be opened.
type opened struct {
	from  netip.Addr
	code  string
	at    time.Time
	stays bool
}

const (
	// every is how often an address may open a room, after as many as it may have at once: an
	// address that closes rooms to open others costs as much as one that keeps them.
	every = time.Minute
	// newsWait is how long the word of a room that was opened at another host may take.
	newsWait = 2 * time.Second
)

// Limit is how many rooms a host has of a kind, and how many of those one address may open.
type Limit struct{ All, OfOne int }

// New counts rooms, and among them those that stay. Find tells where a room is.
func New(rooms, standing Limit, find func(code string) store.State) *Openers {
	o := &Openers{find: find, opened: map[netip.Prefix][]opened{}}
	for i, n := range networks {
		most := func(l Limit) int { return max(l.OfOne, min(l.OfOne*n.times, l.All/n.share)) }
		o.levels[i] = level{n.four, n.six, most(rooms), most(standing), nil}
		o.levels[i].pace = access.NewPace(o.levels[i].rooms, every/time.Duration(n.times))
	}
	return o
}

// counter returns the network under which the rooms of an address are counted. It is the
// same for all addresses that may have a limit together.
func counter(from netip.Addr) netip.Prefix {
	widest := networks[len(networks)-1]
	return level{four: widest.four, six: widest.six}.network(from)
}

// isOver reports whether a room is over. This host may not have heard yet of a room that was
// just opened at another.
func (o *Openers) isOver(room opened) bool {
	if room.code == "" {
		return time.Since(room.at) > newsWait
	}
	switch o.find(room.code) {
	case store.Over:
		return true
	case store.Unknown:
		return time.Since(room.at) > newsWait
	}
	return false
}

// TooMany says why an address may open no room.
type TooMany struct {
	Wait    time.Duration `json:"wait,omitempty"` // until it may again; 0 if that depends
	Refusal wire.Refusal  `json:"refusal"`
}

// Judge says why an address may open no room now, or keeps a place for the room for a moment,
// so that no more come in at the same time, and returns nil.
func (o *Openers) Judge(about Opening) *TooMany {
	from := about.From
	for _, l := range o.levels { // an address that must wait takes nothing from the network around
		if wait := l.pace.Wait(l.network(from).Addr(), time.Now()); wait > 0 {
			return &TooMany{wait, wire.Refusal{
				Reason:  wire.ReasonBusy,
				Message: "many rooms were opened from your network just now",
				Hint: fmt.Sprintf("open the next one in %v; a room that is open takes one group after the other",
					max(time.Second, wait.Round(time.Second))),
			}}
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
			return &TooMany{0, wire.Refusal{
				Reason:  wire.ReasonFull,
				Message: fmt.Sprintf("your network has %d rooms open here, which is as many as one may", l.rooms),
				Hint:    "use one of those; rooms that nobody is in end by themselves",
			}}
		case all >= l.rooms:
			return &TooMany{0, wire.Refusal{
				Reason:  wire.ReasonFull,
				Message: fmt.Sprintf("the networks around yours have %d rooms open here, which is as many as they may together", l.rooms),
				Hint:    "try again later, or open the room on your own computer: muster host",
			}}
		}
	}
	o.opened[counter(from)] = append(left, opened{from, "", time.Now(), about.Stays})
	return nil
}

// Change notes that a room stays from now on, or no longer. It says why a room may not stay.
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
	case about.Stays: // opened before this host began to count
		o.opened[counter(from)] = append(rooms, opened{from, about.Code, time.Now(), true})
	}
	return nil
}

// left returns the rooms of an address and of all that are counted with it. The mutex is held.
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
		return &TooMany{0, wire.Refusal{
			Reason:  wire.ReasonFull,
			Message: fmt.Sprintf("your network has %d rooms here that stay, which is as many as one may", l.standing),
			Hint:    "use one of those, or have one of them end with the night",
		}}
	}
	return &TooMany{0, wire.Refusal{
		Reason:  wire.ReasonFull,
		Message: fmt.Sprintf("the networks around yours have %d rooms here that stay, which is as many as they may together", l.standing),
		Hint:    "open one that ends with the night, or a room on your own computer: muster host --here",
	}}
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
	o.opened[counter(from)] = append(rooms, opened{from, about.Code, time.Now(), about.Stays})
}

// sweepEvery is how often addresses are forgotten whose rooms are over, or were never opened:
// at a full host each address that tries once is one.
const sweepEvery = 10 * time.Minute

// sweep forgets addresses without rooms. The mutex is held.
func (o *Openers) sweep() {
	now := time.Now()
	if now.Sub(o.swept) < sweepEvery {
		return
	}
	o.swept = now
	for network := range o.opened {
		o.left(network.Addr())
	}
}

// Opening is what one host asks or tells another about an address: it would like to open a
// room, or has opened the room of a code.
type Opening struct {
	From netip.Addr `json:"from"`
	Code string     `json:"code,omitempty"`
	// Stays: the room is a standing one.
	Stays bool `json:"stays,omitempty"`
	// Changes: the room is open, and would stay from now on, or no longer stays.
	Changes bool `json:"changes,omitempty"`
}

// Hear takes the word of another host, and returns what that may have to tell its caller.
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

// Counting returns which of some hosts counts for an address (rendezvous hashing), empty
// without any.
func Counting(from netip.Addr, hosts []string) (host string) {
	var most []byte
	for _, name := range hosts {
		if sum := sha256.Sum256([]byte(counter(from).String() + "\x00" + name)); bytes.Compare(sum[:], most) > 0 {
			most, host = sum[:], name
		}
	}
	return host
}
