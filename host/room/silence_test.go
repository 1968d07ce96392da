package room_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/room/attendance"
	"muster/host/room/evidence"
	"muster/host/room/outage"
	"muster/host/room/people"
	"muster/host/room/roster"
	"muster/host/wire"
)

// four returns a room of four who measure. Ann sits at the host's machine, and the others come over
// its line.
func four(t *testing.T, servers int) *session {
	return measuring(t, servers, "ann", "bob", "cat", "dan")
}

const (
	// longestMissed is how long the others bear one player's silence in all. retriesInARow is how
	// often a room tries again by itself.
	longestMissed = time.Minute
	retriesInARow = 12
)

var friends = []string{"bob", "cat", "dan"}

// isWhole requires that nobody is left out and no round has failed.
func (n *session) isWhole() {
	n.Helper()
	for _, name := range n.Players() {
		if n.IsOut(name) {
			n.Errorf("%s is left out; the log:\n%s", name, n.Story())
		}
	}
	if n.Round() != 1 {
		n.Errorf("it took %d rounds; the log:\n%s", n.Round(), n.Story())
	}
}

// TestSilentTogether checks that the room waits in every phase when most players fall silent
// together, for as long as a router takes to restart. The players then go on with their results.
func TestSilentTogether(t *testing.T) {
	type down struct {
		name string
		// who fall silent. Their connections end after pongs, or never.
		who   []string
		pongs time.Duration
		lasts time.Duration
	}
	var downs []down
	for _, lasts := range []time.Duration{20, 40, 70, 25 * 60} {
		lasts *= time.Second
		everybody := append([]string{"ann"}, friends...)
		downs = append(downs, down{fmt.Sprintf("all four peers stop for %v", lasts), everybody, 25 * time.Second, lasts})
		if lasts < outage.LongestPause {
			downs = append(downs,
				down{fmt.Sprintf("the host's line is down for %v", lasts), friends, 25 * time.Second, lasts},
				down{fmt.Sprintf("all four starve for %v", lasts), everybody, time.Hour, lasts})
		}
	}
	phases := []struct {
		name  string
		until func(n *session)
		stage wire.Stage
		then  func(n *session)
	}{
		{"measuring", func(n *session) {
			n.Measures("ann", 10, 20, 30)
			n.Done("ann")
			for i, name := range friends {
				n.Measures(name, 10+i)
			}
		}, wire.Measuring, func(n *session) {
			for _, name := range friends {
				n.Measures(name, skip, 20, 30)
				n.Done(name)
			}
			n.InStage(wire.Chosen)
			if got := n.Choice().Players; len(got) != 4 {
				n.Errorf("the choice is for %v", got)
			}
		}},
		{"verifying", func(n *session) {
			for _, name := range append([]string{"ann"}, friends...) {
				n.Measures(name, 10, 20, 30)
				n.Done(name)
			}
			n.Verifies("ann")
		}, wire.Chosen, nil},
		{"gathering", nil, wire.Gathering, func(n *session) {
			if got := len(n.Players()); got != 4 || !n.Person("ann").Organiser {
				n.Errorf("%d players are left", got)
			}
		}},
	}
	for _, phase := range phases {
		for _, d := range downs {
			measures := phase.stage == wire.Measuring
			if !measures && (d.pongs > d.lasts || phase.stage == wire.Gathering && d.lasts > outage.LongestPause) {
				continue // nobody waits for silent players there, or not for so long
			}
			t.Run(phase.name+"/"+d.name, func(t *testing.T) {
				var n *session
				if phase.until == nil {
					n = newSession(t, settings(0))
					n.As["ann"] = "secret"
					n.Join("ann")
					n.Join(friends...)
				} else {
					n = four(t, 3)
					phase.until(n)
				}
				n.InStage(phase.stage)
				if !measures {
					d.pongs = 5 * time.Second // the room gives up a player here who does not look after 15 s
				}
				began := n.Now
				for i, name := range d.who { // the last pongs came at different times
					n.Wait(max(0, began.Add(min(d.pongs, d.lasts)+time.Duration(i)*3*time.Second).Sub(n.Now)))
					if d.pongs <= d.lasts {
						n.Gone(string(name))
					}
				}
				n.Wait(max(0, began.Add(d.lasts).Sub(n.Now)))
				n.InStage(phase.stage)
				for _, name := range d.who { // lines come up one after the other
					if d.pongs <= d.lasts {
						n.Join(name)
					} else if !n.Person(name).Done {
						n.Measures(name, 11)
					}
					if name != d.who[0] {
						n.Wait(5 * time.Second)
					}
				}
				n.isWhole()
				if phase.then != nil {
					phase.then(n)
					n.isWhole()
				}
			})
		}
	}
}

// TestRests checks that the room waits for players who announce a silence, because a router has to
// forget servers, and tells people of it. It does not hold the others for longer than an
// unannounced silence.
func TestRests(t *testing.T) {
	const rest = 25 * time.Second
	n := four(t, 40)
	for _, name := range []string{"ann", "bob", "cat"} {
		n.Measures(name, 10, 20, 30)
		n.Done(name)
	}
	n.Measures("dan", 10)
	n.Says("dan", wire.Rests{Round: 1, For: discovery.Millis(rest)})
	n.Measures("dan", skip, 20) // was on its way
	n.Noted("dan’s router handles only a few servers at a time: dan goes on in 25 seconds")
	n.Wait(rest + 10*time.Second)
	n.isWhole()
	n.InStage(wire.Measuring)
	n.Measures("dan", skip, skip, 30)
	said := n.Story()
	for _, late := range []wire.Rests{
		{Round: 1, For: discovery.Millis(36 * time.Second)}, {Round: 1, For: discovery.Millis(1<<63 - 1)},
		{Round: 1, For: -1}, {Round: 1}, {Round: 0, For: discovery.Millis(20 * time.Second)},
	} {
		n.Says("dan", late)
	}
	if n.Story() != said {
		t.Errorf("too much of it is heard; the log:\n%s", n.Story())
	}
	n.Wait(outage.StalledAfter - time.Second)
	n.InStage(wire.Measuring)
	n.Wait(2 * time.Second)
	n.InStage(wire.Chosen)
	n.Noted("going on without dan: nothing heard for 20 seconds")
}

// TestSilentSearch checks that the same holds for a search that the host leads.
func TestSilentSearch(t *testing.T) {
	n := coordinated(t)
	step := func() {
		n.Wait(200 * time.Millisecond)
		n.answers(0, "ann")
		n.answers(1, "bob")
	}
	for range 5 {
		step()
	}
	n.Wait(24 * time.Second)
	n.Gone("ann")
	n.Wait(3 * time.Second)
	n.Gone("bob")
	n.Wait(time.Minute)
	n.InStage(wire.Refining)
	n.Join("bob")
	n.Wait(10 * time.Second)
	n.Join("ann")
	for n.Room.Stage() == wire.Refining && n.Now.Sub(eight) < 5*time.Minute {
		step()
	}
	n.InStage(wire.Chosen)
	n.isWhole()
	if got := n.Choice().Players; len(got) != 2 {
		t.Errorf("the choice is for %v", got)
	}
}

// TestHostStops checks that nobody is blamed for time while the host's own program was stopped, or
// had no time for the room.
func TestHostStops(t *testing.T) {
	for _, stopped := range []time.Duration{20 * time.Second, 40 * time.Second, 10 * time.Hour} {
		n := four(t, 3)
		n.Measures("ann", 10, 20, 30)
		n.Done("ann")
		n.Wait(10 * time.Second)
		n.Now = n.Now.Add(stopped)
		n.Gone("cat") // the connection ended meanwhile
		n.Step(room.Tick{})
		n.InStage(wire.Measuring)
		n.isWhole()
		n.Wait(4 * time.Second)
		for _, name := range friends {
			n.Join(name)
			n.Measures(name, 10, 20, 30)
			n.Done(name)
		}
		n.InStage(wire.Chosen)
		n.Now = n.Now.Add(stopped)
		n.Step(room.Tick{})
		for _, name := range append([]string{"ann"}, friends...) {
			n.Verifies(name)
		}
		n.GoesTo(0)
		n.isWhole()
	}
}

// TestSilenceIsBounded checks that players who fall silent, alone or together, once or again and
// again, do not hold the others for ever.
func TestSilenceIsBounded(t *testing.T) {
	t.Parallel()
	everybody := []string{"ann", "bob", "cat", "dan", "eve", "fay", "guy", "hal"}
	tests := []struct {
		name   string
		liars  int
		within time.Duration
		// plays runs each second for each liar.
		plays func(n *session, liar string, second int)
	}{
		{"one says nothing", 1, 21 * time.Second, nil},
		{"two say nothing", 2, 21 * time.Second, nil},
		{"two leave", 2, 31 * time.Second, func(n *session, liar string, _ int) { n.Gone(liar) }},
		{"four of eight say nothing", 4, 21 * time.Second, nil},
		{"five of eight say nothing", 5, outage.LongestPause + 21*time.Second, nil},
		{"five of eight leave and come back", 5, outage.LongestPause + 2*longestMissed, func(n *session, liar string, second int) {
			if second%20 < 19 {
				n.Gone(liar)
			} else {
				n.Join(liar)
			}
		}},
		{"five of eight say something now and then", 5, outage.LongestPause + 10*time.Minute, func(n *session, liar string, second int) {
			if second%16 == 15 {
				n.Measures(liar, 10)
			}
		}},
		{"one leaves and comes back", 1, 2*longestMissed + 10*time.Second, func(n *session, liar string, second int) {
			if second%20 < 19 {
				n.Gone(liar)
			} else {
				n.Join(liar)
			}
		}},
		{"one says something now and then", 1, 10*time.Minute + 2*time.Second, func(n *session, liar string, second int) {
			if second%14 == 13 {
				n.Measures(liar, 10)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := measuring(t, 54_000, everybody...) // a list of this length has ten minutes
			honest, liars := everybody[tt.liars:], everybody[:tt.liars]
			for _, name := range honest {
				n.Measures(name, 10, 20)
				n.Done(name)
			}
			for second := 0; n.Room.Stage() == wire.Measuring && second < 3600; second++ {
				for _, liar := range liars {
					if tt.plays != nil {
						tt.plays(n, liar, second)
					}
				}
				n.Wait(time.Second)
			}
			n.InStage(wire.Chosen)
			if took := n.Now.Sub(eight); took > tt.within {
				t.Errorf("the honest waited for %v, want %v at most; the log:\n%s", took, tt.within, n.Story())
			}
			for _, name := range honest {
				if !slices.Contains(n.Choice().Players, name) {
					t.Errorf("%s has no say", name)
				}
			}
		})
	}
}

// TestRetry checks that a room whose master is silent tries again by itself, less and less often,
// not for ever, and not while nobody is there. A list resets that.
func TestRetry(t *testing.T) {
	n := newSession(t, settings(2))
	n.Join("ann", "bob")
	silent := room.Listed{Err: errors.New("no master answers")}
	n.Step(silent)
	if retry := n.View().Room.Retry.Sub(n.Now); retry != attendance.Retries(1).Rest() {
		t.Errorf("the page says that it tries again in %v", retry)
	}
	var rests []time.Duration
	for failed := n.Now; n.Now.Sub(failed) < time.Hour; n.Wait(tick) {
		if n.Room.Stage() == wire.Listing {
			rests = append(rests, n.Now.Sub(failed))
			n.Step(silent)
			failed = n.Now
		}
	}
	want := []time.Duration{15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute}
	for len(want) < retriesInARow {
		want = append(want, 4*time.Minute)
	}
	if fmt.Sprint(rests) != fmt.Sprint(want) {
		t.Errorf("it tries again after %v, want %v", rests, want)
	}
	if !n.View().Room.Retry.IsZero() {
		t.Error("the page says that it tries again, and it does not")
	}
	n.Goes() // the organiser's go resets the tries
	n.Step(silent)
	n.Gone("ann")
	n.Gone("bob")
	n.Wait(10 * time.Minute)
	n.InStage(wire.Failed)
	n.Join("bob")
	n.Wait(3 * time.Second)
	n.Join("ann")
	n.Wait(3 * time.Second)
	n.InStage(wire.Listing)
	n.Listed(2)
	for _, name := range []string{"ann", "bob"} {
		n.Informs(name, 12, 12)
		n.Measures(name, 10, 20)
		n.Done(name)
	}
	n.Verifies("ann")
	n.Verifies("bob")
	n.GoesTo(0)
	n.Goes()
	n.Step(silent)
	if retry := n.View().Room.Retry.Sub(n.Now); retry != attendance.Retries(1).Rest() {
		t.Errorf("after a round that went well it tries again in %v", retry)
	}
}

// TestRetryUnsuitable checks that a room without a suitable server tries again only when somebody
// is back, or was away during the measuring.
func TestRetryUnsuitable(t *testing.T) {
	fails := func(t *testing.T, meanwhile func(n *session)) *session {
		n := measuring(t, 2, "ann", "bob")
		meanwhile(n)
		n.Measures("ann", 10, lost)
		n.Measures("bob", lost, 10)
		n.Done("ann", "bob")
		n.InStage(wire.Failed)
		return n
	}
	n := fails(t, func(*session) {})
	n.Wait(time.Hour)
	n.InStage(wire.Failed)
	n.Gone("bob")
	n.Join("bob")
	n.Wait(tick)
	n.InStage(wire.Listing)

	n = fails(t, func(n *session) { n.Gone("bob"); n.Wait(20 * time.Second); n.Join("bob") })
	n.Wait(attendance.Retries(1).Rest())
	n.InStage(wire.Listing)

	n = fails(t, func(*session) {})
	rounds := 0
	for range 4 * 3600 { // bob comes and goes, for hours
		n.Gone("bob")
		n.Join("bob")
		n.Wait(time.Second)
		if n.Room.Stage() == wire.Listing {
			rounds++
			n.Listed(2)
			n.Measures("ann", 10, lost)
			n.Measures("bob", lost, 10)
			n.Done("ann", "bob")
		}
	}
	if rounds != retriesInARow {
		t.Errorf("somebody who comes and goes had the servers asked in %d rounds", rounds)
	}
}

// TestSilentRestart checks that a host that is restarted while all are away waits for them as
// before.
func TestSilentRestart(t *testing.T) {
	n := four(t, 3)
	for _, name := range append([]string{"ann"}, friends...) {
		n.Gone(string(name))
	}
	n.Wait(time.Minute)
	before := n.Room
	if !n.View().Room.Paused {
		t.Error("the page does not say that the room stands still")
	}
	n.Room = restored(t, before)
	same(t, before, n.Room)
	n.Now = n.Now.Add(time.Hour)
	n.Step(room.Resume{})
	n.Wait(20 * time.Minute)
	n.InStage(wire.Measuring)
	for _, name := range append([]string{"ann"}, friends...) {
		n.Join(name)
		n.Measures(name, 10, 20, 30)
		n.Done(name)
	}
	n.InStage(wire.Chosen)
	n.isWhole()
}

// TestSlowLine checks that a player whose long report is on its way is not silent, and that the
// room waits for no line longer than the list takes.
func TestSlowLine(t *testing.T) {
	n := measuring(t, 6000, "ann", "bob", "cat")
	for _, name := range []string{"ann", "cat"} {
		n.Measures(name, 10, 20)
		n.Done(name)
	}
	for range 90 {
		n.Step(room.PartialMessage{Player: "bob"})
		n.Wait(time.Second)
	}
	n.InStage(wire.Measuring)
	n.isWhole()
	for n.Room.Stage() == wire.Measuring && n.Now.Sub(eight) < time.Hour {
		n.Step(room.PartialMessage{Player: "bob"})
		n.Wait(time.Second)
	}
	if took := n.Now.Sub(eight); took > 3*time.Minute {
		t.Errorf("a line that moves and brings nothing holds the others for %v", took)
	}
}

// TestOneFamily checks that a player whose line knows only IPv6, and so reaches only some servers,
// is told so at once, holds nobody, and decides for nobody. If the organiser vouches for the
// player, the group goes where all can.
func TestOneFamily(t *testing.T) {
	everybody := []string{"ann", "bob", "cat", "zoe"}
	for _, reached := range []int{0, 5, 30} {
		n := measuring(t, 300, everybody...)
		var all, some []int
		for server := range 300 {
			all, some = append(all, 10+server%50), append(some, lost)
			if server >= 300-reached {
				some[server] = 12 + server%50
			}
		}
		n.Wait(evidence.LeastProbe)
		n.Measures("zoe", some...)
		n.Done("zoe")
		for _, name := range everybody[:3] {
			n.Measures(name, all...)
			n.Done(name)
		}
		n.InStage(wire.Chosen)
		n.Noted(fmt.Sprintf("zoe has pings for only %d of 300 servers that others reach: that doesn’t count in the choice", reached))
		if reached > 0 {
			if err := n.Orders(room.Trust{Name: "zoe"}); err != nil {
				t.Fatal(err)
			}
		}
		for n.Room.Stage() == wire.Chosen && n.Now.Sub(eight) < time.Minute {
			for _, name := range n.counted() {
				n.Verifies(name)
			}
			n.Wait(tick)
		}
		want := 0
		if reached > 0 {
			want = 300 - reached
		}
		n.GoesTo(want)
		if got := n.Took("zoe"); !strings.HasSuffix(got, "launch") {
			t.Errorf("zoe, who reaches %d, is sent %q", reached, got)
		}
	}
}

// TestOneFamilySearch checks that the same holds if the host leads the search.
func TestOneFamilySearch(t *testing.T) {
	s := settings(4)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.Join("ann", "bob", "cid", "zoe")
	n.Gets(far())
	for n.Room.Stage() == wire.Refining && n.Now.Sub(eight) < time.Minute {
		n.Wait(200 * time.Millisecond)
		for i, name := range []string{"ann", "bob", "cid"} {
			n.answers(i, name)
		}
		asked := n.Sent["zoe"]
		delete(n.Sent, "zoe")
		for _, m := range asked { // a machine that lets no packet out
			if ask, is := m.(wire.Ask); is {
				report := wire.Report{Round: 1}
				for _, server := range ask.Servers {
					report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Lost})
				}
				n.Says("zoe", report)
			}
		}
	}
	n.InStage(wire.Chosen)
	if took := n.Now.Sub(eight); took > 10*time.Second {
		t.Errorf("the others are held for %v", took)
	}
	if n.Person("zoe").Doubt.IsZero() || len(n.Choice().Players) != 3 {
		t.Errorf("zoe counts; the log:\n%s", n.Story())
	}
}

// TestOneMeasuresWhileAllStop checks that a player who is not done is no more silent than those who
// are, when all programs stop. Players who are done show it by answering no pings.
func TestOneMeasuresWhileAllStop(t *testing.T) {
	for _, lasts := range []time.Duration{20 * time.Second, 24 * time.Second, 30 * time.Second, time.Minute} {
		n := four(t, 3)
		for _, name := range []string{"ann", "bob", "cat"} {
			n.Measures(name, 10, 20, 30)
			n.Done(name)
		}
		n.Measures("dan", 10)
		stopped := n.Now
		var others []people.ID
		for n.Now.Sub(stopped) < lasts {
			n.Now = n.Now.Add(tick)
			if n.Now.Sub(stopped) > room.QuietAfter {
				others = []people.ID{"ann", "bob", "cat", "dan"}
			}
			n.Step(room.Tick{Mute: others})
			if n.Now.Sub(stopped) == 25*time.Second { // pongs are overdue, and the connections end
				for _, name := range others {
					n.Gone(string(name))
				}
			}
		}
		for _, name := range []string{"ann", "bob", "cat", "dan"} {
			n.Join(name)
			n.Wait(3 * time.Second)
		}
		n.Measures("dan", skip, 20, 30)
		n.Done("dan")
		n.isWhole()
		n.InStage(wire.Chosen)
	}
}

// TestAllStopWhileTheyVote checks that the last player to come back has as long as one who merely
// changed networks, when all programs stop during the vote.
func TestAllStopWhileTheyVote(t *testing.T) {
	everybody := append([]string{"ann"}, friends...)
	s := settings(4)
	s.Agree = wire.Yes
	n := newSession(t, s)
	n.Join(everybody...)
	n.Listed(3)
	n.Informs("ann", 12, 12, 12)
	for _, name := range everybody {
		n.Measures(name, 10, 20, 30)
		n.Done(name)
	}
	for _, name := range everybody {
		n.Verifies(name)
		n.Step(room.PageOpened{Token: roster.PageOf(n.Tokens[name])})
	}
	if !n.IsVoting() {
		t.Fatalf("nobody is asked; the log:\n%s", n.Story())
	}
	for _, name := range []string{"ann", "bob", "cat"} {
		n.Says(name, wire.Say{Round: 1, What: wire.SayReady})
	}
	n.Wait(25 * time.Second)
	for _, name := range everybody {
		n.Gone(string(name))
	}
	n.Wait(5 * time.Second)
	for _, name := range everybody {
		n.Join(name)
		n.Wait(3 * time.Second)
	}
	n.Says("dan", wire.Say{Round: 1, What: wire.SayReady})
	n.isWhole()
	n.Wait(countdownTime + time.Second)
	n.GoesTo(0)
	n.isWhole()
}
