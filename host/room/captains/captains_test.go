package captains_test

import (
	"slices"
	"testing"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/bans"
	"muster/host/room/captains"
	"muster/host/room/group/grouptest"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// match returns a match of ann and ben against emil, whose captains ban two of three servers.
func match(t *testing.T) *grouptest.Group {
	s := grouptest.Settings()
	s.Match, s.SideA = "bo1", "Nightjars"
	g := grouptest.New(t, s, 3, "ann", "ben", "emil")
	for _, player := range []people.ID{"ann", "ben"} {
		g.Sides.Join(player, wire.SideA)
	}
	g.Sides.Join("emil", wire.SideB)
	g.SettleSides()
	g.Measures("ann", 10, 20, 30)
	g.Measures("ben", 20, 30, 40)
	g.Measures("emil", 31, 21, 11)
	g.Chooses()
	g.Bans, _ = bans.Begin(bans.Setup{Servers: captains.Ranked(&g.Group), Order: []string{wire.Ban, wire.Ban}, Clock: 30 * time.Second}, g.Now)
	return g
}

func said(notes []sentence.Sentence) (texts []string) {
	for _, n := range notes {
		texts = append(texts, catalogue.InEnglish().Say(n))
	}
	return texts
}

// TestMoves checks that captains move by the servers' addresses, that the room moves when the time is
// up, and that people see the sides' averages of what is left.
func TestMoves(t *testing.T) {
	g := match(t)
	group := &g.Group
	first := g.Servers.List[0].Addr.String()
	for _, wrong := range []captains.Attempt{
		{Number: 1, By: "emil", What: first}, {Number: 2, By: "ann", What: first}, {Number: 1, By: "ann", What: "192.0.2.99:1"},
	} {
		if _, err := captains.Move(group, wrong, grouptest.ClocksAt(g.Now)); err == nil {
			t.Errorf("%+v is a move", wrong)
		}
	}
	notes, err := captains.Move(group, captains.Attempt{Number: 1, By: "ann", What: first}, grouptest.ClocksAt(g.Now))
	if err != nil || !slices.Equal(said(notes), []string{"ann bans " + g.Servers.Called(0)}) {
		t.Errorf("%q, %v", said(notes), err)
	}
	if notes := captains.Tick(group, grouptest.ClocksAt(g.Now.Add(29*time.Second))); notes != nil {
		t.Errorf("too early: %q", said(notes))
	}
	if _, err := g.Roster.Rename(g.Person("emil"), "otto", true, g.Now); err != nil {
		t.Fatal(err)
	}
	var m wire.Match
	captains.View(group, &m, grouptest.ClocksAt(g.Now))
	if len(m.Servers) != 3 || len(m.Moves) != 1 || m.Turn == nil || m.Moves[0].By != "ann" || m.Turn.Captain != "otto" || m.Even != nil {
		t.Errorf("people see %+v", m)
	}
	late := captains.Tick(group, grouptest.ClocksAt(g.Now.Add(30*time.Second)))
	if len(late) != 2 || !g.Bans.IsOver() || len(captains.Fallbacks(group)) == 0 || captains.Fallbacks(group)[0] != g.Bans.Server() {
		t.Errorf("%q, then %v", said(late), captains.Fallbacks(group))
	}
	if captains.View(group, &m, grouptest.ClocksAt(g.Now)); len(m.Even) != 3 {
		t.Errorf("the delays are %v", m.Even)
	}
	for _, name := range []string{"ann", "ben", "otto"} {
		if _, is := m.Even[name]; !is {
			t.Errorf("%s has no delay: %v", name, m.Even)
		}
	}
}

// TestAway checks that the next of the side replaces a captain who is not there at their own turn, and
// that a captain on the page is there.
func TestAway(t *testing.T) {
	g := match(t)
	group := &g.Group
	if captains.IsAway(group) {
		t.Error("ann is away")
	}
	g.Attendance.Leave("ann", g.Now)
	if !captains.IsAway(group) {
		t.Error("ann is there")
	}
	if notes := captains.Tick(group, grouptest.ClocksAt(g.Now.Add(time.Second))); notes != nil {
		t.Errorf("at once: %q", said(notes))
	}
	notes := said(captains.Tick(group, grouptest.ClocksAt(g.Now.Add(15*time.Second))))
	if g.Sides.Captain(wire.SideA) != "ben" || !slices.Equal(notes, []string{"ben is captain of Nightjars"}) {
		t.Errorf("%q, and the captain is %s", notes, g.Sides.Captain(wire.SideA))
	}
}
