package room

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

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
			n := newSession(t, settings(tt.players))
			n.join(tt.there...)
			members := len(n.room.round.players)
			refusal := n.tryJoin(tt.hello, tt.token)
			switch {
			case refusal == nil && tt.reason != "":
				t.Errorf("welcome, want %q", tt.reason)
			case refusal != nil && refusal.Reason != tt.reason:
				t.Errorf("refused for %q (%v), want %q", refusal.Reason, refusal, tt.reason)
			case refusal != nil && len(n.room.round.players) != members:
				t.Error("refused, but a member now")
			}
		})
	}
}

// TestLateHello: of two connections of one program the later counts, in whichever order
// their hellos come. Of two programs the newest to come does.
func TestLateHello(t *testing.T) {
	for _, tt := range []struct {
		name    string
		program string
		line    int
		gone    bool
		reason  string // empty: welcome
	}{
		{"an earlier connection", "P", 2, false, wire.ReasonReplaced},
		{"an earlier connection, and nobody is there", "P", 2, true, ""},
		{"the same once more", "P", 3, false, ""},
		{"a later connection", "P", 4, false, ""},
		{"another program", "Q", 1, false, ""},
		{"a program that does not count", "", 0, false, ""},
	} {
		n := newSession(t, settings(2))
		hello := wire.Hello{Name: "ann", Token: "token of ann", Program: "P", Line: 3}
		come := func() *wire.Refusal {
			_, err := n.room.Step(Join{Hello: hello, Token: "token of ann"}, n.now)
			var refusal *wire.Refusal
			errors.As(err, &refusal)
			return refusal
		}
		come()
		if tt.gone {
			n.room.Step(Leave{Player: "ann"}, n.now)
		}
		hello.Program, hello.Line = tt.program, tt.line
		refusal := come()
		if reason := ""; refusal != nil {
			if reason = refusal.Reason; reason != tt.reason {
				t.Errorf("%s: refused for %q, want %q", tt.name, reason, tt.reason)
			}
		} else if tt.reason != "" {
			t.Errorf("%s: welcome, want %q", tt.name, tt.reason)
		}
	}
}

// TestLookalikes: nobody comes in under a name that people would take for another's.
func TestLookalikes(t *testing.T) {
	n := newSession(t, settings(0))
	n.join("ann")
	for _, tt := range []struct{ name, reason string }{
		{"\u0430nn", wire.ReasonNameTaken}, // a Cyrillic letter
		{"ａｎｎ", wire.ReasonNameTaken},
		{"ann\u3164", wire.ReasonNameTaken},
		{"a\u0335\u0336nn", wire.ReasonNameTaken},
		{"\u3164", wire.ReasonName},
		{"🎉", wire.ReasonName},
	} {
		if refusal := n.tryJoin(tt.name, "token of another"); refusal == nil || refusal.Reason != tt.reason {
			t.Errorf("a player comes as %q: %v, want %q", tt.name, refusal, tt.reason)
		}
		if err := n.step(Order{Action: Enter{Name: tt.name, Token: "page of another"}}); reason(err) != tt.reason {
			t.Errorf("a guest comes as %q: %v, want %q", tt.name, err, tt.reason)
		}
	}
	n.step(Order{Action: Enter{Name: "zoe", Token: "page of zoe"}})
	if err := n.acts("page of zoe", Rename{"Аnn"}); reason(err) != wire.ReasonNameTaken {
		t.Errorf("a guest takes a name that looks like ann's: %v", err)
	}
	n.join("zоe") // whose middle letter is Cyrillic: the guest gives way to a player
	var names []string
	for _, p := range n.view().People {
		names = append(names, p.Name)
	}
	if want := []string{"ann", "zоe", "zoe (guest)"}; !slices.Equal(names, want) {
		t.Errorf("the people are %q, want %q", names, want)
	}
}

func TestOpenRoomsAreFullOnce(t *testing.T) {
	n := newSession(t, settings(0))
	for i := range maxPlayers {
		n.join(fmt.Sprint("player ", i))
	}
	if refusal := n.tryJoin("one more", ""); refusal == nil || refusal.Reason != wire.ReasonFull {
		t.Errorf("the %dth member: %v", maxPlayers+1, refusal)
	}
}

// TestLateJoiner: who comes late is told what the others know, and holds up
// nobody.
func TestLateJoiner(t *testing.T) {
	start := func(t *testing.T) *session {
		n := newSession(t, settings(0))
		n.join("ann", "bob")
		n.goes()
		return n
	}
	listed := func(t *testing.T) *session {
		n := start(t)
		n.listed(2)
		n.informs("ann", 12, 12)
		n.measures("ann", 10, 20)
		n.measures("bob", 10, 20)
		return n
	}
	chosen := func(t *testing.T) *session {
		n := listed(t)
		n.done("ann", "bob")
		n.inStage(wire.Chosen)
		return n
	}
	tests := []struct {
		name string
		at   func(t *testing.T) *session
		sent string
		then func(n *session)
	}{
		{"listing", start, "welcome", func(n *session) {
			n.listed(2)
			if got := n.took("cat"); got != "list measure" {
				n.Errorf("cat is sent %q then", got)
			}
		}},
		{"measuring", listed, "welcome list measure", func(n *session) {
			n.done("ann", "bob")
			n.inStage(wire.Measuring) // cat is waited for
			n.measures("cat", 99, 10)
			n.done("cat")
			n.verifies("ann")
			n.verifies("bob")
			n.verifies("cat")
			n.goesTo(1)
		}},
		{"chosen", chosen, "welcome", func(n *session) {
			n.verifies("ann")
			n.verifies("bob")
			n.goesTo(0)
			if got := n.took("cat"); got != "launch" {
				n.Errorf("cat is sent %q then", got)
			}
			n.noted("cat is here, too late for a say in this round")
		}},
		{"chosen, and looks all the same", chosen, "welcome", func(n *session) {
			n.says("cat", wire.Verified{Round: 1, Attempt: 1, Servers: []wire.Finalist{{Server: 0, State: discovery.Lost, Sent: 3}}})
			n.verifies("ann")
			n.verifies("bob")
			n.goesTo(0)
		}},
		{"chosen, and the last seat was for bob", func(t *testing.T) *session {
			n := listed(t)
			n.informs("ann", 2, 12)
			n.done("ann", "bob")
			n.inStage(wire.Chosen)
			return n
		}, "welcome", func(n *session) {
			for _, name := range []string{"ann", "bob"} {
				n.says(name, wire.Verified{Round: 1, Attempt: 1, Servers: []wire.Finalist{{Server: 0, State: discovery.Answered, RTTs: []float64{10}, Sent: 3}}})
			}
			n.noted("192.0.2.0:27960 turned out to be full: 192.0.2.1:27960 takes its place")
		}},
		{"launching", func(t *testing.T) *session {
			n := chosen(t)
			n.verifies("ann")
			n.verifies("bob")
			return n
		}, "welcome list launch", func(n *session) { n.goesTo(0) }},
		{"failed", func(t *testing.T) *session {
			n := start(t)
			n.step(Listed{Err: errors.New("no master answers")})
			return n
		}, "welcome", func(n *session) {
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

// TestOwnToken: a token that the player's program made lets it in again though it never
// heard a welcome, unless it could be guessed.
func TestOwnToken(t *testing.T) {
	for own, taken := range map[string]bool{
		"": false, "short": false, strings.Repeat("A", tokenLength-1): false, strings.Repeat("A", longestToken+1): false,
		"Q3KXOJ2VBBKZ6BPCEGZ6ZK5LCE": true, strings.Repeat("A", longestToken): true,
	} {
		n := newSession(t, settings(4))
		if refusal := n.tryJoin("ann", own); refusal != nil {
			t.Fatal(refusal)
		}
		n.gone("ann")
		want := "token of ann"
		if taken {
			want = own
		}
		if got := n.tokens["ann"]; got != want {
			t.Errorf("with %q of her own ann has %q, want %q", own, got, want)
		}
		if refusal := n.tryJoin("ann", own); (refusal == nil) != taken {
			t.Errorf("ann with %q comes again: %v", own, refusal)
		}
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
		{"", "welcome list launch"},
		{wire.LaunchAsking, "welcome list launch"}, // the question may have died with the program
		{wire.LaunchFailed, "welcome"},
		{wire.LaunchStarted, "welcome"},
		{wire.LaunchDeclined, "welcome"},
	} {
		n.room.round.player("bob").launch = tt.state
		n.gone("bob")
		n.join("bob")
		if got := n.took("bob"); got != tt.sent {
			t.Errorf("bob, whose launch is %q, is sent %q, want %q", tt.state, got, tt.sent)
		}
	}
}
