package room_test

import (
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
)

// searching returns a room of four that searches the long list.
func searching(t *testing.T) *session {
	t.Helper()
	return searchingFor(t, room.Tuning{}, settings(4), "ann", "bob", "cat", "dan")
}

// honest lets some players answer until the search is over. Dan does something of his own every
// time.
func (n *session) honest(dan func()) {
	n.Helper()
	for range 400 {
		n.Wait(200 * time.Millisecond)
		for i, name := range []string{"ann", "bob", "cat"} {
			n.answers(i, name)
		}
		if dan(); !n.isSearching() {
			return
		}
	}
	n.Fatalf("the search does not end; the log:\n%s", n.Story())
}

// TestUnaskedDoesNotCount checks that one frame about all servers, sent before the room asked for
// many, rules out nothing and chooses nothing.
func TestUnaskedDoesNotCount(t *testing.T) {
	for _, state := range []discovery.State{discovery.Lost, discovery.Refused, discovery.Forbidden, discovery.Answered} {
		t.Run(state.String(), func(t *testing.T) {
			n := searching(t)
			n.denies("dan", state, from(0, 999)...)
			if probed, asked := n.Person("dan").Probed, len(n.Asked["dan"]); probed > asked || asked > 20 {
				t.Errorf("%d results count, and %d were asked for", probed, asked)
			}
			same(t, n.Room, restored(t, n.Room))
			before := len(n.Asked["ann"])
			n.Wait(time.Second)
			for i, name := range []string{"ann", "bob", "cat"} {
				n.answers(i, name)
			}
			if n.Wait(time.Second); len(n.Asked["ann"]) == before || !n.isSearching() {
				t.Errorf("with that the search is over; the log:\n%s", n.Story())
			}
		})
	}
}

// TestOneFrame checks that one frame cannot end a session or send anybody anywhere, even if it
// denies every server but one.
func TestOneFrame(t *testing.T) {
	const worst = 999 // far from all
	for _, tt := range []struct {
		name  string
		state discovery.State
		last  int
	}{
		{"lost for everything", discovery.Lost, 999},
		{"lost for all but one", discovery.Lost, worst - 1},
		{"refused by everything", discovery.Refused, 999},
		{"refused by all but one", discovery.Refused, worst - 1},
		{"may ask nothing", discovery.Forbidden, 999},
		{"may ask only one", discovery.Forbidden, worst - 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := searching(t)
			n.honest(func() {
				if n.IsOut("dan") {
					return
				}
				n.denies("dan", tt.state, from(0, tt.last)...)
				if tt.last < worst {
					n.denies("dan", discovery.Answered, worst)
				}
			})
			n.InStage(wire.Chosen)
			for _, name := range n.Players() {
				isDan := name == "dan"
				if isNamed := !n.Person(name).Doubt.IsZero(); isNamed != isDan || n.IsOut(name) != isDan {
					t.Errorf("%s is named: %v, and left out: %v; the log:\n%s", name, isNamed, n.IsOut(name), n.Story())
				}
			}
			n.isBestFor(3)
		})
	}
}
