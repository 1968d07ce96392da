package faults

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Promise is a promise that a finding says was broken.
type Promise string

// These are the promises.
const (
	// OneTarget means that all players of a round are sent to one server, whichever host sends them
	// and however often.
	OneTarget Promise = "one target"
	// LaunchStands means that a player who has heard of a round's launch never hears that the round
	// has not begun, or hears of an earlier one.
	LaunchStands Promise = "a launch stands"
	// PlaceStands means that a player who was welcomed once keeps the place for good.
	PlaceStands Promise = "a place stands"
	// RoomStands means that an acknowledged room exists.
	RoomStands Promise = "a room stands"
	// OrderStands means that an acknowledged order of the organiser is not forgotten.
	OrderStands Promise = "an order stands"
	// EpochsGrow means that nobody hears from an owner that was replaced before.
	EpochsGrow Promise = "epochs grow"
	// AllLaunched means that everyone gets into the game when the faults are over.
	AllLaunched Promise = "all launched"
)

// Finding is a promise that a history breaks.
type Finding struct {
	Promise Promise
	Event   Event // that shows it
	Text    string
}

func (f Finding) String() string {
	return fmt.Sprintf("%s: room %s, %s at %.3f s: %s", f.Promise, f.Event.Room, cmp.Or(f.Event.Who, "everyone"), f.Event.At.Seconds(), f.Text)
}

// passing are the reasons of refusals that promise nothing and pass by themselves.
var passing = []string{"limited", "busy", "moved"}

// replaced is the reason when a player's newer connection replaces this one.
const replaced = "replaced"

// launching is the stage of a room that has launched.
const launching = "launching"

// member is what one player or page was told so far.
type member struct {
	page     bool
	name     string // since the first welcome
	epoch    uint64 // the highest heard
	line     int    // the newest
	dialled  map[int]time.Duration
	launched int // the last round whose launch it has heard of
	sent     int // the last round that sent it away itself
	last     *Event
}

// room is what is known of a room while its history is read.
type room struct {
	members map[string]*member
	targets map[int]string
	// open are the limits that were ordered and not acknowledged. Such an order may take effect at
	// any time.
	open map[int]bool
	// kept are the acknowledged orders, as they came. forgotten are those that a later state
	// lacked.
	kept      []Event
	forgotten map[int]bool
	newest    int // round
}

// Check reads a history, in the order of time, and returns the broken promises.
func Check(history []Event) (found []Finding) {
	rooms := map[string]*room{}
	calm := false
	for _, e := range history {
		if e.Kind == Calm {
			calm = true
		}
		if e.Room == "" {
			continue
		}
		r := rooms[e.Room]
		if r == nil {
			r = &room{members: map[string]*member{}, targets: map[int]string{}, forgotten: map[int]bool{}, open: map[int]bool{}}
			rooms[e.Room] = r
		}
		found = append(found, r.read(e)...)
	}
	if calm {
		for _, code := range slices.Sorted(maps.Keys(rooms)) {
			found = append(found, rooms[code].end(code)...)
		}
	}
	return found
}

// read takes an event, and returns the promises that it breaks.
func (r *room) read(e Event) (found []Finding) {
	breaks := func(p Promise, format string, args ...any) {
		found = append(found, Finding{p, e, fmt.Sprintf(format, args...)})
	}
	m := r.members[e.Who]
	if m == nil && (e.Kind == Dialled || e.Kind == Welcomed) {
		m = &member{page: e.Page, dialled: map[int]time.Duration{}}
		r.members[e.Who] = m
	}
	target := func(address string) {
		if r.targets[e.Round] == "" {
			r.targets[e.Round] = address
		}
		if was := r.targets[e.Round]; was != address {
			breaks(OneTarget, "round %d goes to %s, and others were sent to %s", e.Round, address, was)
		}
	}
	epoch := func() {
		if e.Epoch < m.epoch {
			breaks(EpochsGrow, "%s of epoch %d after one of epoch %d", e.Kind, e.Epoch, m.epoch)
		}
		m.epoch = max(m.epoch, e.Epoch)
	}
	r.newest = max(r.newest, e.Round)
	switch e.Kind {
	case Dialled:
		m.line, m.dialled[e.Line] = e.Line, e.At
	case Welcomed:
		epoch()
		if m.name != "" && m.name != e.Text {
			breaks(PlaceStands, "was %q, and is %q", m.name, e.Text)
		}
		m.name = e.Text
	case Refused:
		switch {
		case slices.Contains(passing, e.Text):
		case e.Text == replaced && e.Line < m.line:
		case m.name == "":
			breaks(RoomStands, "refused for %q before any welcome", e.Text)
		default:
			breaks(PlaceStands, "refused for %q after a welcome", e.Text)
		}
	case Launched:
		epoch()
		target(e.Text)
		m.launched, m.sent = max(m.launched, e.Round), max(m.sent, e.Round)
	case Ordered:
		r.open[e.Value] = true
	case Kept:
		delete(r.open, e.Value)
		r.kept = append(r.kept, e)
	case Rejected:
		if strings.Contains(e.Text, ": 404 ") {
			breaks(RoomStands, "an order is answered %q", e.Text)
		}
	case Saw:
		r.saw(e, m, breaks)
		if e.Stage == launching {
			if e.Text != "" {
				target(e.Text)
			}
			m.launched = max(m.launched, e.Round)
		}
		m.last = &e
	}
	return found
}

// saw compares a state of the room with the earlier promises.
func (r *room) saw(e Event, m *member, breaks func(Promise, string, ...any)) {
	if e.Round < m.launched || e.Round == m.launched && m.launched > 0 && e.Stage != launching {
		breaks(LaunchStands, "round %d is %s after the launch of round %d", e.Round, e.Stage, m.launched)
	}
	if !m.page && m.name != "" && !slices.Contains(e.People, m.name) {
		breaks(PlaceStands, "is not among the people: %q", e.People)
	}
	for i, order := range r.kept {
		if order.At < m.dialled[e.Line] && !r.forgotten[i] { // else the state may have been on its way
			r.obeys(e, i, breaks)
		}
	}
}

// obeys compares a state with an order that was acknowledged before it. A forgotten order is a
// finding once.
func (r *room) obeys(e Event, i int, breaks func(Promise, string, ...any)) {
	order := r.kept[i]
	if order.Text == SetLimit && e.Value < order.Value && !r.open[e.Value] {
		r.forgotten[i] = true
		breaks(OrderStands, "the limit is %d, though %d was acknowledged at %.3f s", e.Value, order.Value, order.At.Seconds())
	}
	if order.Text == Go && e.Round <= order.Round {
		r.forgotten[i] = true
		breaks(OrderStands, "it is round %d, though one after %d was acknowledged at %.3f s", e.Round, order.Round, order.At.Seconds())
	}
}

// end checks a room after the faults.
func (r *room) end(code string) (found []Finding) {
	var names []string
	for _, who := range slices.Sorted(maps.Keys(r.members)) {
		m := r.members[who]
		if !m.page && m.name != "" {
			names = append(names, m.name)
		}
	}
	for _, who := range slices.Sorted(maps.Keys(r.members)) {
		m := r.members[who]
		e := Event{Room: code, Who: who}
		if m.last != nil {
			e.At = m.last.At
		}
		breaks := func(p Promise, format string, args ...any) {
			found = append(found, Finding{p, e, "at the end: " + fmt.Sprintf(format, args...)})
		}
		if !m.page && m.sent < r.newest {
			breaks(AllLaunched, "last sent to a server in round %d of %d", m.sent, r.newest)
		}
		if m.last == nil {
			breaks(AllLaunched, "saw nothing of the room")
			continue
		}
		for _, name := range names {
			if !slices.Contains(m.last.People, name) {
				breaks(PlaceStands, "%s is not among the people", name)
			}
		}
		for i := range r.kept {
			if !r.forgotten[i] {
				r.obeys(*m.last, i, breaks)
			}
		}
	}
	return found
}

// Takeover is a room's change to another owner.
type Takeover struct {
	Room  string
	Epoch uint64
	// Fault is the last one before it.
	Fault string
	// Took is the time from that fault to the first welcome by the new owner.
	Took time.Duration
}

// Takeovers returns the changes of rooms' owners in a history. If more faults struck meanwhile, the
// last one counts.
func Takeovers(history []Event) (all []Takeover) {
	var last Event
	newest := map[string]uint64{}
	for _, e := range history {
		switch {
		case e.Kind == Struck:
			last = e
		case e.Kind == Welcomed:
			if before := newest[e.Room]; before > 0 && e.Epoch > before && last.Kind == Struck {
				all = append(all, Takeover{e.Room, e.Epoch, last.Text, e.At - last.At})
			}
			newest[e.Room] = max(newest[e.Room], e.Epoch)
		}
	}
	return all
}
