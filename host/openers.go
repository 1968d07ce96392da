package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"muster/host/access"
	"muster/host/store"
	"muster/host/wire"
)

// openers counts the rooms that addresses have opened, since the host started. It is kept
// in memory alone: an address is nothing to keep. Of several hosts each counts for some of
// the networks, and is asked by the others (rendezvous hashing), so that nobody has as
// many rooms as there are hosts for each that one may have:
//
//	POST /api/rooms ─▶ any host ── may this address? ──▶ the one that counts for it
//	                      └─ opens the room itself ── it has ──▶
//	…/settings ─▶ the room's host ── may it stay? it stays no more ──▶
//
// When the hosts are others than before, so are those that count: it begins anew.
//
// An address counts with the networks that it is in, from a household's to a provider's:
// one customer may have as many addresses of a network as a limit for each lets pass.
type openers struct {
	levels [len(openerNetworks)]openerLevel
	store  store.Store

	mu     sync.Mutex                  // guards following
	opened map[netip.Prefix][]openedAs // by provider, see counter
	swept  time.Time
}

// openerNetworks are the lengths of the prefixes that count, in IPv4 and IPv6, the
// narrowest first. Each may have so many times what an address may, but no more than a
// share of all rooms, and never less than an address.
var openerNetworks = [...]struct{ four, six, times, share int }{
	{32, 64, 1, 1},
	{29, 56, 2, 16}, // a business line; a household's delegated prefix
	{24, 48, 8, 16}, // a site
	{16, 32, 32, 4}, // a provider
}

// openerLevel is what a network of one size may.
type openerLevel struct {
	four, six       int
	rooms, standing int
	pace            *access.Pace
}

// network is the one that an address is in.
func (l openerLevel) network(a netip.Addr) netip.Prefix {
	return access.Network(a, l.four, l.six)
}

// count is how many of some rooms a network opened, and how many of those stay.
func (l openerLevel) count(rooms []openedAs, from netip.Addr) (all, stay int) {
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

// openedAs is a room by its code, where it was opened from, and when. One without a code is
// about to be.
type openedAs struct {
	from  netip.Addr
	code  string
	at    time.Time
	stays bool
}

func newOpeners(p *Public, s store.Store) *openers {
	o := &openers{store: s, opened: map[netip.Prefix][]openedAs{}}
	for i, n := range openerNetworks {
		most := func(one, all int) int { return max(one, min(one*n.times, all/n.share)) }
		o.levels[i] = openerLevel{n.four, n.six, most(p.PerAddress, p.Rooms), most(p.Standing.PerAddress, p.Standing.Rooms), nil}
		o.levels[i].pace = access.NewPace(o.levels[i].rooms, openEvery/time.Duration(n.times))
	}
	return o
}

// counter is the network under which the rooms of an address are counted: all that may
// have a limit together have the same.
func counter(from netip.Addr) netip.Prefix {
	widest := openerNetworks[len(openerNetworks)-1]
	return openerLevel{four: widest.four, six: widest.six}.network(from)
}

// isOver reports whether a room is none any more. Of one that was just opened at another
// host nothing may be known yet.
func (o *openers) isOver(room openedAs) bool {
	if room.code == "" {
		return time.Since(room.at) > newsWait
	}
	switch o.store.Find(room.code).State {
	case store.Over:
		return true
	case store.Unknown:
		return time.Since(room.at) > newsWait
	}
	return false
}

// tooMany is why an address may open no room.
type tooMany struct {
	Wait    time.Duration `json:"wait,omitempty"` // in which it may again; 0 if that depends
	Refusal wire.Refusal  `json:"refusal"`
}

// judge is why an address may open no room now, nil if it may: then its place is kept for a
// moment, so that no more come in at the same time.
func (o *openers) judge(about opening) *tooMany {
	from := about.From
	for _, l := range o.levels { // whoever has to wait takes nothing from the network around
		if wait := l.pace.Wait(l.network(from).Addr(), time.Now()); wait > 0 {
			return &tooMany{wait, wire.Refusal{Reason: wire.ReasonBusy, Message: "many rooms were opened from your network just now", Hint: fmt.Sprintf("open the next one in %v; a room that is open takes one group after the other", max(time.Second, wait.Round(time.Second)))}}
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
			return &tooMany{0, wire.Refusal{Reason: wire.ReasonFull, Message: fmt.Sprintf("your network has %d rooms open here, which is as many as one may", l.rooms), Hint: "use one of those; rooms that nobody is in end by themselves"}}
		case all >= l.rooms:
			return &tooMany{0, wire.Refusal{Reason: wire.ReasonFull, Message: fmt.Sprintf("the networks around yours have %d rooms open here, which is as many as they may together", l.rooms), Hint: "try again later, or open the room on your own computer: muster host"}}
		}
	}
	o.opened[counter(from)] = append(left, openedAs{from, "", time.Now(), about.Stays})
	return nil
}

// change notes that a room stays from now on, or no longer; of one that would, it says why
// it may not.
func (o *openers) change(about opening) *tooMany {
	from := about.From
	o.mu.Lock()
	defer o.mu.Unlock()
	rooms := o.left(from)
	at := slices.IndexFunc(rooms, func(room openedAs) bool { return room.code == about.Code })
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
		o.opened[counter(from)] = append(rooms, openedAs{from, about.Code, time.Now(), true})
	}
	return nil
}

// left are the rooms that an address has, with all that are counted with it. It is for who
// holds mu.
func (o *openers) left(from netip.Addr) []openedAs {
	network := counter(from)
	left := slices.DeleteFunc(o.opened[network], o.isOver)
	if o.opened[network] = left; len(left) == 0 {
		delete(o.opened, network)
	}
	return left
}

func tooManyStay(level int, l openerLevel) *tooMany {
	if level == 0 {
		return &tooMany{0, wire.Refusal{Reason: wire.ReasonFull, Message: fmt.Sprintf("your network has %d rooms here that stay, which is as many as one may", l.standing), Hint: "use one of those, or have one of them end with the night"}}
	}
	return &tooMany{0, wire.Refusal{Reason: wire.ReasonFull, Message: fmt.Sprintf("the networks around yours have %d rooms here that stay, which is as many as they may together", l.standing), Hint: "open one that ends with the night, or a room on your own computer: muster host --here"}}
}

func (o *openers) note(about opening) {
	from := about.From
	o.mu.Lock()
	defer o.mu.Unlock()
	rooms := o.opened[counter(from)]
	if kept := slices.IndexFunc(rooms, func(room openedAs) bool { return room.from == from && room.code == "" && room.stays == about.Stays }); kept >= 0 {
		rooms = slices.Delete(rooms, kept, kept+1)
	}
	o.opened[counter(from)] = append(rooms, openedAs{from, about.Code, time.Now(), about.Stays})
}

// sweepOpeners is how often those are forgotten whose rooms are over, or never were opened:
// at a host that is full each address that tries once is one.
const sweepOpeners = 10 * time.Minute

// sweep is for who holds mu.
func (o *openers) sweep() {
	now := time.Now()
	if now.Sub(o.swept) < sweepOpeners {
		return
	}
	o.swept = now
	for network := range o.opened {
		o.left(network.Addr())
	}
}

// opening is what one host asks, or tells, another of an address: that it would like to
// open a room, or has opened the one of a code.
type opening struct {
	From netip.Addr `json:"from"`
	Code string     `json:"code,omitempty"`
	// Stays: the room is a standing one.
	Stays bool `json:"stays,omitempty"`
	// Changes: the room is there, and would stay from now on, or stays no longer.
	Changes bool `json:"changes,omitempty"`
}

// openingsPath is where hosts ask each other, and nobody else.
const openingsPath = "/openings"

// countsFor is the host that counts for an address, empty if that is this one alone.
func (h *Host) countsFor(from netip.Addr) (host string) {
	var most []byte
	for _, name := range h.hosts() {
		if sum := sha256.Sum256([]byte(counter(from).String() + "\x00" + name)); bytes.Compare(sum[:], most) > 0 {
			most, host = sum[:], name
		}
	}
	return host
}

// hosts are the names of all hosts of the service, none if this one is alone.
func (h *Host) hosts() []string {
	if p := h.config.Public; h.config.Relay == nil || p == nil || p.Hosts == nil {
		return nil
	}
	return h.config.Public.Hosts()
}

// mayOpen is why an address may open no room now, nil if it may.
func (h *Host) mayOpen(ctx context.Context, about opening) *tooMany {
	why, answered := h.askCounter(ctx, about)
	if !answered { // by whoever counts: better another host's count than none
		why = h.openers.judge(about)
	}
	return why
}

// hasOpened notes that an address has opened a room.
func (h *Host) hasOpened(ctx context.Context, about opening) {
	if _, answered := h.askCounter(ctx, about); !answered {
		h.openers.note(about)
	}
}

// mayKeep is why a room of an address may not stay, nil if it may, or no longer does.
func (h *Host) mayKeep(ctx context.Context, about opening) *tooMany {
	why, answered := h.askCounter(ctx, about)
	if !answered {
		why = h.openers.change(about)
	}
	return why
}

// askCounter asks the host that counts for an address, if there is one that answers.
func (h *Host) askCounter(ctx context.Context, about opening) (why *tooMany, answered bool) {
	counts := h.countsFor(about.From)
	if counts == "" {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, ownerDial)
	defer cancel()
	body, err := json.Marshal(about)
	if err != nil {
		return nil, false
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+counts+openingsPath, bytes.NewReader(body))
	if err != nil {
		return nil, false
	}
	answer, err := h.transport.RoundTrip(request)
	if err != nil {
		return nil, false
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, false
	}
	err = json.NewDecoder(http.MaxBytesReader(nil, answer.Body, maxOrder)).Decode(&why)
	return why, err == nil
}

// serveCounting answers another host, with what mayOpen returns there.
func (h *Host) serveCounting(w http.ResponseWriter, r *http.Request) {
	var about opening
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder)).Decode(&about); err != nil || h.openers == nil {
		http.Error(w, "that is no opening", http.StatusBadRequest)
		return
	}
	switch {
	case about.Changes:
		answer(w, http.StatusOK, h.openers.change(about))
	case about.Code != "":
		h.openers.note(about)
		answer(w, http.StatusOK, nil)
	default:
		answer(w, http.StatusOK, h.openers.judge(about))
	}
}
