package host

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// TestNight is a whole night, message by message.
func TestNight(t *testing.T) {
	n := newNight(t, settings(2))
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
		"ann is on the way", "bob could not start the game: no such program")
}

func TestStart(t *testing.T) {
	tests := []struct {
		name    string
		players int
		events  func(*night)
		stage   wire.Stage
		note    string
	}{
		{"the last player comes", 2, func(n *night) { n.join("ann", "bob") }, wire.Listing, "bob is here"},
		{"one is missing", 3, func(n *night) { n.join("ann", "bob"); n.wait(time.Hour) }, wire.Gathering, "bob is here"},
		{"nobody waits for a number", 0, func(n *night) { n.join("ann", "bob") }, wire.Gathering, "bob is here"},
		{"the organiser says go", 0, func(n *night) { n.join("ann", "bob"); n.goes() }, wire.Listing, "bob is here"},
		{"the organiser goes early", 4, func(n *night) { n.join("ann"); n.goes() }, wire.Listing, "ann is here"},
		{"the organiser goes alone", 2, func(n *night) { n.goes() }, wire.Gathering, "nobody is here yet"},
		{"someone has just left", 2, func(n *night) { n.join("ann"); n.gone("ann"); n.join("bob") }, wire.Gathering, "bob is here"},
		{"and comes back", 2, func(n *night) { n.join("ann"); n.gone("ann"); n.join("bob", "ann") }, wire.Listing, "ann is back"},
		{"someone is gone for good", 3, func(n *night) {
			n.join("ann", "bob")
			n.gone("ann")
			n.wait(31 * time.Second)
		}, wire.Gathering, "ann has been gone for 30s: the place is free"},
		{"and another takes the place", 2, func(n *night) {
			n.join("ann")
			n.gone("ann")
			n.wait(31 * time.Second)
			n.join("bob", "cat")
		}, wire.Listing, "cat is here"},
		{"go while listing changes nothing", 2, func(n *night) { n.join("ann", "bob"); n.goes(); n.goes() }, wire.Listing, "bob is here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNight(t, settings(tt.players))
			tt.events(n)
			n.inStage(tt.stage)
			if last := n.room.Log[len(n.room.Log)-1].Text; last != tt.note {
				t.Errorf("the last note is %q, want %q", last, tt.note)
			}
			if n.fetches > 1 || (n.fetches == 1) != (tt.stage == wire.Listing) {
				t.Errorf("%d lists were asked for", n.fetches)
			}
		})
	}
}

func TestOrganiser(t *testing.T) {
	n := newNight(t, settings(0))
	n.join("ann", "bob")
	n.gone("ann")
	n.wait(31 * time.Second)
	n.join("cat")
	got := ""
	for _, m := range n.room.View().Members {
		if m.Organiser {
			got += m.Name
		}
	}
	if got != "cat" || n.room.member("ann") != nil {
		t.Errorf("organisers are %q of %d", got, len(n.room.Members))
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name    string
		players int
		there   []string
		hello   string
		token   string
		reason  string // empty: welcome
	}{
		{"a free name", 3, []string{"ann"}, "bob", "", ""},
		{"no name", 3, nil, "", "", wire.ReasonName},
		{"a name of nothing to see", 3, nil, " \x00\u202e\u200b\t", "", wire.ReasonName},
		{"a name that is there", 3, []string{"ann"}, "ann", "", wire.ReasonNameTaken},
		{"with a wrong token", 3, []string{"ann"}, "ann", "token of bob", wire.ReasonNameTaken},
		{"with its token", 3, []string{"ann"}, "ann", "token of ann", ""},
		{"in capitals", 3, []string{"ann"}, "ANN", "", wire.ReasonNameTaken},
		{"in capitals, with its token", 3, []string{"ann"}, "ANN", "token of ann", ""},
		{"in letters that fold", 3, []string{"Märkel"}, "MÄRKEL", "", wire.ReasonNameTaken},
		{"with the Kelvin sign", 3, []string{"Kim"}, "\u212aim", "", wire.ReasonNameTaken},
		{"with blanks around", 3, []string{"ann"}, "  ann ", "", wire.ReasonNameTaken},
		{"with control characters", 3, []string{"ann"}, "a\x1bn\x07n", "", wire.ReasonNameTaken},
		{"turned around", 3, []string{"ann"}, "\u202eann", "", wire.ReasonNameTaken},
		{"with a joiner of no width", 3, []string{"ann"}, "an\u200dn", "", wire.ReasonNameTaken},
		{"with invalid UTF-8", 3, []string{"ann"}, "an\xffn", "", wire.ReasonNameTaken},
		{"as long as names get", 3, []string{strings.Repeat("x", 32)}, strings.Repeat("x", 90), "", wire.ReasonNameTaken},
		{"a full room", 2, []string{"ann", "bob"}, "cat", "", wire.ReasonFull},
		{"a full room, but a member", 2, []string{"ann", "bob"}, "bob", "token of bob", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNight(t, settings(tt.players))
			n.join(tt.there...)
			members := len(n.room.Members)
			refusal := n.tryJoin(tt.hello, tt.token)
			switch {
			case refusal == nil && tt.reason != "":
				t.Errorf("welcome, want %q", tt.reason)
			case refusal != nil && refusal.Reason != tt.reason:
				t.Errorf("refused for %q (%v), want %q", refusal.Reason, refusal, tt.reason)
			case refusal != nil && len(n.room.Members) != members:
				t.Error("refused, but a member now")
			}
		})
	}
}

func TestNamesAreShort(t *testing.T) {
	if got := playerName(strings.Repeat("ä", 40)); got != strings.Repeat("ä", 16) {
		t.Errorf("a long name becomes %q", got)
	}
	if got := playerName(strings.Repeat("x", 31) + "ä"); got != strings.Repeat("x", 31) {
		t.Errorf("a name cut inside a letter becomes %q", got)
	}
}

func TestOpenRoomsAreFullOnce(t *testing.T) {
	n := newNight(t, settings(0))
	for i := range maxMembers {
		n.join(fmt.Sprint("player ", i))
	}
	if refusal := n.tryJoin("one more", ""); refusal == nil || refusal.Reason != wire.ReasonFull {
		t.Errorf("the %dth member: %v", maxMembers+1, refusal)
	}
}

// TestLateJoiner: who comes late is told what the others know, and holds up
// nobody.
func TestLateJoiner(t *testing.T) {
	start := func(t *testing.T) *night {
		n := newNight(t, settings(0))
		n.join("ann", "bob")
		n.goes()
		return n
	}
	listed := func(t *testing.T) *night {
		n := start(t)
		n.listed(2)
		n.informs("ann", 12, 12)
		n.measures("ann", 10, 20)
		n.measures("bob", 10, 20)
		return n
	}
	chosen := func(t *testing.T) *night {
		n := listed(t)
		n.done("ann", "bob")
		n.inStage(wire.Chosen)
		return n
	}
	tests := []struct {
		name string
		at   func(t *testing.T) *night
		sent string
		then func(n *night)
	}{
		{"listing", start, "welcome", func(n *night) {
			n.listed(2)
			if got := n.took("cat"); got != "list measure" {
				n.Errorf("cat is sent %q then", got)
			}
		}},
		{"measuring", listed, "welcome list measure", func(n *night) {
			n.done("ann", "bob")
			n.inStage(wire.Measuring) // cat is waited for
			n.measures("cat", 99, 10)
			n.done("cat")
			n.verifies("ann")
			n.verifies("bob")
			n.verifies("cat")
			n.goesTo(1)
		}},
		{"chosen", chosen, "welcome", func(n *night) {
			n.verifies("ann")
			n.verifies("bob")
			n.goesTo(0)
			if got := n.took("cat"); got != "launch" {
				n.Errorf("cat is sent %q then", got)
			}
			n.noted("cat is here, too late for a say in this round")
		}},
		{"chosen, and looks all the same", chosen, "welcome", func(n *night) {
			n.says("cat", wire.Verified{Round: 1, Attempt: 1, Servers: []wire.Finalist{{Server: 0, State: discovery.Lost, Sent: 3}}})
			n.verifies("ann")
			n.verifies("bob")
			n.goesTo(0)
		}},
		{"chosen, and the last seat was for bob", func(t *testing.T) *night {
			n := listed(t)
			n.informs("ann", 2, 12)
			n.done("ann", "bob")
			n.inStage(wire.Chosen)
			return n
		}, "welcome", func(n *night) {
			for _, name := range []string{"ann", "bob"} {
				n.says(name, wire.Verified{Round: 1, Attempt: 1, Servers: []wire.Finalist{{Server: 0, State: discovery.Answered, RTTs: []float64{10}, Sent: 3}}})
			}
			n.noted("192.0.2.0:27960 turned out to be full: 192.0.2.1:27960 takes its place")
		}},
		{"launching", func(t *testing.T) *night {
			n := chosen(t)
			n.verifies("ann")
			n.verifies("bob")
			return n
		}, "welcome launch", func(n *night) { n.goesTo(0) }},
		{"failed", func(t *testing.T) *night {
			n := start(t)
			n.perform(n.room.Listed(nil, errors.New("no master answers"), n.now))
			return n
		}, "welcome", func(n *night) {
			n.goes()
			n.inStage(wire.Listing)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := tt.at(t)
			n.join("cat")
			if got := n.took("cat"); got != tt.sent {
				t.Errorf("cat is sent %q, want %q", got, tt.sent)
			}
			tt.then(n)
		})
	}
}

// TestComeBack: a member with its token gets back what it had.
func TestComeBack(t *testing.T) {
	n := measuring(t, 4, "ann", "bob")
	n.measures("bob", 10, lost, skip, 30)
	n.gone("bob")
	n.wait(5 * time.Second)
	if refusal := n.tryJoin("bob", ""); refusal == nil || refusal.Reason != wire.ReasonNameTaken {
		t.Errorf("bob without a token: %v", refusal)
	}
	n.join("bob")
	messages := n.sent["bob"]
	if got := n.took("bob"); got != "welcome list measure report" {
		t.Fatalf("bob is sent %q", got)
	}
	if welcome := messages[0].(wire.Welcome); welcome.Token != "token of bob" {
		t.Errorf("bob's token is %q now", welcome.Token)
	}
	if known := messages[2].(wire.Measure).Known; known != 3 {
		t.Errorf("bob is told that %d results are known, want 3", known)
	}
	report := messages[3].(wire.Report)
	if len(report.Results) != 3 || report.Results[1].State != discovery.Lost || report.Results[2].Server != 3 {
		t.Errorf("bob gets back %+v", report)
	}
	n.noted("lost the connection to bob", "bob is back")

	n.measures("bob", 10, lost, 20, 30) // all of it again
	n.measures("ann", 10, 10, 10, 10)
	n.done("ann", "bob")
	n.inStage(wire.Chosen)
	n.gone("bob")
	n.join("bob")
	if got := n.took("bob"); got != "finalists welcome list finalists" {
		t.Errorf("bob is sent %q while the finalists are looked at", got)
	}
	n.verifies("ann")
	n.verifies("bob")
	n.inStage(wire.Launching)
	n.took("bob")
	for _, tt := range []struct {
		state wire.LaunchState
		sent  string
	}{
		{"", "welcome launch"},
		{wire.LaunchAsking, "welcome launch"}, // the question may have died with the program
		{wire.LaunchFailed, "welcome"},
		{wire.LaunchStarted, "welcome"},
		{wire.LaunchDeclined, "welcome"},
	} {
		n.room.member("bob").Launch = tt.state
		n.gone("bob")
		n.join("bob")
		if got := n.took("bob"); got != tt.sent {
			t.Errorf("bob, whose launch is %q, is sent %q, want %q", tt.state, got, tt.sent)
		}
	}
}

// TestPatience: nobody holds the others for ever.
func TestPatience(t *testing.T) {
	tests := []struct {
		name   string
		events func(*night)
		at     time.Duration // when the stage is reached, after the list
		stage  wire.Stage
		notes  []string
	}{
		{"a peer that never answers", func(n *night) {
			n.measures("ann", 10, 20)
			n.done("ann")
		}, 20*time.Second + tickEvery, wire.Chosen, []string{"going on without bob, who has reported nothing for 20s"}},
		{"a peer that stops answering", func(n *night) {
			n.measures("ann", 10, 20)
			n.done("ann")
			n.wait(10 * time.Second)
			n.measures("bob", 10)
		}, 30*time.Second + tickEvery, wire.Chosen, []string{"going on without bob, who has reported nothing for 20s"}},
		{"a peer that vanished", func(n *night) {
			n.measures("bob", 10)
			n.measures("ann", 10, 20)
			n.done("ann")
			n.gone("bob")
		}, 30*time.Second + tickEvery, wire.Chosen, []string{"lost the connection to bob", "going on without bob, who has been gone for 30s"}},
		{"a peer that vanished when it was done", func(n *night) {
			n.measures("bob", 10, 20)
			n.done("bob")
			n.gone("bob")
			n.measures("ann", 10, 20)
			n.wait(15 * time.Second)
			n.done("ann")
		}, 15 * time.Second, wire.Chosen, []string{"ann has measured 2 servers, 2 answered", "everyone looks at the best 2 again"}},
		{"a slow peer, whose part will do", func(n *night) {
			n.measures("ann", 10, 20)
			n.done("ann")
			for range 6 {
				n.measures("bob", 30)
				n.wait(10 * time.Second)
			}
		}, time.Minute + tickEvery, wire.Chosen, []string{"time is up after 1m0s: choosing from what has been measured", "everyone looks at the best 1 again"}},
		{"a slow peer, whose part leaves nothing", func(n *night) {
			n.measures("ann", lost, 20)
			n.done("ann")
			for range 6 {
				n.measures("bob", 30)
				n.wait(10 * time.Second)
			}
		}, time.Minute + tickEvery, wire.Chosen, []string{"choosing without bob, who has measured 1 of 2 servers", "everyone looks at the best 1 again"}},
		{"two slow peers, who agree on nothing", func(n *night) {
			for range 6 {
				n.measures("ann", lost, 20)
				n.measures("bob", 30)
				n.wait(10 * time.Second)
			}
		}, time.Minute + tickEvery, wire.Failed, []string{"no server suits everyone: 1 unreachable for someone, 1 not measured by everyone"}},
		{"nobody answers", func(*night) {}, 20*time.Second + tickEvery, wire.Failed, []string{"nobody is left to measure"}},
		{"everyone is gone", func(n *night) {
			n.measures("ann", 10, 20)
			n.gone("ann")
			n.gone("bob")
		}, 30*time.Second + tickEvery, wire.Failed, []string{"nobody is left to measure"}},
		{"a peer that was left out and reports again", func(n *night) {
			n.measures("ann", 10, 20)
			n.wait(18 * time.Second)
			n.measures("ann", 10, 20)
			n.wait(3 * time.Second)
			n.measures("bob", 30, 10)
			n.done("ann", "bob")
		}, 21 * time.Second, wire.Chosen, []string{"going on without bob, who has reported nothing for 20s", "bob measures again", "everyone looks at the best 2 again"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := measuring(t, 2, "ann", "bob")
			tt.events(n)
			for n.room.Stage == wire.Measuring && n.now.Sub(eight) < time.Hour {
				n.wait(tickEvery)
			}
			n.inStage(tt.stage)
			if at := n.room.Since.Sub(eight); at != tt.at {
				t.Errorf("it took %v, want %v", at, tt.at)
			}
			n.noted(tt.notes...)
		})
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
			n := newNight(t, settings(1))
			n.join("ann")
			n.perform(n.room.Listed(tt.servers, tt.err, n.now))
			n.inStage(tt.stage)
			n.noted(tt.note)
			n.perform(n.room.Listed(listOf(9), nil, n.now)) // nobody waits for it
			if len(n.room.Servers) == 9 {
				t.Error("a second list was taken")
			}
		})
	}
}
