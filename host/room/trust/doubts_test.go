package trust

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/people"
	"muster/internal/catalogue"
	"muster/selection"
	"muster/selection/anomaly"
)

func contradicts(player string) anomaly.Anomaly {
	return anomaly.Anomaly{Player: player, Sign: anomaly.Contradicts, Servers: 4, Of: 20}
}

// doubted returns a round with a doubt of every kind about somebody.
func doubted() (d Doubts) {
	a, slow, liar := anomaly.Anomaly{Player: "bob", Sign: anomaly.Constant, Servers: 9, Of: 9},
		anomaly.Anomaly{Player: "cat", Sign: anomaly.Slow, Servers: 3, Of: 9}, contradicts("cat")
	d.state.set("ann", doubt{Vouched: true})
	d.state.set("bob", doubt{Excluded: &a})
	d.state.set("cat", doubt{Odd: &slow, Contradicts: &liar})
	d.state.set("dan", doubt{Raised: map[int]time.Duration{2: 90 * ms}})
	d.state.TooNear = []int{4}
	return d
}

// TestDoubts checks that each doubt has the right effect.
func TestDoubts(t *testing.T) {
	d, servers := doubted(), world(5, four, honest).Servers
	servers.Infos[2].GamePort = 4444
	for _, of := range []struct {
		player               people.ID
		isExcluded, believed bool
		reason               string
	}{
		{"ann", false, true, ""},
		{"bob", true, false, "bob reports the same ping for 9 of 9 servers."},
		{"cat", false, false, "cat describes 4 of 20 servers differently from most players."},
		{"dan", false, true, "dan’s ping for 20.2.0.1:4444 is too low: servers right next to it for everyone else are much farther from dan."},
		{"eve", false, true, ""},
	} {
		if d.IsExcluded(of.player) != of.isExcluded || d.IsBelieved(of.player) != of.believed || catalogue.InEnglish().Say(d.Reason(of.player, &servers)) != of.reason {
			t.Errorf("%s is excluded: %v, believed: %v, doubted: %v", of.player, d.IsExcluded(of.player),
				d.IsBelieved(of.player), d.Reason(of.player, &servers))
		}
	}
	if got := d.Blacklist(&servers); len(got) != 1 || got[0].String() != "20.4.0.1/32" {
		t.Errorf("left out are %v", got)
	}
	if got := d.Raised("dan"); len(got) != 1 || got[2] != 90*ms || len(d.Raised("ann")) != 0 {
		t.Errorf("raised are %v", got)
	}
	d.raise("dan", 3, 80*ms)
	if got := catalogue.InEnglish().Say(d.Reason("dan", &servers)); !strings.HasPrefix(got, "dan’s ping for 2 servers is too low: servers right next to them") {
		t.Errorf("of two servers is said %q", got)
	}
}

// TestRounds checks that a round forgets everything except the organiser's word for players, and
// everything about a player who leaves.
func TestRounds(t *testing.T) {
	d := doubted()
	if next := d.Next(); !reflect.DeepEqual(next, Doubts{State{Players: map[people.ID]doubt{"ann": {Vouched: true}}}}) {
		t.Errorf("the next round begins with %+v", next)
	}
	if d.Forget("cat"); !d.IsBelieved("cat") || len(d.state.Players) != 3 {
		t.Errorf("of those who are left is known %+v", d)
	}
}

// TestDiscredit checks that a player who contradicts most others is not believed, unless the
// organiser vouches, or half of all or more would not be believed.
func TestDiscredit(t *testing.T) {
	for _, of := range []struct {
		name     string
		found    []string
		vouched  people.ID
		counting []people.ID
		before   []string
		want     []string
	}{
		{"one of four", []string{"dan"}, "", four, nil, []string{"dan"}},
		{"two of four", []string{"cat", "dan"}, "", four, nil, nil},
		{"two of five", []string{"cat", "dan"}, "", append([]people.ID{"eve"}, four...), nil, []string{"cat", "dan"}},
		{"the organiser vouches", []string{"dan"}, "dan", four, nil, nil},
		{"another before", []string{"dan"}, "", four, []string{"cat"}, nil},
		{"nobody", nil, "", four, nil, nil},
	} {
		var d Doubts
		if of.vouched != "" {
			d.Vouch(of.vouched)
		}
		for _, name := range of.before {
			a := contradicts(name)
			d.state.set(people.ID(name), doubt{Contradicts: &a})
		}
		var found []anomaly.Anomaly
		for _, name := range of.found {
			found = append(found, contradicts(name))
		}
		notes := texts(d.Discredit(found, of.counting, of.counting))
		if len(notes) != len(of.want) {
			t.Errorf("%s: %q", of.name, notes)
		}
		for i, name := range of.want {
			if player := people.ID(name); d.IsBelieved(player) || d.IsExcluded(player) ||
				notes[i] != name+" describes 4 of 20 servers differently from most players: that doesn’t count" {
				t.Errorf("%s: %q", of.name, notes)
			}
		}
	}
}

// TestList checks that the list has everything odd: the excluded before those who count, and those
// who contradict last, each in the order of the players. A present oddity replaces an earlier one.
func TestList(t *testing.T) {
	d := doubted()
	made := func(player, server int) int {
		if player == 1 { // cat's ping
			return 500
		}
		return honest(player, server)
	}
	var got []string
	for _, a := range d.List(world(20, []people.ID{"ann", "cat", "dan"}, honest), four, map[people.ID]int{"dan": 17}) {
		got = append(got, a.Player+" "+string(a.Sign))
		if a.Player == "dan" && (a.Of != 17 || a.Addr.String() != "20.2.0.1:27960") {
			t.Errorf("of dan is said %+v", a)
		}
	}
	if want := []string{"bob constant", "cat slow", "dan nearer", "cat contradicts"}; !slices.Equal(got, want) {
		t.Errorf("listed are %v, want %v", got, want)
	}
	got = nil
	for _, a := range d.List(world(20, []people.ID{"ann", "cat"}, made), []people.ID{"ann", "cat"}, nil) {
		got = append(got, a.Player+" "+string(a.Sign))
	}
	if want := []string{"cat constant", "cat contradicts"}; !slices.Equal(got, want) {
		t.Errorf("listed are %v, want %v", got, want)
	}
}

// golden are doubts in their saved form.
const golden = `{"players":{"ann":{"vouched":true},` +
	`"bob":{"excluded":{"player":"bob","sign":"constant","servers":9,"of":9}},` +
	`"cat":{"odd":{"player":"cat","sign":"slow","servers":3,"of":9},"contradicts":{"player":"cat","sign":"contradicts","servers":4,"of":20}},` +
	`"dan":{"raised":{"2":90000000}}},"too_near":[4]}`

// TestSaved checks that the saved form stays the same, and comes back whole.
func TestSaved(t *testing.T) {
	d := doubted()
	data, err := json.Marshal(d.State())
	if err != nil || string(data) != golden {
		t.Errorf("saved is %s, and not\n%s\n%v", data, golden, err)
	}
	read := func(text string) (s State) {
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	if back := read(golden); back.Validate(four, 5) != nil || !reflect.DeepEqual(back, d.state) {
		t.Errorf("%+v has become %+v, %v", d, back, back.Validate(four, 5))
	}
	for _, spoilt := range []string{
		strings.Replace(golden, `"cat":`, `"eve":`, 1),
		strings.Replace(golden, `[4]`, `[5]`, 1),
		strings.Replace(golden, `[4]`, `[-1]`, 1),
		strings.Replace(golden, `"2":`, `"5":`, 1),
		strings.Replace(golden, `"2":`, `"-1":`, 1),
		strings.Replace(golden, `90000000`, `0`, 1),
	} {
		if read(spoilt).Validate(four, 5) == nil {
			t.Errorf("%s is taken for doubts", spoilt)
		}
	}
}

const (
	ms = time.Millisecond
	// The values that replace an RTT.
	unprobed, lost = 0, -1
)

// world returns a basis with everybody's results for servers in networks of their own, in ms, for a
// choice by the lowest average.
func world(servers int, players []people.ID, rtt func(player, server int) int) selection.Basis {
	b := selection.Basis{
		Servers:  selection.Servers{Infos: map[int]*discovery.Info{}},
		Table:    selection.NewTable(people.Texts(players), servers),
		Criteria: selection.Criteria{By: selection.Mean, Seats: 1, Top: 25, Reasons: 50},
		Along:    people.Texts(players),
	}
	for server := range servers {
		b.Servers.List = append(b.Servers.List, discovery.Server{Addr: addrOf(fmt.Sprintf("20.%d.0.1", server))})
		b.Servers.Infos[server] = &discovery.Info{MaxPlayers: 64}
		for player := range players {
			switch took := rtt(player, server); took {
			case unprobed:
			case lost:
				b.Table.Set(player, server, discovery.Lost, 0)
			default:
				b.Table.Set(player, server, discovery.Answered, time.Duration(took)*ms)
			}
		}
	}
	return b
}

// four are the players of most worlds; dan, the last, is the odd one.
var four = []people.ID{"ann", "bob", "cat", "dan"}

const dan = 3

// honest returns the ping of a player who tells the truth. The first server is the best.
func honest(player, server int) int { return 10*server + 10 + player }

// but returns the honest answers, except that dan answers with word.
func but(word func(server int) int) func(player, server int) int {
	return func(player, server int) int {
		if player == dan {
			return word(server)
		}
		return honest(player, server)
	}
}

func addrOf(addr string) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr(addr), 27960) }

// FuzzDoubts reads doubts that anything may have written, and judges numbers that players may make
// up. In any case most players count, and so does everybody that the organiser vouches for.
func FuzzDoubts(f *testing.F) {
	f.Add([]byte(golden), []byte{1, 2, 3, 0, 255, 1, 1, 1, 1, 1, 1, 1, 9})
	f.Add([]byte(`{}`), []byte{200, 10, 20, 255, 255, 30, 40})
	f.Fuzz(func(t *testing.T, saved, said []byte) {
		var d Doubts
		const servers = 12
		if json.Unmarshal(saved, d.State()) != nil || d.State().Validate(four, servers) != nil {
			return
		}
		b := world(servers, four, func(player, server int) int {
			switch at := servers*player + server; {
			case at >= len(said):
				return honest(player, server)
			case said[at] == 255:
				return lost
			default:
				return int(said[at])
			}
		})
		excluded := len(d.excluded(four))
		v := d.Judge(b, four, Measured)
		if n := len(d.excluded(four)); n > excluded && 2*n >= len(four)+excluded {
			t.Errorf("%d of %d do not count: %q", n, len(four), v.Notes)
		}
		for _, player := range v.LeftOut {
			if d.state.Players[player].Vouched || !d.IsExcluded(player) {
				t.Errorf("%s is left out: %q", player, v.Notes)
			}
		}
		if o, others := d.Outvote(b); len(o.LeftOut) > 1 || len(o.LeftOut)+len(others) != len(four) {
			t.Errorf("left out are %v", o.LeftOut)
		}
		if selected := b.For(people.Texts(four)).Select(); selected.Chosen != nil {
			d.Disputed(b, &selected, Forecast{Silent: map[people.ID][]int{"dan": {0, 1}}}, []int{2})
			trial := d.Try(b, &selected, map[people.ID]Ping{"dan": {time.Millisecond, time.Millisecond}})
			for trial.NextFloor() {
				trial.Chose(&selected)
			}
			if notes := trial.End(); len(notes) > 0 {
				t.Errorf("the same is chosen, and yet %q", notes)
			}
			d.Overrule(b, &selected, four, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
		}
		for _, player := range four {
			if d.Reason(player, &b.Servers).IsZero() != (d.IsBelieved(player) && len(d.Raised(player)) == 0) {
				t.Errorf("%s is believed: %v, and doubted: %v", player, d.IsBelieved(player), d.Reason(player, &b.Servers))
			}
			if d.Vouch(player); !d.IsBelieved(player) {
				t.Errorf("%s is vouched for, and not believed", player)
			}
		}
		d.List(b, four, nil)
	})
}
