package room_test

import (
	"strings"
	"testing"
	"time"

	"muster/discovery/hostport"
	"muster/host/room"
	"muster/host/room/attendance"
	"muster/host/room/outage"
	"muster/host/wire"
)

// threeVote returns a room of three who vote on six servers. Server 1 is the best for all, then 2.
// Cat is far from server 0, which is the best without her.
func threeVote(t *testing.T) *session {
	t.Helper()
	s := settings(3)
	s.Agree = wire.Yes
	n := newSession(t, s)
	n.As["ann"] = n.Room.Keys().Secret
	n.Join("ann", "bob", "cat")
	n.Listed(6)
	n.Informs("ann", 12, 12, 12, 12, 12, 12)
	n.Measures("ann", 10, 20, 30, 40, 50, 60)
	n.Measures("bob", 10, 20, 30, 40, 50, 60)
	n.Measures("cat", 200, 20, 30, 40, 50, 60)
	n.Done("ann", "bob", "cat")
	for _, name := range []string{"ann", "bob", "cat"} {
		n.Verifies(name)
		n.Step(room.PageOpened{Token: n.PageOf(name)})
	}
	if !n.IsVoting() || n.View().Choice.Target != addrOf(1).String() {
		t.Fatalf("nobody is asked about server 1; the log:\n%s", n.Story())
	}
	return n
}

// TestLeaving checks that the others get a new choice within seconds, in one sentence, when a
// player leaves during the vote or the countdown. Nobody loses a vote by it, and a player who is
// away for a moment has not left.
func TestLeaving(t *testing.T) {
	says := func(n *session, name string, a room.Action) {
		n.Helper()
		if err := n.Acts(n.PageOf(name), a); err != nil {
			n.Error(err)
		}
	}
	const again, still = "Choosing again for two.", "server 1 (192.0.2.1:27960) is still the best for two."
	tests := []struct {
		name   string
		happen func(*session)
		to     int // the server ahead then
		note   string
		never  string
		stage  wire.Stage
	}{
		{"who decided leaves by the page", func(n *session) {
			says(n, "cat", room.Quit{})
		}, 0, "cat left. " + again, "cat has left", wire.Chosen},
		{"another leaves by the page", func(n *session) { says(n, "bob", room.Quit{}) }, 1, "bob left. " + still, "", wire.Chosen},
		{"somebody is removed", func(n *session) { n.Orders(room.Remove{Name: "cat"}) }, 0, "cat is no longer here. " + again, "", wire.Chosen},
		{"a program is away for a moment", func(n *session) {
			n.Gone("cat")
			n.Wait(attendance.LeftAfter - time.Second)
			n.Join("cat")
			n.Wait(time.Minute)
		}, 1, "cat is back", "left.", wire.Chosen},
		{"a program ends", func(n *session) {
			n.Gone("cat")
			n.Wait(attendance.LeftAfter + time.Second)
		}, 0, "cat left. " + again, "", wire.Chosen},
		{"another's program ends", func(n *session) {
			n.Gone("bob")
			n.Wait(attendance.LeftAfter + time.Second)
		}, 1, "bob left. " + still, "", wire.Chosen},
		{"and is back", func(n *session) {
			n.Gone("cat")
			n.Wait(attendance.LeftAfter + time.Second)
			n.LookAgain()
			n.Join("cat")
		}, 1, "cat is back. Choosing again for three.", "", wire.Chosen},
		{"two fall silent together", func(n *session) {
			n.Gone("bob")
			n.Gone("cat")
			n.Wait(attendance.LeftAfter + time.Second)
		}, 1, "lost the connection to cat", "left.", wire.Chosen},
		{"and stay away", func(n *session) {
			n.Gone("bob")
			n.Gone("cat")
			n.Wait(outage.LongestPause + time.Second)
		}, 0, "bob and cat left. Choosing again for ann.", "", wire.Chosen},
		{"everybody is away", func(n *session) {
			n.Gone("ann")
			n.Gone("bob")
			n.Gone("cat")
			n.Wait(outage.LongestPause + time.Second)
		}, 1, "lost the connection to cat", "left.", wire.Chosen},
		{"one after the other", func(n *session) {
			says(n, "cat", room.Quit{})
			n.LookAgain()
			n.Gone("bob")
			n.Wait(attendance.LeftAfter + time.Second)
		}, 0, "bob left. server 0 (192.0.2.0:27960) is still the best for ann.", "", wire.Chosen},
		{"votes stay", func(n *session) {
			says(n, "ann", room.Vote{Addr: hostport.At(addrOf(2))})
			says(n, "cat", room.Quit{})
		}, 2, "cat left. " + again, "", wire.Chosen},
		{"whose vote goes along", func(n *session) {
			says(n, "cat", room.Vote{Addr: hostport.At(addrOf(2))})
			n.Gone("cat")
			n.Wait(attendance.LeftAfter + time.Second)
		}, 0, "cat left. " + again, "", wire.Chosen},
		{"as the countdown runs", func(n *session) {
			n.Goes()
			n.Gone("cat")
			n.Wait(attendance.LeftAfter + time.Second)
		}, 0, "cat left. " + again, "everyone to", wire.Chosen},
		{"the same server as the countdown runs", func(n *session) {
			n.Goes()
			n.Gone("bob")
			n.Wait(max(attendance.LeftAfter, countdownTime) + time.Second)
		}, 1, "bob left. " + still, "", wire.Launching},
		{"for a moment as the countdown runs", func(n *session) {
			n.Goes()
			n.Gone("cat")
			n.Wait(attendance.LeftAfter / 2)
			n.Join("cat")
			n.Wait(countdownTime)
		}, 1, "everyone to server 1 (192.0.2.1:27960): 20 ms on average, 20 at worst", "left.", wire.Launching},
		{"the others were ready", func(n *session) {
			says(n, "ann", room.Ready{Ready: true})
			says(n, "cat", room.Ready{Ready: true})
			says(n, "bob", room.Quit{})
			n.Wait(countdownTime + time.Second)
		}, 1, "everyone is ready: launch in 11s", "", wire.Launching},
		{"a page is closed, and the others were ready", func(n *session) {
			says(n, "ann", room.Ready{Ready: true})
			says(n, "bob", room.Ready{Ready: true})
			n.Step(room.PageClosed{Token: n.PageOf("cat")})
			n.Wait(attendance.LeftAfter + countdownTime + time.Second)
		}, 1, "everyone is ready: launch in 11s", "", wire.Launching},
		{"a page is loaded again", func(n *session) {
			says(n, "ann", room.Ready{Ready: true})
			says(n, "bob", room.Ready{Ready: true})
			n.Step(room.PageClosed{Token: n.PageOf("cat")})
			n.Wait(time.Second)
			n.Step(room.PageOpened{Token: n.PageOf("cat")})
			n.Wait(time.Minute)
		}, 1, "everyone takes another look at the best 6", "everyone is ready", wire.Chosen},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := threeVote(t)
			tt.happen(n)
			n.LookAgain()
			n.Noted(tt.note)
			n.InStage(tt.stage)
			if tt.never != "" && strings.Contains(n.Story(), tt.never) {
				t.Errorf("it says %q:\n%s", tt.never, n.Story())
			}
			if ahead := n.View().Choice.Target; ahead != addrOf(tt.to).String() {
				t.Errorf("%s is ahead, want server %d; the log:\n%s", ahead, tt.to, n.Story())
			}
			same(t, n.Room, restored(t, n.Room))
		})
	}
}

// TestWatching checks that people who only watch block nothing and weigh nothing, not even the
// organiser or a player who came too late, unless the organiser lets them vote.
func TestWatching(t *testing.T) {
	watching := func(guestsVote bool) *session {
		s := settings(0)
		s.Agree, s.GuestsVote = wire.Yes, guestsVote
		n := newSession(t, s)
		if err := n.Enters("org", n.Room.Keys().Secret); err != nil {
			t.Fatal(err)
		}
		n.Step(room.PageOpened{Token: "org's token"})
		n.Join("ann", "bob")
		n.Goes()
		n.Listed(6)
		n.Informs("ann", 12, 12, 12, 12, 12, 12)
		for _, name := range []string{"ann", "bob"} {
			n.Measures(name, 10, 20, 30, 40, 50, 60)
			n.Step(room.PageOpened{Token: n.PageOf(name)})
		}
		n.Done("ann", "bob")
		n.Verifies("ann")
		n.Verifies("bob")
		n.Join("dan") // too late
		n.Step(room.PageOpened{Token: n.PageOf("dan")})
		return n
	}
	n := watching(false)
	if err := n.OnPage("org", room.Vote{Addr: hostport.At(addrOf(2))}); reason(err) != wire.ReasonAction {
		t.Errorf("the organiser who only watches votes: %v", err)
	}
	if err := n.Acts(n.PageOf("dan"), room.Vote{Addr: hostport.At(addrOf(2))}); reason(err) != wire.ReasonAction {
		t.Errorf("who came too late votes: %v", err)
	}
	n.Acts(n.PageOf("ann"), room.Ready{Ready: true})
	n.Acts(n.PageOf("bob"), room.Ready{Ready: true})
	n.Noted("everyone is ready: launch in 11s")
	n = watching(true)
	if err := n.OnPage("org", room.Vote{Addr: hostport.At(addrOf(2))}); err != nil {
		t.Errorf("guests may vote, and the organiser may not: %v", err)
	}
	n.Acts(n.PageOf("ann"), room.Ready{Ready: true})
	n.Acts(n.PageOf("bob"), room.Ready{Ready: true})
	if strings.Contains(n.Story(), "everyone is ready") {
		t.Errorf("guests have a say, and are not waited for:\n%s", n.Story())
	}
	n.OnPage("org", room.Ready{Ready: true})
	n.Noted("everyone is ready: launch in 11s")
}
