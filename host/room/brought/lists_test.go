package brought

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
)

const everywhere = discovery.InternetReach

func addr(server int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(server)}), uint16(1024+server))
}

func entries(servers ...int) (list []wire.Brought) {
	for _, server := range servers {
		list = append(list, wire.Brought{Addr: hostport.At(addr(server))})
	}
	return list
}

// whose returns the people who stand with each favourite, in order.
func whose(l *Lists) (by [][]people.ID) {
	for _, one := range l.state.Favourites {
		by = append(by, one.By)
	}
	return by
}

// TestBring checks that servers that people bring are taken, counted or refused.
func TestBring(t *testing.T) {
	var l Lists
	local := []wire.Brought{{Addr: hostport.At(netip.MustParseAddrPort("192.168.1.7:27960"))}}
	many := slices.Collect(func(yield func(int) bool) {
		for i := range wire.MaxBrought + 1 {
			if !yield(100 + i) {
				return
			}
		}
	})
	l.Bring("ann", everywhere, entries(1, 2), entries(3), false)
	l.Bring("ann", everywhere, entries(9), nil, true)
	l.Block(addr(9))
	for _, tt := range []struct {
		name               string
		who                people.ID
		reach              discovery.Reach
		favourites, hidden []wire.Brought
		adds               bool
		want               BringResult
	}{
		{"the same again", "ann", everywhere, entries(2, 1), entries(3), false, BringResult{2, 1, 0, false}},
		{"one of them again", "ann", everywhere, entries(2), nil, true, BringResult{1, 0, 0, false}},
		{"another's, too", "bob", everywhere, entries(2, 4), nil, false, BringResult{2, 0, 0, true}},
		{"nothing", "bob", everywhere, nil, nil, true, BringResult{}},
		{"what was struck off", "bob", everywhere, entries(9), nil, true, BringResult{0, 0, 1, false}},
		{"a machine of the players' networks", "bob", everywhere, local, nil, true, BringResult{0, 0, 1, false}},
		{"from one of them", "bob", discovery.ReachOf(local[0].Addr.Addr()), local, nil, true, BringResult{1, 0, 0, true}},
		{"more than a player's share", "cat", everywhere, entries(many...), nil, false, BringResult{wire.MaxBrought, 0, 1, true}},
		{"nothing any more", "ann", everywhere, nil, nil, false, BringResult{0, 0, 0, true}},
	} {
		if got := l.Bring(tt.who, tt.reach, tt.favourites, tt.hidden, tt.adds); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
		if ours := l.Ours(); !tt.want.IsNew && (ours[0] != addr(1) || ours[1] != addr(2)) {
			t.Errorf("%s: the order is another: %v", tt.name, ours)
		}
	}
	if by := whose(&l); !slices.Equal(by[0], []people.ID{"bob"}) || len(l.View(nil).Hidden) != 0 {
		t.Errorf("in the lists stand %v, %v", by[:3], l.View(nil).Hidden)
	}
	l.Bring("dan", everywhere, []wire.Brought{{Addr: hostport.At(addr(0)), Name: "Dan's\x1b[31m " + strings.Repeat("ü", 100)}}, nil, false)
	views := l.View(nil).Favourites
	if name := views[len(views)-1].Name; len(name) > longestTitle || strings.ContainsAny(name, "\x1b\ufffd") {
		t.Errorf("a server is called %q", name)
	}
}

// TestWithdraw checks that people take back what they brought, and nothing else.
func TestWithdraw(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(l *Lists)
		want []people.ID
	}{
		{"takes it back", func(l *Lists) { l.Withdraw("ann") }, nil},
		{"whose ID differs takes theirs back", func(l *Lists) { l.Withdraw("ANN") }, []people.ID{"ann"}},
		{"takes it back, and others liked it", func(l *Lists) {
			l.Bring("bob", everywhere, entries(1), nil, false)
			l.Withdraw("ann")
		}, []people.ID{"bob"}},
	} {
		var l Lists
		l.Bring("ann", everywhere, entries(1), nil, false)
		tt.do(&l)
		var by []people.ID
		if all := whose(&l); len(all) > 0 {
			by = all[0]
		}
		if !slices.Equal(by, tt.want) {
			t.Errorf("ann %s: it is %q's, want %q's", tt.name, by, tt.want)
		}
	}
}

// TestManyBring checks that people who come and go one after the other do not make the lists grow,
// and that the next one's servers count all the same.
func TestManyBring(t *testing.T) {
	var l Lists
	for i := range 2 * maxBy {
		got := l.Bring(people.Nth(i+1), everywhere, entries(1), entries(2), false)
		if want := (BringResult{1, 1, 0, i < maxBy}); got != want {
			t.Fatalf("of person %d: %+v, want %+v", i, got, want)
		}
	}
	if favourites, hidden := len(l.state.Favourites[0].By), len(l.state.Hidden[0].By); favourites != maxBy || hidden != maxBy {
		t.Errorf("%d and %d stand with a server", favourites, hidden)
	}
}

// TestView checks that people read names, and nothing twice of people whom nobody knows.
func TestView(t *testing.T) {
	var l Lists
	for _, nth := range []int{7, 2, 8, 1} {
		l.Bring(people.Nth(nth), everywhere, entries(1), entries(2), false)
	}
	names := people.NewNames(map[people.ID]string{people.Nth(1): "ann", people.Nth(2): "bob"})
	by := []string{people.Somebody, "bob", "ann"}
	want := wire.Lists{
		Favourites: []wire.Brought{{Addr: hostport.At(addr(1)), By: by}}, Hidden: []wire.Brought{{Addr: hostport.At(addr(2)), By: by}},
	}
	if got := l.View(names); !reflect.DeepEqual(got, want) {
		t.Errorf("people see %+v, want %+v", got, want)
	}
	if data, _ := json.Marshal((&Lists{}).View(names)); string(data) != `{"favourites":[],"hidden":[]}` {
		t.Errorf("of empty lists people see %s", data)
	}
}

// TestHidden checks that only the right people can keep a group from playing on a server.
func TestHidden(t *testing.T) {
	var list []discovery.Server
	for server := range 4 {
		list = append(list, discovery.Server{Addr: addr(server)})
	}
	for _, tt := range []struct {
		name      string
		bob       []int
		organiser []int
		want      []selection.Veto
	}{
		{"half of the list", []int{0, 1}, nil, []selection.Veto{{Player: "bob", Server: addr(0)}, {Player: "bob", Server: addr(1)}}},
		{"more than half", []int{0, 1, 2}, nil, nil},
		{"half, and one that is not listed", []int{0, 1, 8}, nil, []selection.Veto{
			{Player: "bob", Server: addr(0)}, {Player: "bob", Server: addr(1)}, {Player: "bob", Server: addr(8)},
		}},
		{"more than half, but for the organiser", []int{0, 1, 2}, []int{3}, []selection.Veto{{Player: "ann", Server: addr(3)}}},
		{"the organiser's word", nil, []int{0, 1, 2}, []selection.Veto{
			{Player: "ann", Server: addr(0)}, {Player: "ann", Server: addr(1)}, {Player: "ann", Server: addr(2)},
		}},
		{"of many that are not listed", []int{0, 7, 8, 9}, nil, []selection.Veto{
			{Player: "bob", Server: addr(0)}, {Player: "bob", Server: addr(7)}, {Player: "bob", Server: addr(8)}, {Player: "bob", Server: addr(9)},
		}},
	} {
		var l Lists
		l.Bring("bob", everywhere, nil, entries(tt.bob...), false)
		for _, server := range tt.organiser {
			if err := l.Hide(addr(server), "", "ann"); err != nil {
				t.Fatal(err)
			}
		}
		if got := l.Hidden(list, "ann"); !slices.Equal(got, tt.want) {
			t.Errorf("%s: hidden are %v, want %v", tt.name, got, tt.want)
		}
	}
	var l Lists
	for i := range Max + wire.MaxBrought {
		if err := l.Hide(netip.AddrPortFrom(addr(0).Addr(), uint16(i)), "", "ann"); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Hide(addr(1), "", "ann"); err == nil {
		t.Error("a room hides any number of servers")
	}
}

// TestSaved checks the form of the saved section.
func TestSaved(t *testing.T) {
	var l Lists
	l.Bring("ann", everywhere, entries(1), entries(2, 3), false)
	l.Block(addr(2))
	data, err := json.Marshal(l.State())
	const want = `{"favourites":[{"addr":"192.0.2.1:1025","by":["ann"]}],"hidden":[{"addr":"192.0.2.3:1027","by":["ann"]}],` +
		`"struck":["192.0.2.2:1026"]}`
	if err != nil || string(data) != want {
		t.Errorf("it is saved as %s, want %s; %v", data, want, err)
	}
}

// FuzzLists calls the lists' methods at random. The lists keep their bounds, and no copy changes.
func FuzzLists(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x41\x05\x82\x07\xc8\x09\x0a\x0b\x0c\x0d"))
	f.Add([]byte(strings.Repeat("\x00\x31\x47\x03\x12\x29", 40)))
	f.Fuzz(func(t *testing.T, choices []byte) {
		var l Lists
		next := func(n int) int {
			if len(choices) == 0 {
				return 0
			}
			c := int(choices[0])
			choices = choices[1:]
			return c % n
		}
		player := func() people.ID { return people.ID([]string{"ann", "bob", "eve", "dan"}[next(4)]) }
		for len(choices) > 0 {
			before := l
			shown, err := json.Marshal(l.State())
			if err != nil {
				t.Fatal(err)
			}
			switch next(6) {
			case 0, 1:
				t := next(3)
				one := []wire.Brought{{Addr: hostport.At(addr(next(20))), Name: string(choices[:min(len(choices), 70)])}}
				l.Bring(player(), everywhere, one[:min(t, 1)], one[:t/2], next(2) == 0)
			case 2:
				l.Withdraw(player())
			case 3:
				_ = l.Hide(addr(next(20)), string(player()), "organiser")
			case 4:
				struck := addr(next(20))
				l.Block(struck)
				if slices.Contains(l.Ours(), struck) {
					t.Fatalf("%v is still in the lists", struck)
				}
			case 5:
				l.Drop(addr(next(20)))
			}
			if after, _ := json.Marshal(before.State()); string(after) != string(shown) {
				t.Fatalf("what was\n%s is\n%s", shown, after)
			}
			view := l.View(nil)
			for _, list := range [][]wire.Brought{view.Favourites, view.Hidden} {
				seen := map[netip.AddrPort]bool{}
				for _, one := range list {
					if len(one.By) == 0 || seen[one.Addr.AddrPort] || len(one.Name) > longestTitle {
						t.Fatalf("in the lists stands %+v", list)
					}
					seen[one.Addr.AddrPort] = true
				}
			}
			if data, _ := json.Marshal(l.State()); !json.Valid(data) {
				t.Fatalf("saved as %s", data)
			}
		}
	})
}

// TestLines checks that people are told once about servers that somebody brings, and about those
// that cannot be shared.
func TestLines(t *testing.T) {
	const why = " can’t be shared: they’re on a private network, the organiser removed them, or they’re more than the 100 per player and 400 in all that a room keeps"
	for _, tt := range []struct {
		taken BringResult
		want  []string
	}{
		{BringResult{IsNew: true}, nil},
		{BringResult{Favourites: 1}, []string{"ann brings 1 server for “Ours”"}},
		{BringResult{Favourites: 2, Hidden: 3}, []string{"ann brings 2 servers for “Ours”, and 3 never to play on"}},
		{BringResult{Hidden: 1}, []string{"ann brings 0 servers for “Ours”, and 1 never to play on"}},
		{BringResult{Refused: 2}, []string{"ann added 2 servers that" + why}},
		{BringResult{Hidden: 1, Refused: 1}, []string{
			"ann brings 0 servers for “Ours”, and 1 never to play on",
			"ann added 1 server that can’t be shared: it’s on a private network, the organiser removed it, or it’s more than the 100 per player and 400 in all that a room keeps",
		}},
	} {
		if got := catalogue.InEnglish().SayAll(tt.taken.Lines("ann")); !slices.Equal(got, tt.want) {
			t.Errorf("of %+v people are told %+v, want %+v", tt.taken, got, tt.want)
		}
	}
}
