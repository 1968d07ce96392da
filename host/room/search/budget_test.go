package search

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
)

// TestMost checks that a player is told the right number of servers.
func TestMost(t *testing.T) {
	const usual = wire.SearchBudget + wire.SearchFinalists
	for _, tt := range []struct {
		name     string
		terms    Terms
		more     int
		promised []int
		most     int
		told     int
	}{
		{"a search of a long list", Terms{Listed: 10_000}, 0, nil, usual, usual},
		{"of one that is not there yet", Terms{}, 0, nil, usual, usual},
		{"with a vote", Terms{Votes: true, Listed: 10_000}, 0, nil, usual + wire.VoteBudget, usual + wire.VoteBudget},
		{"of a short list", Terms{Listed: usual}, 0, nil, 0, 0},
		{"of one that is longer by one", Terms{Listed: usual + 1}, 0, nil, usual, usual},
		{"of which more is asked", Terms{Listed: usual + 1}, 1, nil, 0, 0},
		{"with a budget of its own", Terms{Servers: 30, Listed: 10_000}, 100, nil, 130 + wire.SearchFinalists, 130 + wire.SearchFinalists},
		{"no search", Terms{Servers: -1, Votes: true, Listed: 10_000}, 100, []int{5000}, 0, 0},
		{"more was promised than is asked now", Terms{Listed: 10_000}, 0, []int{0, 5000, 7}, usual, 5000},
		{"the whole list was", Terms{Listed: 10_000}, 0, []int{10_000}, usual, 0},
	} {
		b := Budget{state: BudgetState{Servers: tt.more}}
		if most, told := b.Max(tt.terms), b.MaxTold(tt.terms, tt.promised); most != tt.most || told != tt.told {
			t.Errorf("%s: it is %d, and %d is told, want %d and %d", tt.name, most, told, tt.most, tt.told)
		}
	}
	for _, tt := range []struct {
		votes, voting bool
		left, want    int
	}{
		{false, false, 1000, 1000 - wire.SearchFinalists},
		{true, false, 1000, 1000 - wire.SearchFinalists - wire.VoteBudget},
		{true, true, 1000, 1000 - wire.SearchFinalists},
		{false, false, wire.SearchFinalists - 1, 0},
	} {
		if got := (Terms{Votes: tt.votes}).Spare(tt.left, tt.voting); got != tt.want {
			t.Errorf("%+v: %d are to spare", tt, got)
		}
	}
}

// TestGrant checks that an organiser can add servers again and again, up to a bound.
func TestGrant(t *testing.T) {
	var b Budget
	for _, tt := range []struct {
		servers, most int
		want          int
		err           string
	}{
		{50, 0, 0, "to ask more servers would help nobody now"},
		{0, 200, 0, "between 1 and 200 servers more can be asked at a time"},
		{201, 200, 0, "between 1 and 200 servers more can be asked at a time"},
		{200, 150, 150, ""},
		{200, 200, 200, ""},
	} {
		got, err := b.Grant(tt.servers, tt.most)
		if got != tt.want || (err != nil || tt.err != "") && fmt.Sprint(err) != tt.err {
			t.Errorf("of %d, of which %d are worth it, %d are granted, %v; want %d, %s", tt.servers, tt.most, got, err, tt.want, tt.err)
		}
	}
	var left []int
	for b.Left() > 0 {
		left = append(left, b.Left())
		b.Grant(b.Left(), b.Left())
	}
	if fmt.Sprint(left) != "[200 200 200 50]" {
		t.Errorf("then are left %v", left)
	}
	b = Budget{}
	if b.Close(true); b.Left() != 0 {
		t.Errorf("of a list that has no more are left %d", b.Left())
	}
	if b.Close(false); b.Left() != MaxMore {
		t.Errorf("of a list that has more are left %d", b.Left())
	}
}

// TestOffer checks how many servers will see everybody's address once more are granted.
func TestOffer(t *testing.T) {
	most := new(Budget).Max(Terms{})
	for _, tt := range []struct {
		terms         Terms
		servers, want int
	}{
		{Terms{Listed: 10_000}, 100, most + 100},
		{Terms{Listed: most + 101}, 1, most + 1},
		{Terms{Listed: most + 100}, 100, 0},
		{Terms{Servers: -1, Listed: 10_000}, 100, 0},
	} {
		if got := new(Budget).Offer(tt.terms, tt.servers); got != tt.want {
			t.Errorf("%+v: %d servers see it, want %d", tt.terms, got, tt.want)
		}
	}
}

// TestSavedBudget checks the form of the saved section.
func TestSavedBudget(t *testing.T) {
	b := BudgetState{Servers: 200, Dry: true}
	data, err := json.Marshal(b)
	if want := `{"servers":200,"dry":true}`; err != nil || string(data) != want {
		t.Errorf("it is saved as %s, want %s; %v", data, want, err)
	}
	if err := b.Validate(); err != nil {
		t.Error(err)
	}
	for _, s := range []BudgetState{{Servers: -1}, {Servers: maxInAll + 1}} {
		if s.Validate() == nil {
			t.Errorf("%+v is a budget", s)
		}
	}
}

// TestUnasked checks that each address that is worth asking for counts once.
func TestUnasked(t *testing.T) {
	var servers []discovery.Server
	for _, s := range []string{"1.0.0.1:1", "1.0.0.1:2", "1.0.0.2:1", "1.0.0.3:1"} { // two are at one address
		servers = append(servers, discovery.Server{Addr: netip.MustParseAddrPort(s)})
	}
	tree := topology.New(servers)
	const answered, lost = discovery.Answered, discovery.Lost
	for _, tt := range []struct {
		name   string
		knows  map[[2]int]discovery.State // a state by player and server
		hidden []int
		want   int
	}{
		{"nobody has asked any", nil, nil, 3},
		{"one has asked one", map[[2]int]discovery.State{{0, 2}: answered}, nil, 3},
		{"both have", map[[2]int]discovery.State{{0, 2}: answered, {1, 2}: answered}, nil, 2},
		{"one asked in vain", map[[2]int]discovery.State{{0, 2}: lost}, nil, 2},
		{"each asked another of one address", map[[2]int]discovery.State{{0, 0}: answered, {1, 1}: answered}, nil, 2},
		{"one asked both of one address", map[[2]int]discovery.State{{0, 0}: answered, {0, 1}: answered}, nil, 3},
		{"somebody cannot get there", nil, []int{3}, 2},
		{"all are known", map[[2]int]discovery.State{{0, 0}: lost, {1, 2}: lost, {0, 3}: lost}, nil, 0},
	} {
		table := selection.NewTable([]string{"ann", "bob"}, len(servers))
		for at, state := range tt.knows {
			table.Set(at[0], at[1], state, time.Millisecond)
		}
		if got := Unasked(tree, table, tt.hidden); got != tt.want {
			t.Errorf("%s: %d are worth asking, want %d", tt.name, got, tt.want)
		}
	}
}

// TestTurns checks that a room waits for its turns for the right time, and that people are told.
func TestTurns(t *testing.T) {
	at := func(seconds int) roomtime.Time { return eight.Add(time.Duration(seconds) * time.Second) }
	var turns Turns
	isNew := func(want bool, note bool, background bool, seconds int) {
		t.Helper()
		if is, said := turns.Await(background, at(seconds)); is != want || said.IsZero() == note {
			t.Errorf("after %d s a turn is asked for: %v; it says %q", seconds, is, said)
		}
	}
	waited := func(want, seconds int) {
		t.Helper()
		if got := turns.Waited(at(seconds)); got != time.Duration(want)*time.Second {
			t.Errorf("after %d s it has waited %v, want %d s", seconds, got, want)
		}
	}
	waited(0, 3)
	isNew(true, false, false, 10)
	isNew(false, false, false, 14)
	isNew(false, false, true, 15) // people vote, so nobody waits
	isNew(false, true, false, 15)
	isNew(false, false, false, 20) // people know already
	waited(7, 17)
	turns.Take(at(20))
	waited(10, 25)
	isNew(true, false, false, 30)
	waited(12, 32)
	waited(14, 34)
	turns.Begin() // the room still waits for the turn
	waited(6, 36)
	isNew(false, true, false, 39)
	turns.Take(at(40))
	isNew(true, false, false, 41)
}

// TestNoSearch checks that a search that has not begun is due, promises nothing, and gets its time.
func TestNoSearch(t *testing.T) {
	var none *Search
	if !none.IsDue(nil, eight) || none.IsWorthMore() {
		t.Error("a search that has not begun is not due, or promises something")
	}
	if none.IsTimeUp(Longest+5, 5) || !none.IsTimeUp(Longest+5, 4) {
		t.Error("a search that has not begun gets another time than it should")
	}
}
