package captains_test

import (
	"slices"
	"testing"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/bans"
	"muster/host/room/captains"
	"muster/host/room/facts/factstest"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// match returns a match of ann and ben against emil, whose captains ban two of three servers.
func match(t *testing.T) *factstest.Group {
	s := factstest.Settings()
	s.Match, s.SideA = "bo1", "Nightjars"
	g := factstest.New(t, s, 3, "ann", "ben", "emil")
	for _, player := range []people.ID{"ann", "ben"} {
		g.Sides.Join(player, wire.SideA)
	}
	g.Sides.Join("emil", wire.SideB)
	g.SettleSides()
	g.Measures("ann", 10, 20, 30)
	g.Measures("ben", 20, 30, 40)
	g.Measures("emil", 31, 21, 11)
	g.Chooses()
	g.Bans, _ = bans.Begin(bans.Setup{Servers: captains.Ranked(g.F), Order: []string{wire.Ban, wire.Ban}, Clock: 30 * time.Second}, g.Now)
	return g
}

// tick lets time pass. A side whose captain has left gets another, as in the room.
func tick(g *factstest.Group, now roomtime.Time) []sentence.Sentence {
	notes, left := captains.Tick(g.F, &g.Bans, factstest.ClocksAt(now))
	if left != "" {
		notes = g.F.SideNotes(g.Sides.Replace(left, captains.Available(g.F)))
	}
	return notes
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
	first := g.Servers.List[0].Addr.String()
	for _, wrong := range []captains.Attempt{
		{Number: 1, By: "emil", What: first}, {Number: 2, By: "ann", What: first}, {Number: 1, By: "ann", What: "192.0.2.99:1"},
	} {
		if _, err := captains.Move(g.F, &g.Bans, wrong, factstest.ClocksAt(g.Now)); err == nil {
			t.Errorf("%+v is a move", wrong)
		}
	}
	notes, err := captains.Move(g.F, &g.Bans, captains.Attempt{Number: 1, By: "ann", What: first}, factstest.ClocksAt(g.Now))
	if err != nil || !slices.Equal(said(notes), []string{"ann bans " + g.Servers.Called(0)}) {
		t.Errorf("%q, %v", said(notes), err)
	}
	if notes := tick(g, g.Now.Add(29*time.Second)); notes != nil {
		t.Errorf("too early: %q", said(notes))
	}
	if _, err := g.Roster.Rename(g.F.Person("emil"), "otto", g.Now); err != nil {
		t.Fatal(err)
	}
	var m wire.Match
	captains.View(g.F, &g.Bans, &m, factstest.ClocksAt(g.Now))
	if len(m.Servers) != 3 || len(m.Moves) != 1 || m.Turn == nil || m.Moves[0].By != "ann" || m.Turn.Captain != "otto" || m.Even != nil {
		t.Errorf("people see %+v", m)
	}
	late := tick(g, g.Now.Add(30*time.Second))
	if len(late) != 2 || !g.Bans.IsOver() || len(captains.Fallbacks(g.F, &g.Bans)) == 0 || captains.Fallbacks(g.F, &g.Bans)[0] != g.Bans.Server() {
		t.Errorf("%q, then %v", said(late), captains.Fallbacks(g.F, &g.Bans))
	}
	if captains.View(g.F, &g.Bans, &m, factstest.ClocksAt(g.Now)); len(m.Even) != 3 {
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
	if captains.IsCaptainAway(g.F, &g.Bans) {
		t.Error("ann is away")
	}
	g.Attendance.Leave("ann", g.Now)
	if !captains.IsCaptainAway(g.F, &g.Bans) {
		t.Error("ann is there")
	}
	if notes := tick(g, g.Now.Add(time.Second)); notes != nil {
		t.Errorf("at once: %q", said(notes))
	}
	notes := said(tick(g, g.Now.Add(15*time.Second)))
	if g.Sides.Captain(wire.SideA) != "ben" || !slices.Equal(notes, []string{"ben is captain of Nightjars"}) {
		t.Errorf("%q, and the captain is %s", notes, g.Sides.Captain(wire.SideA))
	}
}
