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
