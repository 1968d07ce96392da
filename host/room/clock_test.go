package room_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/room/attendance"
	"muster/host/room/outage"
	"muster/host/room/roomtest"
	"muster/host/wire"
)

// TestClockJumps checks that no wait depends on the machine's clock, which jumps both ways, with or
// without a restart of the host.
func TestClockJumps(t *testing.T) {
	inStage := func(n *session, stage wire.Stage) error {
		if n.Room.Stage() != stage {
			return fmt.Errorf("the room is %s, want %s", n.Room.Stage(), stage)
		}
		return nil
	}
	everybody := []string{"ann", "ben", "cat", "dan", "eve"}
	staysFull := func(n *session, d time.Duration) {
		for end := n.Now.Add(d); n.Now.Before(end); {
			n.Wait(tick)
			for _, name := range everybody {
				for _, m := range n.Sent[name] {
					if asked, is := m.(wire.Finalists); is {
						v := wire.Verified{Round: asked.Round, Attempt: asked.Attempt}
						for _, server := range asked.Servers {
							v.Servers = append(v.Servers, wire.Finalist{
								Server: server, State: discovery.Answered, RTTs: []float64{30}, Sent: 1,
								Info: &discovery.Info{Name: fmt.Sprint("server ", server), Map: "oa_dm1", Players: 16, MaxPlayers: 16},
							})
						}
						n.Says(name, v)
					}
				}
				delete(n.Sent, name)
			}
		}
	}
	refusal := func(n *session, in room.Input) error {
		_, err := n.Room.Step(in, roomtest.At(n.Now, 0))
		return err
	}
	for _, tt := range []struct {
		name string
		// until brings the room to where the clock jumps, and returns the players who are
		// there.
		until func(*testing.T) (*session, []string)
		// then checks the room soon after.
		then func(*session) error
		// isOfDates says that it follows from the calendar.
		isOfDates bool
	}{
		{"a round that failed is tried again", func(t *testing.T) (*session, []string) {
			n := newSession(t, settings(1))
			n.Join("ann")
			n.Step(room.Listed{Err: errors.New("no name server")})
			n.InStage(wire.Failed)
			return n, []string{"ann"}
		}, func(n *session) error {
			n.Wait(attendance.Retries(1).Rest() + time.Second)
			return inStage(n, wire.Listing)
		}, false},
		{"a nickname is free again", func(t *testing.T) (*session, []string) {
			n := newSession(t, settings(2))
			n.Enters("zoe", "")
			return n, nil
		}, func(n *session) error {
			n.Until(n.Now.Add(guestGone + time.Second))
			if n.Person("zoe").Name != "" {
				return errors.New("it is taken")
			}
			return nil
		}, false},
		{"a place is free again", func(t *testing.T) (*session, []string) {
			n := newSession(t, settings(3))
			n.Join("ann", "bob")
			n.Gone("bob")
			return n, []string{"ann"}
		}, func(n *session) error {
			n.Until(n.Now.Add(attendance.GoneAfter + time.Second))
			if n.Person("bob").Name != "" {
				return errors.New("it is not")
			}
			return nil
		}, false},
		{"who says nothing is left out", func(t *testing.T) (*session, []string) {
			n := newSession(t, settings(2))
			n.Join("ann", "bob")
			n.Listed(2)
			n.Informs("ann", 12, 12)
			n.Measures("ann", 10, 20)
			n.Done("ann")
			return n, []string{"ann", "bob"}
		}, func(n *session) error {
			n.Wait(outage.StalledAfter + time.Second)
			return inStage(n, wire.Chosen)
		}, false},
		{"most are away, and are waited for no longer", func(t *testing.T) (*session, []string) {
			n := newSession(t, settings(3))
			n.Join("ann", "bob", "cat")
			n.Listed(2)
			n.Informs("ann", 12, 12)
			n.Measures("ann", 10, 20)
			n.Done("ann")
			n.Gone("bob")
			n.Gone("cat")
			n.Wait(time.Second)
			if !n.View().Room.Paused {
				t.Fatal("the room does not stand still")
			}
			return n, []string{"ann"}
		}, func(n *session) error {
			n.Wait(outage.LongestPause + attendance.GoneAfter + 2*time.Second)
			return inStage(n, wire.Chosen)
		}, false},
		{"who does not look again is waited for no longer", func(t *testing.T) (*session, []string) {
			n := newSession(t, settings(2))
			toChosen(n)
			n.Verifies("bob")
			return n, []string{"ann", "bob"}
		}, func(n *session) error {
			n.Wait(lookTime + 5*time.Second)
			return inStage(n, wire.Launching)
		}, false},
		{"a countdown ends", func(t *testing.T) (*session, []string) {
			n := inVoting(t)
			n.Goes()
			n.Wait(time.Second)
			return n, []string{"ann", "bob"}
		}, func(n *session) error {
			n.Wait(countdownTime)
			return inStage(n, wire.Launching)
		}, false},
		{"a wait for seats ends", func(t *testing.T) (*session, []string) {
			s := settings(5)
			s.Wait = discovery.Millis(10 * time.Minute)
			n := newSession(t, s)
			n.Join(everybody...)
			n.Listed(1)
			for i, name := range everybody {
				n.Informs(name, 0)
				n.Measures(name, 20+i)
			}
			n.Done(everybody...)
			staysFull(n, 95*time.Second)
			n.InStage(wire.Waiting)
			return n, everybody
		}, func(n *session) error {
			staysFull(n, 8*time.Minute)
			if err := inStage(n, wire.Waiting); err != nil {
				return err
			}
			staysFull(n, 3*time.Minute)
			return inStage(n, wire.Failed)
		}, false},
		{"nobody has missed the end of a session", func(t *testing.T) (*session, []string) {
			n := standing(t, "fri 20:00 Europe/Berlin")
			n.playsSession([]int{40, 20}, "ann", "bob")
			n.Gone("bob")
			n.Orders(room.End{})
			return n, nil
		}, func(n *session) error {
			hello := wire.Hello{Version: wire.Version, Code: n.Room.Keys().Code, Name: "bob", Token: n.Tokens["bob"], Program: "bob's", Line: 2}
			return refusal(n, room.Join{Hello: hello})
		}, true},
		{"a game opens again", func(t *testing.T) (*session, []string) {
			n := newSession(t, settings(2))
			toChosen(n)
			n.Verifies("ann")
			n.Verifies("bob")
			n.InStage(wire.Launching)
			n.Step(room.Order{Credential: n.PageOf("ann"), Action: room.Reopen{}})
			n.Says("ann", wire.Launched{Round: 1, State: wire.LaunchFailed})
			return n, []string{"ann", "bob"}
		}, func(n *session) error {
			before := n.Launched.Again
			n.Took("ann")
			n.Step(room.Order{Credential: n.PageOf("ann"), Action: room.Reopen{}})
			if launch := got[wire.Launch](n, "ann"); launch.Again <= before {
				return fmt.Errorf("ann's program is told %d, after %d", launch.Again, before)
			}
			return nil
		}, false},
	} {
		for _, jump := range []time.Duration{0, -time.Hour, -24 * time.Hour, -9 * 365 * 24 * time.Hour, time.Hour, 24 * time.Hour} {
			for _, restarts := range []bool{false, true} {
				if tt.isOfDates && jump >= 0 {
					continue // the end is new, or long ago, by the machine's clock
				}
				t.Run(fmt.Sprintf("%s, the clock jumps by %v, restart: %v", tt.name, jump, restarts), func(t *testing.T) {
					n, here := tt.until(t)
					if n.Ahead += jump; restarts {
						n.Restarts(0)
					} else {
						n.Step(room.Tick{})
					}
					n.Join(here...)
					if err := tt.then(n); err != nil {
						t.Errorf("%v; the log:\n%s", err, n.Story())
					}
				})
			}
		}
	}
}
