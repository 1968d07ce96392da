package decision_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/host/room/decision"
	"muster/host/room/facts/factstest"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// inMatch returns a match of ann and ben against emil, whose captains ban two of three servers.
func inMatch(t *testing.T) *session {
	n := newSession(t, 3, "ann", "ben", "emil")
	s := factstest.Settings()
	s.Match, s.Order, s.SideA = "bo1", "ban ban", "Nightjars"
	n.Settings = s
	for name, side := range map[people.ID]wire.Side{"ann": wire.SideA, "emil": wire.SideB} {
		n.Sides.Join(name, side)
	}
	n.SettleSides()
	n.Sides.Join("ben", wire.SideA)
	n.Measures("ann", 10, 20, 30)
	n.Measures("ben", 20, 30, 40)
	n.Measures("emil", 31, 21, 11)
	n.Chooses()
	n.d.BeginBans(n.F, n.Now)
	return n
}

// ticks lets time pass. A side whose captain has left gets another, as in the room. It returns what
// people read.
func (n *session) ticks(now roomtime.Time) string {
	notes, left := n.d.TickBans(n.F, factstest.ClocksAt(now))
	if left != "" {
		notes = n.F.SideNotes(n.Sides.Replace(left, decision.Captainable(n.F)))
	}
	return strings.Join(catalogue.InEnglish().SayAll(notes), "; ")
}

// TestBans checks that captains move by the servers' addresses, that people see who moves by their
// names of now, and that both sides get their delays when the match is decided.
func TestBans(t *testing.T) {
	n := inMatch(t)
	now := factstest.ClocksAt(n.Now)
	first := n.Servers.List[0].Addr.String()
	if _, err := n.d.MakeMove(n.F, "ann", 1, "192.0.2.99:1", now); err == nil {
		t.Error("ann bans a server that is not there")
	}
	if _, err := n.d.MakeMove(n.F, "ann", 1, first, now); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Roster.Rename(n.F.Person("emil"), "otto", n.Now); err != nil {
		t.Fatal(err)
	}
	m := n.d.ViewMatch(n.F, now)
	if m.Moves[0].By != "ann" || m.Moves[0].What != first || m.Turn.Captain != "otto" || m.Even != nil || m.Decided {
		t.Errorf("people see %+v", m)
	}
	said := n.ticks(n.Now.Add(wire.UsualTurn))
	if m = n.d.ViewMatch(n.F, now); !m.Decided || m.Turn != nil || len(m.Even) != 3 || m.Even["otto"] == (wire.Even{}) && m.Even["ann"] == (wire.Even{}) {
		t.Errorf("after %q people see %+v", said, m)
	}
}

// TestAway checks that the next of the side replaces a captain who is not there at their own turn,
// and that a captain on the page is there.
func TestAway(t *testing.T) {
	n := inMatch(t)
	n.Attendance.Leave("ann", n.Now)
	n.Roster.OpenPage(n.Roster.PageOf("ann"), n.Now)
	if n.d.IsCaptainAway(n.F) {
		t.Error("ann has the page open, and is away")
	}
	n.Roster.ClosePage(n.Roster.PageOf("ann"), n.Now)
	if said := n.ticks(n.Now.Add(time.Second)); said != "" || !n.d.IsCaptainAway(n.F) {
		t.Errorf("at once: %q", said)
	}
	if said := n.ticks(n.Now.Add(15 * time.Second)); said != "ben is captain of Nightjars" || !slices.Contains(decision.Captainable(n.F), "ben") {
		t.Errorf("then: %q", said)
	}
}
