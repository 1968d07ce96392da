package selection_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/selection"
	"muster/selection/law"
)

// bobsEdition is the game's edition that bob alone reported.
var bobsEdition = []selection.Edition{{Player: "bob", Edition: discovery.Edition{Version: "5.6", Protocol: 41}}, {Player: "ann"}}

var annAndBob = []string{"ann", "bob"}

// oneServer returns a list of one server that both players reach in 30 and 50 ms.
func oneServer(addr string, info *discovery.Info) (selection.Servers, *selection.Table) {
	servers, table := tableOf(annAndBob, map[string][]int{addr: {30, 50}}, addr)
	servers.Infos[0] = info
	return servers, table
}

func wish(w selection.Wishes) selection.Criteria { return selection.Criteria{Wishes: w} }

func TestCullByWhatTheServerTells(t *testing.T) {
	type (
		info     = discovery.Info
		wishes   = selection.Wishes
		criteria = selection.Criteria
	)
	prefix := netip.MustParsePrefix
	tests := []struct {
		name     string
		addr     string
		info     *discovery.Info
		criteria criteria
		want     selection.Cause // and no server if want is survives
		who      []string
	}{
		{name: "no criteria, nothing told", want: survives},
		{name: "seats, nothing told", criteria: criteria{Seats: 2}, want: selection.Unknown},
		{name: "its game counts nobody", info: &info{}, criteria: criteria{Seats: 8, Spare: 2}, want: survives},
		{name: "its game counts players, but no seats", info: &info{Players: 1}, criteria: criteria{Seats: 1}, want: survives},
		{name: "8 players, at most 6", info: &info{MaxPlayers: 6}, criteria: criteria{Seats: 8}, want: selection.Full},
		{name: "8 players, 10 of 16 there", info: &info{Players: 10, MaxPlayers: 16}, criteria: criteria{Seats: 8}, want: selection.Full},
		{name: "just enough seats", info: &info{Players: 8, MaxPlayers: 16}, criteria: criteria{Seats: 8}, want: survives},
		{name: "bots sit there", info: &info{Players: 10, Bots: 4, MaxPlayers: 16}, criteria: criteria{Seats: 8}, want: selection.Full},
		{name: "another map", info: &info{Map: "flux2"}, criteria: wish(wishes{Map: "tokara"}), want: selection.Filtered},
		{name: "the map in capitals", info: &info{Map: "Tokara"}, criteria: wish(wishes{Map: "tokara"}), want: survives},
		{name: "another mode", info: &info{Mode: "ctf"}, criteria: wish(wishes{Mode: "dm"}), want: selection.Filtered},
		{name: "another version", info: &info{Version: "1.1"}, criteria: wish(wishes{Version: "1.2"}), want: selection.WrongVersion},
		{name: "a part of the version", info: &info{Version: "Paper 1.20.4"}, criteria: wish(wishes{Version: "1.20"}), want: survives},
		{name: "its protocol", info: &info{Protocol: 71}, criteria: wish(wishes{Version: "71"}), want: survives},
		{name: "another protocol", info: &info{Protocol: 71}, criteria: wish(wishes{Version: "68"}), want: selection.WrongVersion},
		{name: "version, nothing told", criteria: wish(wishes{Version: "1.2"}), want: selection.Unknown},
		{name: "another mod", info: &info{Mod: "ctf"}, criteria: wish(wishes{Mod: "dm"}), want: selection.Filtered},
		{name: "the mod in capitals", info: &info{Mod: "CTF"}, criteria: wish(wishes{Mod: "ctf"}), want: survives},
		{name: "mod, nothing told", criteria: wish(wishes{Mod: "ctf"}), want: selection.Unknown},
		{name: "a tag is missing", info: &info{Tags: "a"}, criteria: wish(wishes{Tags: "a b"}), want: selection.Filtered},
		{name: "an unwanted tag", info: &info{Tags: "a mod"}, criteria: wish(wishes{Tags: "a -mod"}), want: selection.Filtered},
		{name: "all tags", info: &info{Tags: "b a"}, criteria: wish(wishes{Tags: "a, b"}), want: survives},
		{name: "tags, nothing told", criteria: wish(wishes{Tags: "a"}), want: selection.Unknown},
		{name: "too new for bob", info: &info{Protocol: 49, OldestProtocol: 44}, criteria: criteria{Editions: bobsEdition},
			want: selection.WrongVersion, who: []string{"bob"}},
		{name: "old enough for bob", info: &info{Protocol: 49, OldestProtocol: 41}, criteria: criteria{Editions: bobsEdition}, want: survives},
		{name: "bob's protocol is all that is known", info: &info{Version: "6"}, criteria: criteria{Editions: bobsEdition}, want: survives},
		{name: "bob, nothing told", criteria: criteria{Editions: bobsEdition}, want: survives},
		{name: "password", info: &info{Password: true}, criteria: wish(wishes{NoPassword: true}), want: selection.Passworded},
		{name: "known password", info: &info{Password: true}, want: survives},
		{name: "too far for the server", info: &info{MaxPing: 40 * time.Millisecond}, want: selection.PingLimits, who: []string{"bob"}},
		{name: "at its limit", info: &info{MaxPing: 50 * time.Millisecond}, want: survives},
		{name: "too near for the server", info: &info{MinPing: 40 * time.Millisecond}, want: selection.PingLimits, who: []string{"ann"}},
		{name: "more players than seats", info: &info{Players: 40, MaxPlayers: 16}, want: selection.Hygiene},
		{name: "no seats told", info: &info{Players: 4}, want: survives},
		{name: "Steam FakeIP", addr: "169.254.7.8:27015", want: selection.Hygiene},
		{name: "blacklisted address", criteria: criteria{Blacklist: []netip.Prefix{prefix("10.0.0.1/32")}}, want: selection.Blacklisted},
		{name: "blacklisted range", criteria: criteria{Blacklist: []netip.Prefix{prefix("10.0.9.9/8")}}, want: selection.Blacklisted},
		{name: "another range", criteria: criteria{Blacklist: []netip.Prefix{prefix("11.0.0.0/8")}}, want: survives},
		{name: "server vetoed", criteria: criteria{Vetoes: []selection.Veto{{Player: "bob", Server: netip.MustParseAddrPort(serverA)}}},
			want: selection.Vetoed, who: []string{"bob"}},
		{name: "map vetoed", info: &info{Map: "Q3dm17"}, criteria: criteria{Vetoes: []selection.Veto{{Player: "bob", Map: "q3dm17"}, {Player: "ann", Map: "q3dm17"}}},
			want: selection.Vetoed, who: annAndBob},
		{name: "other map vetoed", info: &info{Map: "q3dm6"}, criteria: criteria{Vetoes: []selection.Veto{{Player: "bob", Map: "q3dm17"}}}, want: survives},
		{name: "over the cap", criteria: criteria{By: selection.Minimax, Limits: []time.Duration{49 * time.Millisecond}},
			want: selection.OverThreshold, who: []string{"bob"}},
		{name: "under the loosest cap", criteria: criteria{By: selection.Minimax, Limits: []time.Duration{50 * time.Millisecond, time.Millisecond}},
			want: survives},
	}
	for _, test := range tests {
		addr := serverA
		if test.addr != "" {
			addr = test.addr
		}
		servers, table := oneServer(addr, test.info)
		got := selection.Select(servers, table, test.criteria)
		if test.want == survives {
			if got.Chosen == nil || got.Culled.Total() != 0 {
				t.Errorf("%s: culled: %+v", test.name, got.Reasons)
			}
			continue
		}
		want := []selection.Reason{{Addr: hostport.At(netip.MustParseAddrPort(addr)), Cause: test.want, Players: test.who}}
		if got.Chosen != nil || !reflect.DeepEqual(got.Reasons, want) || got.Culled.Total() != 1 {
			t.Errorf("%s: %+v, %+v, want %+v", test.name, got.Chosen, got.Reasons, want)
		}
	}
}

// survives is no cause.
const survives = selection.Cause(99)

func TestCullByWhatPlayersMeasured(t *testing.T) {
	rows := map[string][]int{
		"10.0.0.1:1": {30, lost},
		"10.0.0.2:1": {refused, lost},
		"10.0.0.3:1": {30, unprobed},
		"10.0.0.4:1": {unprobed, refused}, // unreachable outweighs unmeasured
		"10.0.0.5:1": {unprobed, unprobed},
		"10.0.0.6:1": {200, 90},
	}
	servers, table := tableOf(annAndBob, rows, "10.0.0.6:1", "10.0.0.5:1", "10.0.0.4:1", "10.0.0.3:1", "10.0.0.2:1", "10.0.0.1:1")
	got := selection.Select(servers, table, selection.Criteria{Limits: []time.Duration{150 * time.Millisecond}})
	want := []string{
		"10.0.0.6:1 over_threshold ann",
		"10.0.0.3:1 unmeasured bob",
		"10.0.0.5:1 unmeasured ann bob",
		"10.0.0.1:1 unreachable bob",
		"10.0.0.2:1 unreachable ann bob",
		"10.0.0.4:1 unreachable bob",
	}
	if lines := reasonLines(got); !slices.Equal(lines, want) {
		t.Errorf("reasons %q, want %q", lines, want)
	}
	if counts := (selection.Culled{Unmeasured: 2, Unreachable: 3, OverThreshold: 1}); got.Culled != counts {
		t.Errorf("counts %+v, want %+v", got.Culled, counts)
	}
	few := selection.Select(servers, table, selection.Criteria{Limits: []time.Duration{150 * time.Millisecond}, Reasons: 2})
	if lines := reasonLines(few); !slices.Equal(lines, want[:2]) {
		t.Errorf("2 reasons: %q, want %q", lines, want[:2])
	}
	if none := selection.Select(servers, table, selection.Criteria{Reasons: -1}); len(none.Reasons) != 0 {
		t.Errorf("no reasons: %q", reasonLines(none))
	}
}

func reasonLines(s selection.Selection) []string {
	var lines []string
	for _, r := range s.Reasons {
		lines = append(lines, strings.Join(append([]string{r.Addr.String(), r.Cause.String()}, r.Players...), " "))
	}
	return lines
}

// TestSeatsThatNobodyCounts checks that the choice of a server that tells its players alone, as a
// proxy of Minecraft does, says that its free seats are unknown.
func TestSeatsThatNobodyCounts(t *testing.T) {
	for _, c := range []struct {
		info  discovery.Info
		seats int
		want  bool
	}{
		{discovery.Info{Players: 311}, 4, true},
		{discovery.Info{Players: 311}, 0, false}, // nobody asks for seats
		{discovery.Info{}, 4, false},             // it counts nothing at all
		{discovery.Info{Players: 3, MaxPlayers: 8}, 4, false},
	} {
		servers, table := oneServer(serverA, &c.info)
		s := selection.Select(servers, table, selection.Criteria{Seats: c.seats})
		says := slices.ContainsFunc(s.Explain(), func(one sentence.Sentence) bool { return one.Key == "seats.unknown" })
		if s.Chosen == nil || s.Chosen.SeatsUnknown != c.want || says != c.want {
			t.Errorf("%+v, %d seats: %+v, says it: %v", c.info, c.seats, s.Chosen, says)
		}
	}
}

func TestSieveSeesNewInfo(t *testing.T) {
	servers, table := oneServer(serverA, &discovery.Info{MaxPlayers: 8, MaxPing: 10 * time.Millisecond})
	filter := selection.NewFilter(servers, selection.Criteria{Seats: 2})
	if got := filter.Select(table); got.Culled.PingLimits != 1 {
		t.Fatalf("culled %+v, want the ping limit", got.Culled)
	}
	servers.Infos[0] = &discovery.Info{MaxPlayers: 8}
	filter.Update(0)
	if got := filter.Select(table); got.Chosen == nil {
		t.Errorf("culled %+v after the limit went", got.Culled)
	}
	servers.Infos[0] = &discovery.Info{MaxPlayers: 8, Players: 7}
	filter.Update(0)
	if got := filter.Select(table); got.Culled.Full != 1 {
		t.Errorf("culled %+v after the server filled up", got.Culled)
	}
}

func TestCauseWords(t *testing.T) {
	for cause := selection.Hygiene; cause <= selection.OverThreshold; cause++ {
		text, err := cause.MarshalText()
		var back selection.Cause
		if err != nil || back.UnmarshalText(text) != nil || back != cause {
			t.Errorf("%v became %q and %v", cause, text, back)
		}
	}
	var c selection.Cause
	if err := c.UnmarshalText([]byte("bored")); err == nil {
		t.Error("an unknown cause was accepted")
	}
}

func TestWishCheck(t *testing.T) {
	good := selection.Criteria{By: selection.Mean, Weights: map[string]float64{"ann": 0, "bob": 2.5}, Limits: []time.Duration{1}}
	if err := good.Check(annAndBob); err != nil {
		t.Errorf("a good criteria: %v", err)
	}
	bad := []selection.Criteria{
		{By: "best"},
		{By: selection.Mean, Limits: []time.Duration{0}},
		{By: selection.Mean, Weights: map[string]float64{"cat": 1}},
		{By: selection.Mean, Weights: map[string]float64{"ann": -1}},
		{By: selection.Mean, Weights: map[string]float64{"ann": math.NaN()}},
		{By: selection.Fairness, Weights: map[string]float64{"ann": 1e308, "bob": 1e308}}, // their sums are infinite
		{By: selection.Fairness, Weights: map[string]float64{"ann": 5e-324}},
	}
	for _, criteria := range bad {
		if err := criteria.Check(annAndBob); err == nil {
			t.Errorf("%+v was accepted", criteria)
		}
	}
}

// TestDocument checks the JSON that others read.
func TestDocument(t *testing.T) {
	servers, table := tableOf(annAndBob, map[string][]int{serverA: {24, 92}, serverB: {30, lost}}, serverA, serverB)
	got, err := json.Marshal(selection.NewFilter(servers, selection.Criteria{By: selection.Mean}).Select(table))
	server := `{"addr":"10.0.0.1:27960","score":58,"mean_ms":58,"max_ms":92,"stdev_ms":48.083,"rtt_ms":{"ann":24,"bob":92},"worst_off":"bob"}`
	want := `{"format":"muster.selection/1","by":"mean","players":["ann","bob"],"chosen":` + server + `,"ranking":[` + server + `],` +
		`"culled":{"unmeasured":0,"unreachable":1,"full":0,"filtered":0,"over_threshold":0},` +
		`"reasons":[{"addr":"10.0.0.2:27960","reason":"unreachable","players":["bob"]}]}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	var back selection.Selection
	if err := json.Unmarshal(got, &back); err != nil || back.Chosen.RTT["bob"] != 92 {
		t.Errorf("read back: %v, %+v", err, back)
	}
}

func TestDocumentOfNothing(t *testing.T) {
	for _, players := range [][]string{nil, annAndBob} {
		servers, table := tableOf(players, nil)
		got, err := json.Marshal(selection.Select(servers, table, selection.Criteria{By: selection.Mean}))
		if err != nil || !strings.Contains(string(got), `"chosen":null,"ranking":[],`) ||
			!strings.Contains(string(got), `"reasons":[]`) || strings.Contains(string(got), `"players":null`) {
			t.Errorf("%v: %v, %s", players, err, got)
		}
	}
	servers, table := tableOf(nil, nil, serverA)
	if got := selection.Select(servers, table, selection.Criteria{}); got.Chosen != nil {
		t.Errorf("nobody chose %v", got.Chosen.Addr)
	}
}

// TestForbiddenIsNoWordOnAServer checks that a player who may not ask a server has not measured it.
func TestForbiddenIsNoWordOnAServer(t *testing.T) {
	servers := selection.Servers{List: []discovery.Server{{Addr: netip.MustParseAddrPort("192.0.2.1:1")},
		{Addr: netip.MustParseAddrPort("192.0.2.2:1")}}}
	table := selection.NewTable([]string{"ann", "bob"}, 2)
	table.Set(0, 0, discovery.Answered, time.Millisecond)
	table.Set(1, 0, discovery.Forbidden, 0)
	table.Set(0, 1, discovery.Answered, 9*time.Millisecond)
	table.Set(1, 1, discovery.Answered, 9*time.Millisecond)
	if state, _ := table.At(1, 0); state != discovery.Forbidden {
		t.Errorf("bob's state is %v, want forbidden", state)
	}
	s := selection.Select(servers, table, selection.Criteria{By: selection.Mean, Top: 2})
	if s.Chosen.Server != 1 || s.Culled.Unreachable != 0 || s.Culled.Unmeasured != 1 {
		t.Errorf("chosen is %d, culled %+v", s.Chosen.Server, s.Culled)
	}
	if got := s.Reasons[0]; got.Cause != selection.Unmeasured || !slices.Equal(got.Players, []string{"bob"}) {
		t.Errorf("the reason is %+v", got)
	}
}

// TestLaw checks that a server that breaks a law is left out where another keeps it, that a player's
// best ping is the lowest of the table or an earlier one, and that a law needs both sides.
func TestLaw(t *testing.T) {
	var duelmania *law.Law
	for _, l := range law.All() {
		if l.Name == "duelmania" {
			duelmania = l
		}
	}
	addr := func(server int) netip.AddrPort {
		return netip.MustParseAddrPort(fmt.Sprintf("192.0.2.%d:27960", server))
	}
	both := map[string]selection.Side{"ann": selection.SideA, "ben": selection.SideB}
	for _, tt := range []struct {
		name    string
		best    map[string]time.Duration
		sides   map[string]selection.Side
		keep    int
		server  int
		decides bool
		culled  int
	}{
		{"ann has 60 at best and ben 40, so 20 more is her own", nil, both, 0, 1, false, 1},
		{"she had 45 once, so 5 more is", map[string]time.Duration{"ann": 45 * time.Millisecond}, both, 0, 0, false, 2},
		{"she had 20 once, and no server keeps 1 less", map[string]time.Duration{"ann": 20 * time.Millisecond}, both, 2, 0, true, 0},
		{"nobody is on side b", nil, map[string]selection.Side{"ann": selection.SideA}, 1, 1, false, 0},
	} {
		table := selection.NewTable([]string{"ann", "ben"}, 4)
		var servers selection.Servers
		for server, pings := range [][2]int{{60, 54}, {60, 40}, {90, 70}, {99, 0}} {
			servers.List = append(servers.List, discovery.Server{Addr: addr(server)})
			table.Set(0, server, discovery.Answered, time.Duration(pings[0])*time.Millisecond)
			if pings[1] > 0 {
				table.Set(1, server, discovery.Answered, time.Duration(pings[1])*time.Millisecond)
			}
		}
		s := selection.Select(servers, table, selection.Criteria{
			By: selection.Mean, Law: duelmania, Sides: tt.sides, Best: tt.best, Keep: addr(tt.keep), Differing: true,
		})
		if j := s.Chosen.Law; s.Chosen.Server != tt.server || (j != nil && j.Decides) != tt.decides || s.Culled.Lawless != tt.culled {
			t.Errorf("%s: server %d, %+v, culled %+v", tt.name, s.Chosen.Server, j, s.Culled)
		}
	}
}
