package choice

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
)

func addr(server int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, byte(2 + server/200), byte(server % 200)}), 27960)
}

// basisOf returns a basis of measurements in ms, a row for each player. -1 is a lost server, and 0
// one that the player did not ask. The servers have 12 seats free, and names.
func basisOf(rows map[string][]int) selection.Basis {
	players := slices.Sorted(maps.Keys(rows))
	n := len(rows[players[0]])
	b := selection.Basis{
		Table:   selection.NewTable(players, n),
		Servers: selection.Servers{Infos: map[int]*discovery.Info{}, Lone: map[int]bool{}},
	}
	b.Criteria = Criteria(wire.Settings{By: selection.Mean}, -1)
	for server := range n {
		b.Servers.List = append(b.Servers.List, discovery.Server{Addr: addr(server), Country: "DE"})
		b.Servers.Infos[server] = &discovery.Info{Name: fmt.Sprint("server ", server), Players: 4, MaxPlayers: 16}
	}
	for column, name := range players {
		for server, ms := range rows[name] {
			switch {
			case ms > 0:
				b.Table.Set(column, server, discovery.Answered, time.Duration(ms)*time.Millisecond)
			case ms < 0:
				b.Table.Set(column, server, discovery.Lost, 0)
			}
		}
	}
	return b
}

// two returns a basis of ann and bob. Server 1 is the best for them.
func two() selection.Basis {
	return basisOf(map[string][]int{"ann": {20, 40, 10}, "bob": {80, 38, -1}})
}

// nothing returns a basis of ann and bob without a server that is good enough.
func nothing() selection.Basis {
	b := two()
	b.Criteria.By, b.Criteria.Limits = selection.Threshold, []time.Duration{30 * time.Millisecond}
	return b
}

func server(s *selection.Selection) int {
	if s == nil || s.Chosen == nil {
		return -1
	}
	return s.Chosen.Server
}

// TestTry checks that a try leaves the choice alone, and that the record is of the newest try that
// found a server.
func TestTry(t *testing.T) {
	var c Choice
	if record, isKnown := c.Record(nil); record != nil || !isKnown || c.Newest() != nil {
		t.Error("before there is a choice it has a record")
	}
	s := c.Try(nothing())
	if server(&s) != -1 || c.record.found || c.Newest() != nil {
		t.Errorf("of nothing it chose %+v", s.Chosen)
	}
	s = c.Try(two())
	if server(&s) != 1 || !c.record.found || c.Newest() != nil {
		t.Errorf("tried it chose %+v", s.Chosen)
	}
	c.Take(s)
	found := c.record
	if record, isKnown := c.Record(nil); record != found || !isKnown {
		t.Error("nobody knows what the choice was made from")
	}
	if s := c.Try(nothing()); server(&s) != -1 || c.record != found || server(c.Newest()) != 1 {
		t.Errorf("a try that found nothing has become the record of %+v", c.Newest().Chosen)
	}
	if c.Try(two()); c.record == found {
		t.Error("a newer try has no record")
	}
	c.Take(selection.Selection{}) // everybody gave up
	if _, isKnown := c.Record(nil); isKnown {
		t.Error("a choice of nothing was made from what led to a server")
	}
	if record := c.Note(nothing(), nil); record.found || record != c.record {
		t.Errorf("noted is %+v", record)
	}
	if _, isKnown := c.Record(nil); !isKnown {
		t.Error("what was noted is not known")
	}
}

// TestEstimate checks that an estimate never leaves the group without a server.
func TestEstimate(t *testing.T) {
	for _, tt := range []struct {
		zoe       int
		estimated int
	}{{30, 1}, {90, 0}} {
		b := basisOf(map[string][]int{"ann": {20, 40}, "bob": {80, 38}, "zoe": {80, tt.zoe}})
		b.Criteria.By, b.Criteria.Limits = selection.Threshold, []time.Duration{42 * time.Millisecond}
		b.Estimated = map[string]float64{"zoe": 9}
		var c Choice
		s := c.Try(b)
		if server(&s) != 1 || len(s.Estimated) != tt.estimated || len(s.Players) != 2+tt.estimated {
			t.Errorf("with %d ms for zoe it chose %+v for %v, estimated %v", tt.zoe, s.Chosen, s.Players, s.Estimated)
		}
		if got := len(c.record.basis.Estimated); got != tt.estimated || !c.record.found {
			t.Errorf("with %d ms for zoe it was made from %d estimates", tt.zoe, got)
		}
	}
}

// TestTakeRefine checks that another choice drops the what-if, and that refining the choice keeps
// it.
func TestTakeRefine(t *testing.T) {
	var c Choice
	c.Take(c.Try(two()))
	c.Suppose("zoe", json.RawMessage(`{"by":"minimax"}`), two())
	before := c.Newest()
	c.Refine(selection.Selection{LookedS: 5})
	if c.Newest().LookedS != 5 || before.LookedS != 0 || string(c.Supposed()) != `{"by":"minimax"}` {
		t.Errorf("refined it is %+v, and supposed is %s", c.Newest(), c.Supposed())
	}
	if c.Take(*before); c.Supposed() != nil || server(c.Newest()) != 1 {
		t.Errorf("after another choice %s is supposed", c.Supposed())
	}
	c.Suppose("zoe", json.RawMessage(`{}`), two())
	if c.ClearWhatIf(); c.Supposed() != nil {
		t.Error("a what-if cannot be taken back")
	}
}

// TestSuppose checks that a what-if takes the basis of the choice, if it is of the same players.
func TestSuppose(t *testing.T) {
	newer := basisOf(map[string][]int{"ann": {1, 40, 10}, "bob": {1, 38, -1}})
	alone := basisOf(map[string][]int{"ann": {1, 40, 10}})
	for _, tt := range []struct {
		name  string
		given bool // the room has given up meanwhile
		b     selection.Basis
		want  int
	}{
		{"of the same players", false, newer, 1},
		{"of others", false, alone, 0},
		{"of a choice that is none", true, newer, 0},
	} {
		var c Choice
		c.Take(c.Try(two()))
		if tt.given {
			c.Take(selection.Selection{})
		}
		if b, isOfThem := c.Basis(people.IDs(tt.b.Table.Players())); isOfThem {
			tt.b.Table = b.Table
		}
		c.Suppose("zoe", json.RawMessage(`{}`), tt.b)
		v := c.ViewWhatIf(Facts{Servers: tt.b.Servers})
		if v.Player != "zoe" || server(&v.Selection) != tt.want || len(v.Selection.Reasons) > 0 {
			t.Errorf("%s: %s supposes %+v", tt.name, v.Player, v.Selection.Chosen)
		}
	}
}

// TestWeigh checks that the players whose word decides the choice are named, and no guest, because
// guests report nothing.
func TestWeigh(t *testing.T) {
	rows := map[string][]int{"dan": {}}
	for i, name := range []string{"ann", "bob", "cat"} {
		for server := range 20 {
			rows[name] = append(rows[name], 10+3*server+i)
		}
	}
	for server := range 20 {
		rows["dan"] = append(rows["dan"], 20+10*max(12-server, server-12))
	}
	for _, estimated := range []string{"", "dan"} {
		b := basisOf(rows)
		if estimated != "" {
			b.Estimated = map[string]float64{estimated: 9}
		}
		var c Choice
		c.Take(c.Try(b))
		before := c.Newest()
		c.NoteInfluence(b)
		influences := c.Newest().Why.Influences
		isNamed := slices.ContainsFunc(influences, func(i selection.Influence) bool { return i.Player == "dan" })
		if server(before) != 12 || isNamed != (estimated == "") || before.Why != nil && len(before.Why.Influences) > 0 {
			t.Errorf("estimated %q: the choice hangs on %+v", estimated, influences)
		}
	}
}

// TestGo checks that the group goes to a server that has seats by now, as long as it suits
// everyone.
func TestGo(t *testing.T) {
	rows := map[string][]int{"ann": nil}
	for server := range 2 * rankingLength {
		rows["ann"] = append(rows["ann"], 10+server)
	}
	rows["ann"][3] = -1
	b := basisOf(rows)
	b.Criteria.Seats = 99 // in all
	for _, tt := range []struct {
		name     string
		to, need int
		suits    bool
		place    int
	}{
		{"a good one", 1, 5, true, 1},
		{"one that is not ranked", 40, 5, true, rankingLength - 1},
		{"one that is lost", 3, 5, false, 0},
		{"one without so many seats", 1, 13, false, 0},
	} {
		var c Choice
		c.Take(c.Try(b))
		before := c.Newest()
		if got := c.Go(tt.to, tt.need, b); got != tt.suits {
			t.Errorf("%s: it suits: %v", tt.name, got)
		}
		record, isKnown := c.Record(nil)
		switch {
		case !tt.suits:
			if c.Newest() != before || record != nil || isKnown {
				t.Errorf("%s: the choice is %+v, from %+v", tt.name, c.Newest().Chosen, record)
			}
		case c.Newest().Ranking[tt.place].Server != tt.to || len(c.Newest().Ranking) != rankingLength || !isKnown:
			t.Errorf("%s: the ranking is %v", tt.name, c.Newest().Ranking)
		}
	}
}

// TestCulled checks that the record lists the culled servers with the cause and the measurements,
// and that later news does not change it.
func TestCulled(t *testing.T) {
	b := basisOf(map[string][]int{"ann": {20, 40, 10}, "bob": {80, 38, -1}, "zoe": {20, 40, 10}})
	b.Criteria.Blacklist = []netip.Prefix{netip.PrefixFrom(addr(0).Addr(), 32)}
	b.Estimated = map[string]float64{"zoe": 9}
	var c Choice
	c.Take(c.Try(b))
	b.Servers.Infos[2] = &discovery.Info{Name: "renamed", MaxPlayers: 1}
	lists := c.record.Culled()
	lost := lists[selection.Unreachable]
	if lost.Total != 1 || len(lost.Servers) != 1 || lost.Cause != "unreachable" {
		t.Fatalf("the lists are %+v", lists)
	}
	one := lost.Servers[0]
	if one.Addr != addr(2).String() || one.Name != "server 2" || !slices.Equal(one.Players, []string{"bob"}) ||
		!maps.Equal(one.RTT, map[string]float64{"ann": 10}) {
		t.Errorf("out of reach is %+v", one)
	}
	if lists[selection.Blacklisted].Total != 1 || len(lists) != 2 {
		t.Errorf("the lists are %+v", lists)
	}
	if lists := (*Record)(nil).Culled(); len(lists) > 0 {
		t.Errorf("without a choice the lists are %+v", lists)
	}
}

// TestCulledNames checks that the record has the names of the time, and stays the same one until
// there are others.
func TestCulledNames(t *testing.T) {
	var c Choice
	c.Take(c.Try(basisOf(map[string][]int{"1": {20, 10}, "2": {20, -1}})))
	c.Note(c.record.basis, people.NewNames(map[people.ID]string{"1": "ann", "2": "bob"}))
	before := c.record
	names := people.NewNames(map[people.ID]string{"1": "ann", "2": "ben"})
	after, isKnown := c.Record(names)
	if again, _ := c.Record(names); !isKnown || again != after {
		t.Error("the record is not the same for the same names")
	}
	for record, want := range map[*Record]string{before: "bob", after: "ben"} {
		if one := record.Culled()[selection.Unreachable].Servers[0]; !slices.Equal(one.Players, []string{want}) ||
			!maps.Equal(one.RTT, map[string]float64{"ann": 10}) {
			t.Errorf("out of reach for %s is %+v", want, one)
		}
	}
	if _, isOfThem := c.Basis([]people.ID{"1", "2"}); !isOfThem || c.record != after {
		t.Error("a basis has another record")
	}
}

// TestManyCulled checks that a list has no more servers than people read, and says how many there
// are.
func TestManyCulled(t *testing.T) {
	rows := map[string][]int{"ann": slices.Repeat([]int{-1}, maxCulled+5)}
	rows["ann"][0] = 10
	var c Choice
	c.Take(c.Try(basisOf(rows)))
	if list := c.record.Culled()[selection.Unreachable]; list.Total != maxCulled+4 || len(list.Servers) != maxCulled {
		t.Errorf("%d are listed of %d", len(list.Servers), list.Total)
	}
}

// TestForgetSaid checks that the record keeps no more of the list's facts than the room, and that
// its readers lose nothing.
func TestForgetSaid(t *testing.T) {
	b := basisOf(map[string][]int{"ann": {20, -1}})
	delete(b.Servers.Infos, 1)
	b.Servers.Said = discovery.Said{Infos: map[netip.AddrPort]*discovery.Info{addr(1): {Name: "listed", AsListed: true}}}
	var c Choice
	c.ForgetSaid(discovery.Said{}) // of nothing
	c.Take(c.Try(b))
	before := c.record
	c.ForgetSaid(discovery.Said{})
	for i, record := range []*Record{before, c.record} {
		if name := record.Culled()[selection.Unreachable].Servers[0].Name; name != []string{"listed", ""}[i] {
			t.Errorf("record %d calls it %q", i, name)
		}
	}
}

// TestAllow checks that a higher limit is tried after the stricter ones, if the rule needs limits.
func TestAllow(t *testing.T) {
	ms := func(limits ...int) (all wire.Limits) {
		for _, l := range limits {
			all = append(all, time.Duration(l)*time.Millisecond)
		}
		return all
	}
	for _, tt := range []struct {
		by      selection.Rule
		limits  wire.Limits
		limitMS float64
		want    wire.Limits
	}{
		{selection.Threshold, ms(100), 185, ms(100, 185)},
		{selection.Threshold, ms(100), 184.2, ms(100, 185)},
		{selection.Threshold, ms(50, 100), 80, ms(50, 80)},
		{selection.Threshold, ms(100), 100, ms(100)},
		{selection.Mean, ms(50, 100), 185, ms(185)},
		{selection.Mean, nil, 1000, ms(1000)},
		{selection.Mean, nil, 1000.5, nil},
		{selection.Mean, nil, 0, nil},
	} {
		s, err := Allow(wire.Settings{Game: "openarena", By: tt.by, Limits: tt.limits}, tt.limitMS)
		if (err == nil) != (tt.want != nil) || err == nil && !slices.Equal(s.Limits, tt.want) {
			t.Errorf("%g ms by %s beside %v: %v, %v", tt.limitMS, tt.by, tt.limits, s.Limits, err)
		}
	}
}

// TestLack checks that people read how many servers were culled, why, and which players some do not
// let in.
func TestLack(t *testing.T) {
	for want, s := range map[string]selection.Selection{
		"": {},
		"3 without enough free seats, 2 of the wrong kind, 6 unwanted": {Culled: selection.Culled{
			Full:        3,
			Filtered:    1,
			Unknown:     1,
			Hygiene:     1,
			Blacklisted: 2,
			Vetoed:      3,
		}},
		"1 unreachable for someone, 2 with a password, 3 hidden by someone, 4 off-limits for someone’s ping, 5 " +
			"too far for someone, 6 not measured by everyone": {
			Culled: selection.Culled{Unreachable: 1, Passworded: 2, Hidden: 3, PingLimits: 4, OverThreshold: 5, Unmeasured: 6}},
		"2 with another version": {Culled: selection.Culled{WrongVersion: 2}},
		"2 with another version than ann and ben have": {Culled: selection.Culled{WrongVersion: 2}, Reasons: []selection.Reason{
			{Cause: selection.WrongVersion, Players: []string{"ben"}}, {Cause: selection.Unreachable, Players: []string{"cat"}},
			{Cause: selection.WrongVersion, Players: []string{"ben", "ann"}}}},
	} {
		got := catalogue.InEnglish().Words("room.none-suits", "why", Lack(&s))
		if want = "no server suits everyone: " + want; got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

// TestView checks that people see the named servers by name, and the players whom these shut out.
func TestView(t *testing.T) {
	var c Choice
	if c.View(Facts{}) != nil || c.ViewWhatIf(Facts{}) != nil {
		t.Error("there is something to see of nothing")
	}
	b := two()
	b.Servers.Infos[0].Version, b.Servers.Infos[0].Protocol = "5.14.0", 49
	c.Take(c.Try(b))
	f := Facts{
		Servers: b.Servers, Players: []people.ID{"ann", "bob"}, Stands: *c.Newest(), Target: 0, IsOpen: true,
		Editions:   []selection.Edition{{Player: "ben", Edition: discovery.Edition{Version: "5.6", Protocol: 41}}},
		Weightiest: selection.Influence{Player: "bob", Addr: hostport.At(addr(0))},
		Others:     []wire.Advice{{Action: "await", Addr: addr(2).String()}, {Action: "more"}},
	}
	v := c.View(f)
	if card := v.Servers[addr(0).String()]; card.Name != "server 0" || card.Country != "DE" || !slices.Equal(card.Shut, []string{"ben"}) {
		t.Errorf("the card of server 0 is %+v", card)
	}
	if v.Servers[addr(2).String()].Name != "server 2" || len(v.Servers) != 3 || v.Target != addr(0).String() {
		t.Errorf("it shows %+v, and goes to %s", v.Servers, v.Target)
	}
	if text := strings.Join(catalogue.InEnglish().SayAll(v.Explain), " "); !strings.Contains(text, "server 1 ("+addr(1).String()+")") {
		t.Errorf("it is explained so: %s", text)
	}
	word := wire.Advice{Action: "without", Argument: wire.Argument{Name: "bob"}, Addr: addr(0).String()}
	if want := append([]wire.Advice{word}, f.Others...); !reflect.DeepEqual(v.Advice, want) {
		t.Errorf("it advises %+v, want %+v", v.Advice, want)
	}
	f.Players = []people.ID{"ann"}
	if v := c.View(f); len(v.Advice) != 2 {
		t.Errorf("of who has left it advises %+v", v.Advice)
	}
	f.Players, f.IsOpen, f.Target = []people.ID{"ann", "bob"}, false, -1
	if v := c.View(f); len(v.Advice) != 2 || v.Target != "" {
		t.Errorf("where nothing can change it advises %+v, and goes to %q", v.Advice, v.Target)
	}
}

// TestNames checks that people see names for IDs, whatever decided, and those of the time.
func TestNames(t *testing.T) {
	ann, bob := people.Nth(1), people.Nth(2)
	names := people.NewNames(map[people.ID]string{ann: "ann", bob: "bob"})
	b := basisOf(map[string][]int{string(ann): {20, 40, 10}, string(bob): {80, 38, -1}})
	b.Servers.Infos[0].Version, b.Servers.Infos[0].Protocol = "5.14.0", 49
	none := b
	none.Criteria = nothing().Criteria
	for _, tt := range []struct {
		name   string
		b      selection.Basis
		stands func(selection.Selection) selection.Selection
	}{
		{"the rule", b, func(s selection.Selection) selection.Selection { return s }},
		{"votes for the same", b, func(s selection.Selection) selection.Selection { return s.Voted(1, 2, 2, true) }},
		{"votes for another", b, func(s selection.Selection) selection.Selection { return s.Voted(0, 1, 2, false) }},
		{"nothing suits", none, func(s selection.Selection) selection.Selection { return s }},
	} {
		var c Choice
		c.Take(c.Try(tt.b))
		c.Suppose(bob, json.RawMessage(`{}`), tt.b)
		f := Facts{
			Servers: b.Servers, Names: names, Players: []people.ID{ann, bob}, Stands: tt.stands(*c.Newest()), Target: -1, IsOpen: true,
			Editions:   []selection.Edition{{Player: "ann", Edition: discovery.Edition{Version: "5.6", Protocol: 41}}},
			Weightiest: selection.Influence{Player: string(bob), Addr: hostport.At(addr(0))},
		}
		v, whatIf := c.View(f), c.ViewWhatIf(f)
		if data, err := json.Marshal([]*wire.Choice{v, whatIf}); err != nil || strings.Contains(string(data), `\u0001`) {
			t.Errorf("%s: people see %s, %v", tt.name, data, err)
		}
		if shut := v.Servers[addr(0).String()].Shut; whatIf.Player != "bob" || !slices.Equal(shut, []string{"ann"}) ||
			!slices.ContainsFunc(v.Advice, func(a wire.Advice) bool { return a.Action == "without" && a.Argument.Name == "bob" }) {
			t.Errorf("%s: %q supposes, %v are shut out, and the advice is %+v", tt.name, whatIf.Player, shut, v.Advice)
		}
		if s := f.Stands.Named(names.Text); !reflect.DeepEqual(v.Explain, f.view(s, s).Explain) || !reflect.DeepEqual(v.Decided, s.Decided) {
			t.Errorf("%s: %+v is explained so: %v", tt.name, v.Decided, v.Explain)
		}
		isSame := func(is *wire.Choice) bool { return &is.Selection.Players[0] == &v.Selection.Players[0] }
		if !isSame(c.View(f)) {
			t.Errorf("%s: the same names are given again", tt.name)
		}
		f.Names = people.NewNames(map[people.ID]string{ann: "ann", bob: "ben"})
		later := c.View(f)
		if is, was := later.Selection.Players, v.Selection.Players; is[1] != "ben" || was[1] != "bob" || c.ViewWhatIf(f).Player != "ben" {
			t.Errorf("%s: of %v have become %v", tt.name, was, is)
		}
		refined := *c.Newest()
		refined.LookedS = 5
		c.Refine(refined)
		if c.View(f).Selection.LookedS != 5 {
			t.Errorf("%s: an older choice is seen", tt.name)
		}
	}
}

// TestNamesOfTheUnchosen checks that an explanation has the names of servers that are not in the
// ranking: those that nearly suit everyone, and the last round's.
func TestNamesOfTheUnchosen(t *testing.T) {
	f := Facts{Servers: basisOf(map[string][]int{"ann": {20, 10}}).Servers}
	for name, s := range map[string]selection.Selection{
		"the nearest":    {Why: &selection.Why{Nearest: &selection.Miss{Addr: hostport.At(addr(1))}}},
		"a higher limit": {Why: &selection.Why{Relax: []selection.Relax{{Give: selection.OverThreshold, Addr: hostport.At(addr(1))}}}},
		"fewer players":  {Why: &selection.Why{Relax: []selection.Relax{{Give: selection.Unreachable, Player: "ann", Frees: 1, Addr: hostport.At(addr(1))}}}},
		"the last one":   {Keep: &selection.Stay{Addr: hostport.At(addr(1)), Gain: 3}},
	} {
		if text := strings.Join(catalogue.InEnglish().SayAll(f.view(s, s).Explain), " "); !strings.Contains(text, "server 1 ("+addr(1).String()+")") {
			t.Errorf("%s: it is explained so: %s", name, text)
		}
	}
}

// TestAdvice checks that the advice, if nothing suits everyone, gives the highest limit first, then
// the players to leave out, each once.
func TestAdvice(t *testing.T) {
	b := nothing()
	way := func(player string, give selection.Cause, server int, limitMS float64) selection.Relax {
		return selection.Relax{Player: player, Give: give, Addr: hostport.At(addr(server)), Frees: 2, LimitMS: limitMS}
	}
	relax := []selection.Relax{
		way("bob", selection.OverThreshold, 0, 0),
		way("bob", selection.Unreachable, 2, 0), // once is enough
		way("ann", selection.Unmeasured, 1, 0),  // no reason to leave ann out
		way("eve", selection.OverThreshold, 1, 0),
		way("", selection.OverThreshold, 1, 39.4),
		way("", selection.OverThreshold, 1, 1000.5),
		way("", selection.Unreachable, 1, 0),
		way("", selection.OverThreshold, 99, 50),
	}
	allow := wire.Advice{Action: "allow", Argument: wire.Argument{LimitMS: 40}, Servers: 2, Addr: addr(1).String()}
	without := wire.Advice{Action: "without", Argument: wire.Argument{Name: "bob"}, Servers: 2, Addr: addr(0).String()}
	for _, tt := range []struct {
		name    string
		players []string
		chosen  *selection.Ranked
		isOpen  bool
		want    []wire.Advice
	}{
		{"nothing suits", []string{"ann", "bob"}, nil, true, []wire.Advice{allow, without}},
		{"for one alone", []string{"bob"}, nil, true, []wire.Advice{allow}},
		{"too late", []string{"ann", "bob"}, nil, false, nil},
		{"something suits", []string{"ann", "bob"}, &selection.Ranked{Server: 1, Addr: hostport.At(addr(1))}, true, nil},
	} {
		c := Choice{state: State{Newest: &selection.Selection{
			By:      selection.Threshold,
			Chosen:  tt.chosen,
			Players: tt.players,
			Why:     &selection.Why{Relax: relax},
		}}}
		v := c.View(Facts{Servers: b.Servers, Players: []people.ID{"ann", "bob"}, Limits: b.Criteria.Limits, IsOpen: tt.isOpen, Target: -1})
		if !reflect.DeepEqual(v.Advice, tt.want) {
			t.Errorf("%s: it advises %+v, want %+v", tt.name, v.Advice, tt.want)
		}
		if isTold := len(tt.want) > 0; isTold != (v.Miss != nil) || isTold && (v.Miss.Addr != addr(1).String() || v.Miss.LimitMS != 30) {
			t.Errorf("%s: what came nearest is %+v", tt.name, v.Miss)
		}
		for _, advice := range tt.want {
			if v.Servers[advice.Addr].Name == "" {
				t.Errorf("%s: nobody knows what %s is", tt.name, advice.Addr)
			}
		}
	}
}

// TestCriteria checks that a spare seat is worth a little, unless a room is tuned.
func TestCriteria(t *testing.T) {
	for spare, want := range map[time.Duration]time.Duration{0: spareSeat, -1: 0, time.Millisecond: time.Millisecond} {
		if c := Criteria(wire.Settings{By: selection.Minimax}, spare); c.Spare != want || c.By != selection.Minimax ||
			c.Top == 0 || c.Reasons == 0 {
			t.Errorf("a spare seat of %v is worth %v", spare, c.Spare)
		}
	}
}

// TestSaved checks the form of the section.
func TestSaved(t *testing.T) {
	var c Choice
	section := func() string {
		data, err := json.Marshal(struct {
			Choice State `json:"choice,omitzero"`
		}{*c.State()})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if got := section(); got != `{}` {
		t.Errorf("nothing is saved as %s", got)
	}
	c.Take(selection.Selection{By: selection.Mean, Players: []string{"ann"}})
	c.Suppose("zoe", json.RawMessage(`{"by":"minimax"}`), basisOf(map[string][]int{"ann": {20}}))
	c.state.WhatIf.Selection = selection.Selection{By: selection.Minimax, Players: []string{"ann"}}
	const of = `{"format":"","by":"%s","players":["ann"],"chosen":null,"ranking":null,` +
		`"culled":{"unmeasured":0,"unreachable":0,"full":0,"filtered":0,"over_threshold":0},"reasons":null}`
	want := fmt.Sprintf(`{"choice":{"selection":`+of+`,"what_if":{"player":"zoe","patch":{"by":"minimax"},"selection":`+
		of+`}}}`, "mean", "minimax")
	if got := section(); got != want {
		t.Errorf("it is saved as %s, want %s", got, want)
	}
}

// TestRestore checks that restored servers are found by their addresses, and that an unlisted one
// is an error.
func TestRestore(t *testing.T) {
	b := two()
	var c Choice
	c.Take(c.Try(b))
	c.NoteInfluence(b)
	c.Suppose("zoe", json.RawMessage(`{"by":"minimax"}`), b)
	data, err := json.Marshal(c.State())
	if err != nil {
		t.Fatal(err)
	}
	restored := func(list []discovery.Server) (c Choice, err error) {
		if err := json.Unmarshal(data, c.State()); err != nil {
			t.Fatal(err)
		}
		return c, c.State().Place(list)
	}
	list := append(slices.Clone(b.Servers.List), discovery.Server{Addr: addr(9)})
	slices.Reverse(list)
	back, err := restored(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*selection.Selection{back.Newest(), &back.state.WhatIf.Selection} {
		if server(s) != 2 || s.Ranking[1].Server != 3 || s.Ranking[1].Addr.AddrPort != addr(0) {
			t.Errorf("restored it is %+v", s)
		}
	}
	if reasons := back.Newest().Reasons; len(reasons) != 1 || reasons[0].Server != 1 {
		t.Errorf("left out is %+v", reasons)
	}
	if _, isKnown := back.Record(nil); isKnown {
		t.Error("what a restored choice was made from is known")
	}
	if again, err := json.Marshal(back.State()); err != nil || string(again) != string(data) {
		t.Errorf("saved again it is %s, was %s", again, data)
	}
	for n := range list {
		if back, err := restored(list[:n]); err == nil {
			t.Errorf("of %d servers it restores %+v", n, back.Newest())
		}
	}
}
