package faults

import (
	"slices"
	"testing"
	"time"
)

// at returns the time of the nth event of a literal history.
func at(n int) time.Duration { return time.Duration(n+1) * time.Second }

// TestCheck checks a history that breaks each promise, and one that nearly does.
func TestCheck(t *testing.T) {
	const x, y = "192.0.2.1:27960", "192.0.2.2:27960"
	both := []string{"ann", "bob"}
	dial := func(who string, line int) Event { return Event{Kind: Dialled, Room: "R", Who: who, Line: line} }
	welcome := func(who string, line int, epoch uint64) Event {
		return Event{Kind: Welcomed, Room: "R", Who: who, Line: line, Epoch: epoch, Text: who}
	}
	launch := func(who string, line int, epoch uint64, round int, to string) Event {
		return Event{Kind: Launched, Room: "R", Who: who, Line: line, Epoch: epoch, Round: round, Text: to}
	}
	saw := func(who string, line, round int, stage string, limit int, people ...string) Event {
		return Event{Kind: Saw, Room: "R", Who: who, Line: line, Round: round, Stage: stage, Value: limit, People: people}
	}
	kept := func(order string, round, value int) Event {
		return Event{Kind: Kept, Room: "R", Who: "organiser", Text: order, Round: round, Value: value}
	}
	refused := func(who string, line int, reason string) Event {
		return Event{Kind: Refused, Room: "R", Who: who, Line: line, Text: reason}
	}
	page := Event{Kind: Dialled, Room: "R", Who: "page", Page: true, Line: 1}
	calm := Event{Kind: Calm}
	in := []Event{dial("ann", 1), welcome("ann", 1, 1), dial("bob", 1), welcome("bob", 1, 1)}
	play := append(slices.Clone(in), launch("ann", 1, 1, 1, x), launch("bob", 1, 1, 1, x))
	for _, c := range []struct {
		name   string
		before []Event
		then   []Event
		broken []Promise
	}{
		{"a good session", play, []Event{saw("ann", 1, 1, launching, 0, both...), saw("bob", 1, 1, launching, 0, both...), calm}, nil},
		{"said again by a new owner", play, []Event{welcome("ann", 1, 2), launch("ann", 1, 2, 1, x)}, nil},
		{"another server, of another round", play, []Event{launch("ann", 1, 1, 2, y)}, nil},
		{"two owners, two servers", in, []Event{launch("ann", 1, 1, 1, x), launch("bob", 1, 2, 1, y)}, []Promise{OneTarget}},
		{"another server later, to the same player", play, []Event{launch("ann", 1, 2, 1, y)}, []Promise{OneTarget}},
		{"a page is shown another server", play, []Event{page, {
			Kind:  Saw,
			Room:  "R",
			Who:   "page",
			Line:  1,
			Round: 1,
			Stage: launching,
			Text:  y,
		}}, []Promise{OneTarget}},

		{"measured again after the launch", play, []Event{saw("ann", 1, 1, "measuring", 0, both...)}, []Promise{LaunchStands}},
		{"a round before that of the launch", append(slices.Clone(in), launch("ann", 1, 1, 2, x)),
			[]Event{saw("ann", 1, 1, launching, 0, both...)}, []Promise{LaunchStands}},
		{"the next round", play, []Event{saw("ann", 1, 2, "listing", 0, both...)}, nil},
		{"who heard of no launch yet", append(slices.Clone(in), launch("bob", 1, 1, 1, x)), []Event{saw("ann", 1, 1, "chosen", 0, both...)}, nil},
		{"a page saw a launch undone", []Event{page, saw("page", 1, 1, launching, 0), saw("page", 1, 1, "chosen", 0)},
			nil, []Promise{LaunchStands}},

		{"comes back", in, []Event{dial("ann", 2), welcome("ann", 2, 2)}, nil},
		{"comes back under another name", in, []Event{dial("ann", 2), {
			Kind:  Welcomed,
			Room:  "R",
			Who:   "ann",
			Line:  2,
			Epoch: 2,
			Text:  "ann 2",
		}}, []Promise{PlaceStands}},
		{"is not known any more", in, []Event{dial("ann", 2), refused("ann", 2, "name-taken")}, []Promise{PlaceStands}},
		{"is turned away for now", in, []Event{dial("ann", 2), refused("ann", 2, "limited")}, nil},
		{"is sent to another host", in, []Event{refused("ann", 1, "moved"), dial("ann", 2), welcome("ann", 2, 2)}, nil},
		{"the old connection is replaced", in, []Event{dial("ann", 2), refused("ann", 1, replaced)}, nil},
		{"the newest connection is replaced", in, []Event{dial("ann", 2), refused("ann", 2, replaced)}, []Promise{PlaceStands}},
		{"a state without the player", in, []Event{saw("ann", 1, 1, "measuring", 0, "bob")}, []Promise{PlaceStands}},
		{"the other one is missing at the end", play,
			[]Event{saw("ann", 1, 1, launching, 0, "ann"), saw("bob", 1, 1, launching, 0, both...), calm}, []Promise{PlaceStands}},
		{"no such room", nil, []Event{{Kind: Opened, Room: "R"}, dial("ann", 1), refused("ann", 1, "code")}, []Promise{RoomStands}},
		{"an order to no such room", in, []Event{{Kind: Rejected, Room: "R", Who: "organiser", Text: "go: 404 {}"}}, []Promise{RoomStands}},
		{"an order that cannot be", in, []Event{{Kind: Rejected, Room: "R", Who: "organiser", Text: "go: 409 {}"}}, nil},

		{"an order is forgotten", in,
			[]Event{kept(SetLimit, 0, 7), dial("ann", 2), welcome("ann", 2, 2), saw("ann", 2, 0, "gathering", 6, both...)}, []Promise{OrderStands}},
		{"an order that was not answered has its way later", in,
			[]Event{{Kind: Ordered, Room: "R", Who: "organiser", Text: SetLimit, Value: 6}, kept(SetLimit, 0, 7),
				dial("ann", 2), welcome("ann", 2, 2), saw("ann", 2, 0, "gathering", 6, both...)}, nil},
		{"an order that was answered comes back", in,
			[]Event{{Kind: Ordered, Room: "R", Who: "organiser", Text: SetLimit, Value: 6}, kept(SetLimit, 0, 6),
				kept(SetLimit, 0, 7), dial("ann", 2), welcome("ann", 2, 2), saw("ann", 2, 0, "gathering", 6, both...)}, []Promise{OrderStands}},
		{"an order is obeyed", in, []Event{kept(SetLimit, 0, 7), dial("ann", 2), welcome("ann", 2, 2),
			saw("ann", 2, 0, "gathering", 8, both...)}, nil},
		{"a state that was on its way", in, []Event{kept(SetLimit, 0, 7), saw("ann", 1, 0, "gathering", 6, both...)}, nil},
		{"an order is forgotten at the end", play,
			[]Event{saw("ann", 1, 1, launching, 7, both...), kept(SetLimit, 0, 8),
				saw("bob", 1, 1, launching, 8, both...), calm}, []Promise{OrderStands}},
		{"the next round is forgotten", in,
			[]Event{kept(Go, 1, 0), dial("bob", 2), saw("bob", 2, 1, launching, 0, both...)}, []Promise{OrderStands}},
		{"the next round is there", in, []Event{kept(Go, 1, 0), dial("bob", 2), saw("bob", 2, 2, "measuring", 0, both...)}, nil},

		{"the old owner speaks", in, []Event{welcome("ann", 1, 3), dial("ann", 2), welcome("ann", 2, 2)}, []Promise{EpochsGrow}},
		{"the old owner launches", in, []Event{welcome("ann", 1, 3), launch("ann", 1, 2, 1, x)}, []Promise{EpochsGrow}},
		{"others know a newer owner", in, []Event{welcome("ann", 1, 3), welcome("bob", 1, 2)}, nil},

		{"one is not launched", append(slices.Clone(in), launch("ann", 1, 1, 1, x)),
			[]Event{saw("ann", 1, 1, launching, 0, both...), saw("bob", 1, 1, "chosen", 0, both...), calm}, []Promise{AllLaunched}},
		{"nor in the last round", play,
			[]Event{launch("bob", 1, 1, 2, y), saw("ann", 1, 2, launching, 0, both...),
				saw("bob", 1, 2, launching, 0, both...), calm}, []Promise{AllLaunched}},
		{"nobody asks before the faults are over", in, nil, nil},
	} {
		history := append(slices.Clone(c.before), c.then...)
		for i := range history {
			history[i].At = at(i)
		}
		var broken []Promise
		for _, f := range Check(history) {
			broken = append(broken, f.Promise)
		}
		if !slices.Equal(broken, c.broken) {
			t.Errorf("%s: found %v, want %v", c.name, Check(history), c.broken)
		}
	}
}

// TestTakeovers checks that a room counts as taken over when its epoch grows after a fault.
func TestTakeovers(t *testing.T) {
	history := []Event{
		{At: 1e9, Kind: Welcomed, Room: "R", Who: "ann", Epoch: 1},
		{At: 2e9, Kind: Welcomed, Room: "S", Who: "cat", Epoch: 1},
		{At: 3e9, Kind: Struck, Who: "host1", Text: "kill"},
		{At: 5e9, Kind: Welcomed, Room: "R", Who: "bob", Epoch: 2},
		{At: 6e9, Kind: Welcomed, Room: "R", Who: "ann", Epoch: 2},
		{At: 7e9, Kind: Welcomed, Room: "S", Who: "cat", Epoch: 1},
	}
	want := []Takeover{{"R", 2, "kill", 2e9}}
	if got := Takeovers(history); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
