package places

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
	"muster/discovery/hostport"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
)

var eight = roomtime.Opening

// lost stands for a place that does not answer.
const lost = -1

// group is people in a room with places.
type group struct {
	*testing.T
	Survey
	scene Scene
	now   roomtime.Time
	news  News // since the last look at it
}

// venues returns places of these names.
func venues(names ...string) (vs wire.Venues) {
	for i, name := range names {
		addr := netip.AddrFrom4([4]byte{203, 0, 113, byte(i + 1)})
		vs = append(vs, wire.Venue{Name: name, Addr: hostport.At(netip.AddrPortFrom(addr, 7787)), Protocol: "beacon"})
	}
	return vs
}

// far returns the origin of a player elsewhere, and near of one on the host's network.
func far(last byte) Player {
	return Player{Person: people.Person{IsHere: true}, Addr: netip.AddrFrom4([4]byte{203, 0, 113, last})}
}
func near(at string) Player {
	return Player{Person: people.Person{IsHere: true}, Beside: netip.MustParseAddr(at)}
}

func (g *group) player(id people.ID) *Player {
	at := slices.IndexFunc(g.scene.Players, func(p Player) bool { return p.ID == id })
	if at < 0 {
		g.scene.Players = append(g.scene.Players, Player{Person: people.Person{ID: id, Name: string(id), IsHere: true}})
		at = len(g.scene.Players) - 1
	}
	return &g.scene.Players[at]
}

// comes lets a player's program join from an origin, with a beacon at a port.
func (g *group) comes(player people.ID, program string, from Player, beacon uint16) {
	from.ID, from.Name = player, string(player)
	*g.player(player) = from
	g.Come(player, program, beacon)
	g.news.add(g.Ask(player, g.scene, g.now))
}

func (g *group) begins() {
	g.Helper()
	news, err := g.Begin(g.scene, g.now)
	if err != nil {
		g.Fatal(err)
	}
	g.news.add(news)
}

// says reports a player's findings of a survey, in ms by place.
func (g *group) says(player people.ID, attempt int, ms ...int) {
	g.Helper()
	m := wire.Surveyed{Attempt: attempt}
	for place, rtt := range ms {
		f := wire.Finalist{Server: place, State: discovery.Lost}
		if rtt != lost {
			f.State, f.RTTs = discovery.Answered, []float64{float64(rtt) + 5, float64(rtt)}
		}
		m.Places = append(m.Places, f)
	}
	news, err := g.Heard(player, m, g.scene)
	if err != nil {
		g.Fatal(err)
	}
	g.news.add(news)
}

// asked returns the questions to a player since the last time.
func (g *group) asked(player people.ID) (asked []wire.Survey) {
	g.news.Asks = slices.DeleteFunc(g.news.Asks, func(a Ask) bool {
		if a.To == player {
			asked = append(asked, a.Survey)
		}
		return a.To == player
	})
	return asked
}

// noted returns the notes since the last time.
func (g *group) noted() string {
	var texts []string
	for _, note := range g.news.Notes {
		texts = append(texts, catalogue.InEnglish().Say(note))
	}
	text := strings.Join(texts, "; ")
	g.news.Notes = nil
	return text
}

func (g *group) sites() *wire.Sites {
	_, sites := g.View(g.scene, nil)
	return sites
}

// choice returns one for ann and cat, whose best server gives them 10 and 190 ms. Nothing suits
// them if the limit is stricter.
func choice(limit time.Duration) (*selection.Selection, selection.Basis) {
	table := selection.NewTable([]string{"ann", "cat"}, 2)
	for server, rtts := range [][]int{{10, 190}, {40, 185}} {
		for player, rtt := range rtts {
			table.Set(player, server, discovery.Answered, time.Duration(rtt)*time.Millisecond)
		}
	}
	servers := selection.Servers{List: make([]discovery.Server, 2), Infos: map[int]*discovery.Info{}}
	for i := range servers.List {
		servers.Infos[i] = &discovery.Info{MaxPlayers: 16}
		servers.List[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), 27960)
	}
	b := selection.Basis{Servers: servers, Table: table, Criteria: selection.Criteria{By: selection.Mean}}
	if limit > 0 {
		b.Criteria.By, b.Criteria.Limits = "threshold", []time.Duration{limit}
	}
	selected := b.Select()
	return &selected, b
}

// chosen returns a group of ann and cat after a choice. They measure places.
func chosen(t *testing.T, limit time.Duration, names ...string) (*group, selection.Basis) {
	t.Helper()
	selected, basis := choice(limit)
	g := &group{T: t, now: eight}
	g.scene = Scene{Places: venues(names...), Selection: selected, Criteria: basis.Criteria}
	g.comes("ann", "1", far(1), 0)
	g.comes("cat", "2", far(2), 0)
	g.news.add(g.BeginOnce(g.scene, g.now))
	if g.NeedsComparison(selected) {
		g.news.add(g.Compare(basis, g.scene))
	}
	if g.NeedsComparison(selected) {
		t.Error("the survey lacks what it has")
	}
	return g, basis
}

// machines returns what is asked of places, as a text.
func machines(places wire.Venues) string {
	var texts []string
	for _, v := range places {
		texts = append(texts, fmt.Sprintf("{%s %v %s}", v.Name, v.Addr, v.Protocol))
	}
	return fmt.Sprint(texts)
}

// TestSites checks that everyone measures the places once, and that the room's rule says where a
// server would suit.
func TestSites(t *testing.T) {
	g, _ := chosen(t, 100*time.Millisecond, "London", "Frankfurt", "Sydney", "Paris")
	g.news.add(g.BeginOnce(g.scene, g.now))
	for _, player := range []people.ID{"ann", "cat"} {
		if got := g.asked(player); len(got) != 1 || got[0].Attempt != 1 || got[0].Samples != samples ||
			!got[0].Places.Equal(g.scene.Places) {
			t.Errorf("%s is asked %+v", player, got)
		}
	}
	if got := g.noted(); got != "everyone measures 4 places for a server of our own" {
		t.Errorf("noted is %q", got)
	}
	if got := g.sites(); got == nil || !got.Answer.IsZero() || !slices.Equal(got.Waiting, []string{"ann", "cat"}) {
		t.Errorf("before anybody has answered: %+v", got)
	}
	g.says("ann", 1, 40, 34, 300, 20)
	g.says("cat", 1, 60, 62, 20, lost)
	candidates, sites := g.View(g.scene, nil)
	var order []string
	for _, s := range sites.Sites {
		order = append(order, fmt.Sprintf("%s %v %v %v", s.Name, s.Suits, s.Figures, s.Silent))
	}
	want := []string{"Frankfurt true 48/62 []", "London true 50/60 []", "Sydney false 160/300 []", "Paris false 0/0 [cat]"}
	if !slices.Equal(order, want) || !sites.Better || len(sites.Waiting) != 0 || *sites.Now != (wire.Figures{MeanMS: 100, MaxMS: 190}) {
		t.Errorf("%q, %+v", order, sites)
	}
	if !slices.Equal(candidates, []string{"London", "Frankfurt", "Sydney", "Paris"}) {
		t.Errorf("candidates are %q", candidates)
	}
	g.says("cat", 1, 1, 1, 1, 1) // the second answer changes nothing
	if got := g.sites(); !reflect.DeepEqual(got, sites) {
		t.Errorf("of a second answer comes %+v", got)
	}
}

// TestAnswers checks the sentences about the results of a survey. People read each once.
func TestAnswers(t *testing.T) {
	const strict, loose = 100 * time.Millisecond, 200 * time.Millisecond
	for _, tt := range []struct {
		name     string
		limit    time.Duration
		ann, cat []int
		want     string
		better   bool
	}{
		{"suits where nothing does", strict, []int{60, 30}, []int{60, 90}, "your own server would suit " +
			"everyone: A would give 60/60 ms (average/worst), B 60/90; the best existing server gives 100/190", true},
		{"beyond the limit, too", strict, []int{60, 30}, []int{120, 150}, "your own server at one of your places would " +
			"be no better: A would give 90/120 ms (average/worst), B 90/150; the best existing server gives 100/190", false},
		{"silent for one", strict, []int{60, lost}, []int{lost, lost}, "no place works for all of you: A didn’t answer cat", false},
		{"silent", strict, []int{lost, lost}, []int{lost, lost},
			"no place answered: is muster beacon running there, and is its UDP port open?", false},
		{"much better than what suits", loose, []int{60, 30}, []int{60, 55}, "your own server would suit " +
			"everyone: B would give 42/55 ms (average/worst), A 60/60; the best existing server gives 100/190", true},
		{"hardly better than what suits", loose, []int{60, 90}, []int{120, 90}, "your own server wouldn’t " +
			"be much better: A would give 90/120 ms (average/worst), B 90/90; the best existing server gives 100/190", false},
		{"not all suit", strict, []int{60, 30}, []int{60, 150},
			"your own server would suit everyone: A would give 60/60 ms (average/worst); the best existing server gives 100/190", true},
		{"four", strict, []int{4, 3, 2, 1}, []int{4, 3, 2, 1}, "your own server would suit everyone: D would " +
			"give 1/1 ms (average/worst), C 2/2, B 3/3; the best existing server gives 100/190", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, _ := chosen(t, tt.limit, []string{"A", "B", "C", "D"}[:len(tt.ann)]...)
			g.noted()
			g.says("ann", 1, tt.ann...)
			g.says("cat", 1, tt.cat...)
			if got := g.sites(); catalogue.InEnglish().Say(got.Answer) != tt.want || got.Better != tt.better {
				t.Errorf("better %v: %v", got.Better, got.Answer)
			}
			g.news.add(g.BeginOnce(g.scene, g.now))
			if got := g.noted(); got != tt.want {
				t.Errorf("noted is %q", got)
			}
		})
	}
}

// TestComparedLater checks that the answer compares with nothing before there is a choice.
// Afterwards people read how much better a server of their own would be.
func TestComparedLater(t *testing.T) {
	selected, basis := choice(100 * time.Millisecond)
	g := &group{T: t, now: eight, scene: Scene{Places: venues("A"), Criteria: basis.Criteria}}
	for _, player := range []people.ID{"ann", "cat"} {
		g.player(player)
	}
	g.begins()
	g.noted()
	if g.NeedsComparison(nil) {
		t.Error("the survey lacks a choice")
	}
	g.says("ann", 1, 20)
	g.says("cat", 1, 30)
	if got, want := g.noted(), "your own server: A would give 25/30 ms (average/worst)"; got != want {
		t.Errorf("noted is %q, want %q", got, want)
	}
	g.scene.Selection = selected
	if got := g.sites(); got.Now != nil || !strings.HasSuffix(catalogue.InEnglish().Say(got.Answer), "; no server answers all of you") {
		t.Errorf("before it is known what is the best: %+v", got)
	}
	if !g.NeedsComparison(selected) {
		t.Error("the survey lacks nothing to compare with")
	}
	g.news.add(g.Compare(basis, g.scene))
	want := "your own server would suit everyone: A would give 25/30 ms (average/worst); the best existing server gives 100/190"
	if got := g.noted(); got != want {
		t.Errorf("noted is %q, want %q", got, want)
	}
}

// TestCompare checks that the best server without limits is the best for the players of the choice.
func TestCompare(t *testing.T) {
	g, basis := chosen(t, 5*time.Millisecond, "A")
	g.says("ann", 1, 4)
	g.player("cat").IsLeftOut = true
	selected := *g.scene.Selection
	g.scene.Selection = &selected
	g.Compare(basis, g.scene)
	if got := g.sites().Now; got == nil || *got != (wire.Figures{MeanMS: 10, MaxMS: 10}) {
		t.Errorf("the best server gives %+v", got)
	}
}

// TestGroup checks that a place has to suit the players of the choice or, before there is one,
// those who are here or have answered.
func TestGroup(t *testing.T) {
	g, _ := chosen(t, 0, "A")
	g.player("bob")
	g.says("ann", 1, 20)
	g.player("ann").IsHere = false
	selected := g.scene.Selection
	for _, tt := range []struct {
		name     string
		selected *selection.Selection
		leftOut  people.ID
		want     []string
	}{
		{"before a choice", nil, "", []string{"ann", "cat", "bob"}},
		{"before a choice, without one", nil, "bob", []string{"ann", "cat"}},
		{"after it", selected, "", []string{"ann", "cat"}},
		{"after it, without one", selected, "cat", []string{"ann"}},
	} {
		g.scene.Selection = tt.selected
		for i := range g.scene.Players {
			g.scene.Players[i].IsLeftOut = g.scene.Players[i].ID == tt.leftOut
		}
		if got := g.group(g.scene); !slices.Equal(got, tt.want) {
			t.Errorf("%s it is %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestByLeastSacrifice checks that a player's sacrifice at a place is compared with the player's
// best server. So a place near a player with a near server is worth more than the middle.
func TestByLeastSacrifice(t *testing.T) {
	g, basis := chosen(t, 0, "A", "B")
	basis.Criteria.By = "least-sacrifice"
	selected := basis.Select()
	g.scene.Criteria, g.scene.Selection = basis.Criteria, &selected
	g.says("ann", 1, 60, 12)
	g.says("cat", 1, 60, 100)
	if got := g.sites(); got.Sites[0].Name != "B" {
		t.Errorf("%+v", got)
	}
}

// TestAnew checks that a player who comes later measures the places too, and that the others do so
// again only for the organiser or for another list.
func TestAnew(t *testing.T) {
	g, _ := chosen(t, 100*time.Millisecond, "A")
	g.says("ann", 1, 20)
	g.says("cat", 1, 30)
	g.asked("ann")
	g.comes("ann", "2", far(1), 0)
	if got := g.asked("ann"); len(got) > 0 {
		t.Errorf("ann, who has measured them, is asked %+v", got)
	}
	if g.comes("dan", "1", far(3), 0); len(g.asked("dan")) != 1 {
		t.Error("dan is not asked")
	}
	g.scene.Players = g.scene.Players[:2]
	if _, err := g.Begin(g.scene, g.now); err == nil {
		t.Error("the places are measured again at once")
	}
	g.now = g.now.Add(pause)
	g.begins()
	if got := g.sites(); !slices.Equal(got.Waiting, []string{"ann", "cat"}) {
		t.Errorf("waiting for %q", got.Waiting)
	}
	for _, tt := range []struct {
		name    string
		message wire.Surveyed
		err     string
	}{
		{"of the survey before", wire.Surveyed{Attempt: 1, Places: []wire.Finalist{{Server: 7}}}, ""},
		{"of a place that is none", wire.Surveyed{
			Attempt: 2,
			Places:  []wire.Finalist{{Server: 1, State: discovery.Lost}},
		}, "a ping of place 1 of 1"},
		{"of one before the first", wire.Surveyed{Attempt: 2, Places: []wire.Finalist{{Server: -1}}}, "a ping of place -1 of 1"},
		{"without a ping", wire.Surveyed{Attempt: 2, Places: []wire.Finalist{{State: discovery.Answered}}},
			"a place that answered without a ping"},
	} {
		_, err := g.Heard("ann", tt.message, g.scene)
		if got := fmt.Sprint(err); got != tt.err && (err != nil || tt.err != "") || len(g.sites().Waiting) != 2 {
			t.Errorf("%s: %v, and waiting for %q", tt.name, err, g.sites().Waiting)
		}
	}
	g.asked("ann")
	change := func(to ...string) {
		g.scene.Places = venues(to...)
		g.news.add(g.Change(g.scene, g.now))
	}
	if change("X", "Y"); len(g.asked("ann")) != 1 || len(g.State().Found) > 0 {
		t.Errorf("of another list ann is not asked, or %+v is known", g.State().Found)
	}
	if change(); g.sites() != nil {
		t.Errorf("without places people see %+v", g.sites())
	}
	if _, err := g.Begin(g.scene, g.now); err == nil {
		t.Error("no places are measured")
	}
	// Results for a list that was emptied are too late for the next one, too.
	change("Z")
	g.begins()
	if g.says("ann", 1, lost); len(g.sites().Waiting) != 2 {
		t.Errorf("an answer to the first list counts for the third: waiting for %q", g.sites().Waiting)
	}
	if g.state.Attempt != 4 {
		t.Errorf("it is survey %d, want 4", g.state.Attempt)
	}
}

// TestTurns checks that players behind one address measure one after the other.
func TestTurns(t *testing.T) {
	g := &group{T: t, now: eight, scene: Scene{Places: venues("A")}}
	for turn, player := range []people.ID{"ann", "bob", "cat"} {
		g.player(player).Turn = turn
	}
	g.player("cat").IsHere = false
	g.begins()
	if got := g.sites().Waiting; !slices.Equal(got, []string{"ann", "bob"}) {
		t.Errorf("waiting for %q", got)
	}
	for player, want := range map[people.ID]string{"ann": "[0s]", "bob": "[3.3s]", "cat": "[]"} {
		after := []time.Duration{}
		for _, s := range g.asked(player) {
			after = append(after, time.Duration(s.After))
		}
		if fmt.Sprint(after) != want {
			t.Errorf("%s waits %v, want %s", player, after, want)
		}
	}
}

// TestSaved checks the form of the saved section.
func TestSaved(t *testing.T) {
	g := &group{T: t, now: eight}
	g.scene.Places = venues("A")
	g.comes("ann", "1", far(1), 7787)
	g.begins()
	g.news.add(g.Outside("ann", 40001, g.scene, g.now))
	g.says("ann", 2, lost, lost)
	data, err := json.Marshal(g.State())
	const want = `{"attempt":2,"at":31536000000000000,"anew":1,` +
		`"homes":[{"player":"ann","place":{"name":"ann's computer","addr":"203.0.113.1:40001","protocol":"beacon"}}],` +
		`"found":{"ann":{"attempt":2,"found":[{"state":"lost"},{"state":"answered","rtt_ms":0.100}]}}}`
	if err != nil || string(data) != want {
		t.Errorf("it is saved as %s, want %s; %v", data, want, err)
	}
	for _, s := range []State{*g.State(), {Before: 2, IsTold: true}} {
		if err := s.Validate(); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
	for _, s := range []State{
		{Attempt: -1}, {Before: -1}, {Anew: -1}, {Homes: make([]home, wire.MaxVenues+1)},
		{Found: map[people.ID]Found{"ann": {Found: make([]result, wire.MaxVenues+1)}}},
	} {
		if s.Validate() == nil {
			t.Errorf("%+v is a survey", s)
		}
	}
}
