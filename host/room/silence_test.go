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
	for _, name := range n.players() {
		if n.isOut(name) {
			n.Errorf("%s is left out; the log:\n%s", name, n.log())
		}
	}
	if n.round() != 1 {
		n.Errorf("it took %d rounds; the log:\n%s", n.round(), n.log())
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
			n.measures("ann", 10, 20, 30)
			n.done("ann")
			for i, name := range friends {
				n.measures(name, 10+i)
			}
		}, wire.Measuring, func(n *session) {
			for _, name := range friends {
				n.measures(name, skip, 20, 30)
				n.done(name)
			}
			n.inStage(wire.Chosen)
			if got := n.choice().Players; len(got) != 4 {
				n.Errorf("the choice is for %v", got)
			}
		}},
		{"verifying", func(n *session) {
			for _, name := range append([]string{"ann"}, friends...) {
				n.measures(name, 10, 20, 30)
				n.done(name)
			}
			n.verifies("ann")
		}, wire.Chosen, nil},
		{"gathering", nil, wire.Gathering, func(n *session) {
			if got := len(n.players()); got != 4 || !n.person("ann").Organiser {
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
					n.as["ann"] = "secret"
					n.join("ann")
					n.join(friends...)
				} else {
					n = four(t, 3)
					phase.until(n)
				}
				n.inStage(phase.stage)
				if !measures {
					d.pongs = 5 * time.Second // the room gives up a player here who does not look after 15 s
				}
				began := n.now
				for i, name := range d.who { // the last pongs came at different times
					n.wait(max(0, began.Add(min(d.pongs, d.lasts)+time.Duration(i)*3*time.Second).Sub(n.now)))
					if d.pongs <= d.lasts {
						n.gone(name)
					}
				}
				n.wait(max(0, began.Add(d.lasts).Sub(n.now)))
				n.inStage(phase.stage)
				for _, name := range d.who { // lines come up one after the other
					if d.pongs <= d.lasts {
						n.join(name)
					} else if !n.person(name).Done {
						n.measures(name, 11)
					}
					if name != d.who[0] {
						n.wait(5 * time.Second)
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
		n.measures(name, 10, 20, 30)
		n.done(name)
	}
	n.measures("dan", 10)
	n.says("dan", wire.Rests{Round: 1, For: discovery.Millis(rest)})
	n.measures("dan", skip, 20) // was on its way
	n.noted("dan’s router handles only a few servers at a time: dan goes on in 25 seconds")
	n.wait(rest + 10*time.Second)
	n.isWhole()
	n.inStage(wire.Measuring)
	n.measures("dan", skip, skip, 30)
	said := n.log()
	for _, late := range []wire.Rests{
		{Round: 1, For: discovery.Millis(36 * time.Second)}, {Round: 1, For: discovery.Millis(1<<63 - 1)},
		{Round: 1, For: -1}, {Round: 1}, {Round: 0, For: discovery.Millis(20 * time.Second)},
	} {
		n.says("dan", late)
	}
	if n.log() != said {
		t.Errorf("too much of it is heard; the log:\n%s", n.log())
	}
	n.wait(outage.StalledAfter - time.Second)
	n.inStage(wire.Measuring)
	n.wait(2 * time.Second)
	n.inStage(wire.Chosen)
	n.noted("going on without dan: nothing heard for 20 seconds")
}

// TestSilentSearch checks that the same holds for a search that the host leads.
func TestSilentSearch(t *testing.T) {
	n := coordinated(t)
	step := func() {
		n.wait(200 * time.Millisecond)
		n.answers(0, "ann")
		n.answers(1, "bob")
	}
	for range 5 {
		step()
	}
	n.wait(24 * time.Second)
	n.gone("ann")
	n.wait(3 * time.Second)
	n.gone("bob")
	n.wait(time.Minute)
	n.inStage(wire.Refining)
	n.join("bob")
	n.wait(10 * time.Second)
	n.join("ann")
	for n.room.Stage() == wire.Refining && n.now.Sub(eight) < 5*time.Minute {
		step()
	}
	n.inStage(wire.Chosen)
	n.isWhole()
	if got := n.choice().Players; len(got) != 2 {
		t.Errorf("the choice is for %v", got)
	}
}

// TestHostStops checks that nobody is blamed for time while the host's own program was stopped, or
// had no time for the room.
func TestHostStops(t *testing.T) {
	for _, stopped := range []time.Duration{20 * time.Second, 40 * time.Second, 10 * time.Hour} {
		n := four(t, 3)
		n.measures("ann", 10, 20, 30)
		n.done("ann")
		n.wait(10 * time.Second)
		n.now = n.now.Add(stopped)
		n.gone("cat") // the connection ended meanwhile
		n.step(room.Tick{})
		n.inStage(wire.Measuring)
		n.isWhole()
		n.wait(4 * time.Second)
		for _, name := range friends {
			n.join(name)
			n.measures(name, 10, 20, 30)
			n.done(name)
		}
		n.inStage(wire.Chosen)
		n.now = n.now.Add(stopped)
		n.step(room.Tick{})
		for _, name := range append([]string{"ann"}, friends...) {
			n.verifies(name)
		}
		n.goesTo(0)
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
		{"two leave", 2, 31 * time.Second, func(n *session, liar string, _ int) { n.gone(liar) }},
		{"four of eight say nothing", 4, 21 * time.Second, nil},
		{"five of eight say nothing", 5, outage.LongestPause + 21*time.Second, nil},
		{"five of eight leave and come back", 5, outage.LongestPause + 2*longestMissed, func(n *session, liar string, second int) {
			if second%20 < 19 {
				n.gone(liar)
			} else {
				n.join(liar)
			}
		}},
		{"five of eight say something now and then", 5, outage.LongestPause + 10*time.Minute, func(n *session, liar string, second int) {
			if second%16 == 15 {
				n.measures(liar, 10)
			}
		}},
		{"one leaves and comes back", 1, 2*longestMissed + 10*time.Second, func(n *session, liar string, second int) {
			if second%20 < 19 {
				n.gone(liar)
			} else {
				n.join(liar)
			}
		}},
		{"one says something now and then", 1, 10*time.Minute + 2*time.Second, func(n *session, liar string, second int) {
			if second%14 == 13 {
				n.measures(liar, 10)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := measuring(t, 54_000, everybody...) // a list of this length has ten minutes
			honest, liars := everybody[tt.liars:], everybody[:tt.liars]
			for _, name := range honest {
				n.measures(name, 10, 20)
				n.done(name)
			}
			for second := 0; n.room.Stage() == wire.Measuring && second < 3600; second++ {
				for _, liar := range liars {
					if tt.plays != nil {
						tt.plays(n, liar, second)
					}
				}
				n.wait(time.Second)
			}
			n.inStage(wire.Chosen)
			if took := n.now.Sub(eight); took > tt.within {
				t.Errorf("the honest waited for %v, want %v at most; the log:\n%s", took, tt.within, n.log())
			}
			for _, name := range honest {
				if !slices.Contains(n.choice().Players, name) {
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
	n.join("ann", "bob")
	silent := room.Listed{Err: errors.New("no master answers")}
	n.step(silent)
	if retry := n.view().Room.Retry.Sub(n.now); retry != attendance.Retries(1).Rest() {
		t.Errorf("the page says that it tries again in %v", retry)
	}
	var rests []time.Duration
	for failed := n.now; n.now.Sub(failed) < time.Hour; n.wait(tick) {
		if n.room.Stage() == wire.Listing {
			rests = append(rests, n.now.Sub(failed))
			n.step(silent)
			failed = n.now
		}
	}
	want := []time.Duration{15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute}
	for len(want) < retriesInARow {
		want = append(want, 4*time.Minute)
	}
	if fmt.Sprint(rests) != fmt.Sprint(want) {
		t.Errorf("it tries again after %v, want %v", rests, want)
	}
	if !n.view().Room.Retry.IsZero() {
		t.Error("the page says that it tries again, and it does not")
	}
	n.goes() // the organiser's go resets the tries
	n.step(silent)
	n.gone("ann")
	n.gone("bob")
	n.wait(10 * time.Minute)
	n.inStage(wire.Failed)
	n.join("bob")
	n.wait(3 * time.Second)
	n.join("ann")
	n.wait(3 * time.Second)
	n.inStage(wire.Listing)
	n.listed(2)
	for _, name := range []string{"ann", "bob"} {
		n.informs(name, 12, 12)
		n.measures(name, 10, 20)
		n.done(name)
	}
	n.verifies("ann")
	n.verifies("bob")
	n.goesTo(0)
	n.goes()
	n.step(silent)
	if retry := n.view().Room.Retry.Sub(n.now); retry != attendance.Retries(1).Rest() {
		t.Errorf("after a round that went well it tries again in %v", retry)
	}
}

// TestRetryUnsuitable checks that a room without a suitable server tries again only when somebody
// is back, or was away during the measuring.
func TestRetryUnsuitable(t *testing.T) {
	fails := func(t *testing.T, meanwhile func(n *session)) *session {
		n := measuring(t, 2, "ann", "bob")
		meanwhile(n)
		n.measures("ann", 10, lost)
		n.measures("bob", lost, 10)
		n.done("ann", "bob")
		n.inStage(wire.Failed)
		return n
	}
	n := fails(t, func(*session) {})
	n.wait(time.Hour)
	n.inStage(wire.Failed)
	n.gone("bob")
	n.join("bob")
	n.wait(tick)
	n.inStage(wire.Listing)

	n = fails(t, func(n *session) { n.gone("bob"); n.wait(20 * time.Second); n.join("bob") })
	n.wait(attendance.Retries(1).Rest())
	n.inStage(wire.Listing)

	n = fails(t, func(*session) {})
	rounds := 0
	for range 4 * 3600 { // bob comes and goes, for hours
		n.gone("bob")
		n.join("bob")
		n.wait(time.Second)
		if n.room.Stage() == wire.Listing {
			rounds++
			n.listed(2)
			n.measures("ann", 10, lost)
			n.measures("bob", lost, 10)
			n.done("ann", "bob")
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
		n.gone(name)
	}
	n.wait(time.Minute)
	before := n.room
	if !n.view().Room.Paused {
		t.Error("the page does not say that the room stands still")
	}
	n.room = restored(t, before)
	same(t, before, n.room)
	n.now = n.now.Add(time.Hour)
	n.step(room.Resume{})
	n.wait(20 * time.Minute)
	n.inStage(wire.Measuring)
	for _, name := range append([]string{"ann"}, friends...) {
		n.join(name)
		n.measures(name, 10, 20, 30)
		n.done(name)
	}
	n.inStage(wire.Chosen)
	n.isWhole()
}

// TestSlowLine checks that a player whose long report is on its way is not silent, and that the
// room waits for no line longer than the list takes.
func TestSlowLine(t *testing.T) {
	n := measuring(t, 6000, "ann", "bob", "cat")
	for _, name := range []string{"ann", "cat"} {
		n.measures(name, 10, 20)
		n.done(name)
	}
	for range 90 {
		n.step(room.Stir{Player: "bob"})
		n.wait(time.Second)
	}
	n.inStage(wire.Measuring)
	n.isWhole()
	for n.room.Stage() == wire.Measuring && n.now.Sub(eight) < time.Hour {
		n.step(room.Stir{Player: "bob"})
		n.wait(time.Second)
	}
	if took := n.now.Sub(eight); took > 3*time.Minute {
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
		n.wait(evidence.LeastProbe)
		n.measures("zoe", some...)
		n.done("zoe")
		for _, name := range everybody[:3] {
			n.measures(name, all...)
			n.done(name)
		}
		n.inStage(wire.Chosen)
		n.noted(fmt.Sprintf("zoe has pings for only %d of 300 servers that others reach: that doesn’t count in the choice", reached))
		if reached > 0 {
			if err := n.orders(room.Trust{Name: "zoe"}); err != nil {
				t.Fatal(err)
			}
		}
		for n.room.Stage() == wire.Chosen && n.now.Sub(eight) < time.Minute {
			for _, name := range n.counted() {
				n.verifies(name)
			}
			n.wait(tick)
		}
		want := 0
		if reached > 0 {
			want = 300 - reached
		}
		n.goesTo(want)
		if got := n.took("zoe"); !strings.HasSuffix(got, "launch") {
			t.Errorf("zoe, who reaches %d, is sent %q", reached, got)
		}
	}
}

// TestOneFamilySearch checks that the same holds if the host leads the search.
func TestOneFamilySearch(t *testing.T) {
	s := settings(4)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.join("ann", "bob", "cid", "zoe")
	n.gets(far())
	for n.room.Stage() == wire.Refining && n.now.Sub(eight) < time.Minute {
		n.wait(200 * time.Millisecond)
		for i, name := range []string{"ann", "bob", "cid"} {
			n.answers(i, name)
		}
		asked := n.sent["zoe"]
		delete(n.sent, "zoe")
		for _, m := range asked { // a machine that lets no packet out
			if ask, is := m.(wire.Ask); is {
				report := wire.Report{Round: 1}
				for _, server := range ask.Servers {
					report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Lost})
				}
				n.says("zoe", report)
			}
		}
	}
	n.inStage(wire.Chosen)
	if took := n.now.Sub(eight); took > 10*time.Second {
		t.Errorf("the others are held for %v", took)
	}
	if n.person("zoe").Doubt.IsZero() || len(n.choice().Players) != 3 {
		t.Errorf("zoe counts; the log:\n%s", n.log())
	}
}

// TestOneMeasuresWhileAllStop checks that a player who is not done is no more silent than those who
// are, when all programs stop. Players who are done show it by answering no pings.
func TestOneMeasuresWhileAllStop(t *testing.T) {
	for _, lasts := range []time.Duration{20 * time.Second, 24 * time.Second, 30 * time.Second, time.Minute} {
		n := four(t, 3)
		for _, name := range []string{"ann", "bob", "cat"} {
			n.measures(name, 10, 20, 30)
			n.done(name)
		}
		n.measures("dan", 10)
		stopped := n.now
		var others []string
		for n.now.Sub(stopped) < lasts {
			n.now = n.now.Add(tick)
			if n.now.Sub(stopped) > room.QuietAfter {
				others = []string{"ann", "bob", "cat", "dan"}
			}
			n.step(room.Tick{Mute: others})
			if n.now.Sub(stopped) == 25*time.Second { // pongs are overdue, and the connections end
				for _, name := range others {
					n.gone(name)
				}
			}
		}
		for _, name := range []string{"ann", "bob", "cat", "dan"} {
			n.join(name)
			n.wait(3 * time.Second)
		}
		n.measures("dan", skip, 20, 30)
		n.done("dan")
		n.isWhole()
		n.inStage(wire.Chosen)
	}
}

// TestAllStopWhileTheyVote checks that the last player to come back has as long as one who merely
// changed networks, when all programs stop during the vote.
func TestAllStopWhileTheyVote(t *testing.T) {
	everybody := append([]string{"ann"}, friends...)
	s := settings(4)
	s.Agree = wire.Yes
	n := newSession(t, s)
	n.join(everybody...)
	n.listed(3)
	n.informs("ann", 12, 12, 12)
	for _, name := range everybody {
		n.measures(name, 10, 20, 30)
		n.done(name)
	}
	for _, name := range everybody {
		n.verifies(name)
		n.step(room.PageOpened{Token: roster.PageOf(n.tokens[name])})
	}
	if !n.isVoting() {
		t.Fatalf("nobody is asked; the log:\n%s", n.log())
	}
	for _, name := range []string{"ann", "bob", "cat"} {
		n.says(name, wire.Say{Round: 1, What: wire.SayReady})
	}
	n.wait(25 * time.Second)
	for _, name := range everybody {
		n.gone(name)
	}
	n.wait(5 * time.Second)
	for _, name := range everybody {
		n.join(name)
		n.wait(3 * time.Second)
	}
	n.says("dan", wire.Say{Round: 1, What: wire.SayReady})
	n.isWhole()
	n.wait(countdownTime + time.Second)
	n.goesTo(0)
	n.isWhole()
}
