package room

import (
	"errors"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/topology"
	"muster/host/wire"
)

// TestNight is a whole night, message by message.
func TestNight(t *testing.T) {
	n := newSession(t, settings(2))
	n.join("ann")
	n.inStage(wire.Gathering)
	n.join("bob")
	n.inStage(wire.Listing)
	n.listed(3)
	for _, name := range []string{"ann", "bob"} {
		if got := n.took(name); got != "welcome list measure" {
			t.Errorf("%s is sent %q", name, got)
		}
	}
	n.informs("ann", 12, 12, 12)
	n.measures("ann", 10, 40, 90)
	n.measures("bob", 90, 30, lost)
	n.done("ann")
	n.inStage(wire.Measuring)
	n.done("bob")
	n.inStage(wire.Chosen)
	if got := n.took("ann"); got != "finalists" {
		t.Errorf("ann is sent %q", got)
	}
	n.verifies("ann")
	n.inStage(wire.Chosen)
	n.verifies("bob")
	n.goesTo(1)
	if got := n.took("bob"); got != "finalists launch" {
		t.Errorf("bob is sent %q", got)
	}
	n.says("ann", wire.Launched{Round: 1, State: wire.LaunchStarted})
	n.says("bob", wire.Launched{Round: 1, State: wire.LaunchFailed, Detail: "no such program"})
	n.noted("room BAKODI opened for openarena", "ann is here", "bob is here", "3 servers listed",
		"ann has measured 3 servers, 3 answered", "bob has measured 3 servers, 2 answered",
		"everyone looks at the best 2 again", "everyone to server 1 (192.0.2.1:27960): 35 ms on average, 40 at worst",
		"ann is on the way", "bob could not start openarena: no such program")
}

func TestStart(t *testing.T) {
	tests := []struct {
		name    string
		players int
		events  func(*session)
		stage   wire.Stage
		note    string
	}{
		{"the last player comes", 2, func(n *session) { n.join("ann", "bob") }, wire.Listing, "bob is here"},
		{"one is missing", 3, func(n *session) { n.join("ann", "bob"); n.wait(time.Hour) }, wire.Gathering, "bob is here"},
		{"nobody waits for a number", 0, func(n *session) { n.join("ann", "bob") }, wire.Gathering, "bob is here"},
		{"the organiser says go", 0, func(n *session) { n.join("ann", "bob"); n.goes() }, wire.Listing, "bob is here"},
		{"the organiser goes early", 4, func(n *session) { n.join("ann"); n.goes() }, wire.Listing, "ann is here"},
		{"the organiser goes alone", 2, func(n *session) { n.goes() }, wire.Gathering, "nobody is here yet"},
		{"someone has just left", 2, func(n *session) { n.join("ann"); n.gone("ann"); n.join("bob") }, wire.Gathering, "bob is here"},
		{"and comes back", 2, func(n *session) { n.join("ann"); n.gone("ann"); n.join("bob", "ann") }, wire.Listing, "ann is back"},
		{"someone is gone for good", 3, func(n *session) {
			n.join("ann", "bob")
			n.gone("ann")
			n.wait(31 * time.Second)
		}, wire.Gathering, "ann has been gone for 30s: the place is free"},
		{"and another takes the place", 2, func(n *session) {
			n.join("ann")
			n.gone("ann")
			n.wait(31 * time.Second)
			n.join("bob", "cat")
		}, wire.Listing, "cat is here"},
		{"go while listing changes nothing", 2, func(n *session) { n.join("ann", "bob"); n.goes(); n.goes() }, wire.Listing, "bob is here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newSession(t, settings(tt.players))
			tt.events(n)
			n.inStage(tt.stage)
			if last := n.room.log[len(n.room.log)-1].Text; last != tt.note {
				t.Errorf("the last note is %q, want %q", last, tt.note)
			}
			if n.fetches > 1 || (n.fetches == 1) != (tt.stage == wire.Listing) {
				t.Errorf("%d lists were asked for", n.fetches)
			}
		})
	}
}

// TestOrganiser: whoever comes with the secret is, and stays so without the program;
// nobody becomes it by being the first.
func TestOrganiser(t *testing.T) {
	n := newSession(t, settings(0))
	n.as["ann"] = "secret"
	organiser := func() (who string) {
		for _, p := range n.view().People {
			if p.Organiser {
				who += p.Name
			}
		}
		return who
	}
	n.join("bob", "ann")
	if got := organiser(); got != "ann" {
		t.Errorf("the organiser is %q", got)
	}
	n.gone("ann")
	n.wait(31 * time.Second)
	n.join("cat")
	if got := organiser(); got != "ann" || n.room.round.player("ann") != nil {
		t.Errorf("without a program the organiser is %q", got)
	}
	n.as["ann"] = "" // the program has the token of before
	n.join("ann")
	if got := organiser(); got != "ann" || len(n.room.guests) > 0 || n.room.round.player("ann").page != pageOf("token of ann") {
		t.Errorf("back again the organiser is %q", got)
	}
}

// TestPatience: nobody holds the others for ever.
func TestPatience(t *testing.T) {
	tests := []struct {
		name   string
		events func(*session)
		at     time.Duration // when the stage is reached, after the list
		stage  wire.Stage
		notes  []string
	}{
		{"a peer that never answers", func(n *session) {
			n.measures("ann", 10, 20)
			n.done("ann")
		}, 20*time.Second + tick, wire.Chosen, []string{"going on without bob, who has reported nothing for 20s"}},
		{"a peer that stops answering", func(n *session) {
			n.measures("ann", 10, 20)
			n.done("ann")
			n.wait(10 * time.Second)
			n.measures("bob", 10)
		}, 30*time.Second + tick, wire.Chosen, []string{"going on without bob, who has reported nothing for 20s"}},
		{"a peer that vanished", func(n *session) {
			n.measures("bob", 10)
			n.measures("ann", 10, 20)
			n.done("ann")
			n.gone("bob")
		}, 30*time.Second + tick, wire.Chosen, []string{"lost the connection to bob", "going on without bob, who has been gone for 30s"}},
		{"a peer that vanished when it was done", func(n *session) {
			n.measures("bob", 10, 20)
			n.done("bob")
			n.gone("bob")
			n.measures("ann", 10, 20)
			n.wait(15 * time.Second)
			n.done("ann")
		}, 15 * time.Second, wire.Chosen, []string{"ann has measured 2 servers, 2 answered", "everyone looks at the best 2 again"}},
		{"a slow peer, whose part will do", func(n *session) {
			n.measures("ann", 10, 20)
			n.done("ann")
			n.crawls("bob", 30, 30, 30, 30, 30, 30)
		}, time.Minute + tick, wire.Chosen, []string{"time is up after 1m0s: choosing from what has been measured", "everyone looks at the best 2 again"}},
		{"a slow peer, whose part leaves nothing", func(n *session) {
			n.measures("ann", lost, 20)
			n.done("ann")
			n.crawls("bob", 30, skip, 30, 30, 30, 30)
		}, time.Minute + tick, wire.Chosen, []string{"choosing without bob, who has measured 5 of 7 servers", "everyone looks at the best 1 again"}},
		{"two slow peers, who agree on nothing", func(n *session) {
			n.measures("ann", lost, 20)
			n.measures("bob", 30)
			for server := 2; server < 7; server++ {
				n.wait(9 * time.Second)
				n.says("ann", wire.Report{Round: 1, Results: []discovery.Result{{Server: server, State: discovery.Lost}}})
				n.says("bob", wire.Report{Round: 1, Results: []discovery.Result{{Server: server, State: discovery.Lost}}})
			}
		}, time.Minute + tick, wire.Failed, []string{"no server suits everyone: 6 unreachable for someone, 1 not measured by everyone"}},
		{"a peer that says the same again and again", func(n *session) {
			n.measures("ann", 10, 20)
			n.done("ann")
			for range 6 {
				n.measures("bob", 30)
				n.wait(5 * time.Second)
			}
		}, 20*time.Second + tick, wire.Chosen, []string{"going on without bob, who has reported nothing for 20s"}},
		{"nobody answers", func(*session) {}, longestPause + 20*time.Second + tick, wire.Failed, []string{
			"nobody is heard any more: that is likely our line, and the clock stands still until somebody is back",
			"waited long enough: the clock goes on", "nobody is left to measure",
		}},
		{"everyone is gone", func(n *session) {
			n.measures("ann", 10, 20)
			n.gone("ann")
			n.gone("bob")
		}, longestAbsence + 30*time.Second + tick, wire.Failed, []string{"nobody is left to measure"}},
		{"a peer that was left out and reports again", func(n *session) {
			for server := range 3 {
				n.measures("ann", append(make([]int, server), 10)...)
				n.wait(7 * time.Second)
			}
			n.measures("bob", 30, 10)
			n.done("ann", "bob")
		}, 21 * time.Second, wire.Chosen, []string{"going on without bob, who has reported nothing for 20s", "bob measures again", "everyone looks at the best 2 again"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := measuring(t, 7, "ann", "bob")
			tt.events(n)
			for n.room.phase.stage() == wire.Measuring && n.now.Sub(eight) < time.Hour {
				n.wait(tick)
			}
			n.inStage(tt.stage)
			if at := n.room.since.Sub(eight); at != tt.at {
				t.Errorf("it took %v, want %v", at, tt.at)
			}
			n.noted(tt.notes...)
		})
	}
}

// crawls has a player report a server every ten seconds.
func (n *session) crawls(name string, ms ...int) {
	for server, rtt := range ms {
		if rtt != skip {
			n.measures(name, append(make([]int, server), rtt)...)
		}
		n.wait(10 * time.Second)
	}
}

// TestEarlyGo: the organiser's impatience costs nobody's measurements.
func TestEarlyGo(t *testing.T) {
	n := measuring(t, 3, "ann", "bob", "cat")
	n.goes()
	n.inStage(wire.Measuring)
	n.measures("ann", 10, 20)
	n.measures("bob", lost, skip, 30)
	n.goes()
	n.inStage(wire.Measuring)
	n.noted("the organiser says go, but no server suits everyone so far: measuring goes on",
		"the organiser says go, but no server suits everyone so far: measuring goes on")
	n.measures("bob", lost, 25, 30)
	n.goes()
	n.inStage(wire.Chosen)
	n.noted("the organiser says go: choosing from what has been measured", "choosing without cat, who has measured 0 of 3 servers")
	if got := n.took("cat"); got != "" {
		t.Errorf("cat, who has no say, is sent %q", got)
	}
	n.verifies("ann")
	n.verifies("bob")
	n.goesTo(1)
	if got := n.took("cat"); got != "launch" {
		t.Errorf("cat is sent %q", got)
	}
}

func TestListing(t *testing.T) {
	tests := []struct {
		name    string
		servers []discovery.Server
		err     error
		stage   wire.Stage
		note    string
	}{
		{"error", nil, errors.New("master: no answer from dpmaster.deathmask.net"), wire.Failed, "no server list: master: no answer from dpmaster.deathmask.net"},
		{"empty", nil, nil, wire.Failed, "the server list is empty"},
		{"nothing usable", []discovery.Server{{}}, nil, wire.Failed, "the server list is empty"},
		{"some", listOf(3), nil, wire.Measuring, "3 servers listed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newSession(t, settings(1))
			n.join("ann")
			n.step(Listed{List: topology.New(Shared(tt.servers, nil)), Err: tt.err})
			n.inStage(tt.stage)
			n.noted(tt.note)
			n.gets(listOf(9)) // nobody waits for it
			if len(n.room.round.servers.List) == 9 {
				t.Error("a second list was taken")
			}
		})
	}
}
