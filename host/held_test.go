package host_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"muster/host"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/clock/clocktest"
)

// noon is when a held clock begins, and tick is how often a room looks at it.
var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

const tick = 100 * time.Millisecond

// night is a room on a host whose time passes when the test says.
type night struct {
	*testing.T
	host *host.Host
	held *clocktest.Held
	code string
}

// pass lets time pass, and returns how the room is once it has seen that.
func (n *night) pass(d time.Duration) wire.Snapshot {
	n.Helper()
	n.held.Advance(d)
	for range 2 { // the first is perhaps answered just before the room looks at its clock
		n.host.Order(n.code, room.Go{Stage: "another"}) // it does nothing, and shows how the room is
	}
	now, lives := n.host.Room(n.code)
	if !lives {
		n.Fatal("the room is over")
	}
	return now
}

// await returns how the room is as soon as something holds, while its time stands still.
func (n *night) await(is func(wire.Snapshot) bool) (now wire.Snapshot) {
	n.Helper()
	for now = range n.host.Watch(n.Context(), n.code) {
		if is(now) {
			return now
		}
	}
	n.Fatalf("the room ended as it was %s", now.Room.Stage)
	return now
}

// passesUntil lets time pass, tick for tick, until something holds. The room sees each tick.
func (n *night) passesUntil(is func(wire.Snapshot) bool) {
	n.Helper()
	for now := n.pass(tick); !is(now); now = n.pass(tick) {
		if n.held.Now().Sub(noon) > time.Hour {
			n.Fatalf("after an hour the room is %s, %+v", now.Room.Stage, now.Voting)
		}
	}
}

// everyoneIsDone says that all players' programs have measured all servers.
func everyoneIsDone(now wire.Snapshot) bool {
	return !slices.ContainsFunc(now.People, func(p wire.Person) bool { return p.Peer && !p.Done })
}

func launches(now wire.Snapshot) bool { return now.Room.Stage == wire.Launching }

// stays lets time pass, and checks tick for tick that the room is as it is.
func (n *night) stays(as func(wire.Snapshot) bool, every, all time.Duration) {
	n.Helper()
	for passed := every; passed <= all; passed += every {
		if now := n.pass(every); !as(now) {
			n.Fatalf("after %v the room is %s, %+v", passed, now.Room.Stage, now.Voting)
		}
	}
}

// TestStagesWaitForTime takes a room from its first player to the launch. Each stage lasts until the test lets its
// time pass, to a tenth of a second, however slow or fast this machine is.
func TestStagesWaitForTime(t *testing.T) {
	held := clocktest.Hold(noon)
	settings := friday(2)
	settings.Agree = wire.Yes
	h, server := serve(t, host.Config{List: listOf(8), Clock: held.Clock()})
	code, secret, _ := h.Open(settings)
	n := &night{t, h, held, code}
	gathers := func(now wire.Snapshot) bool { return now.Room.Stage == wire.Gathering }
	waits := func(now wire.Snapshot) bool {
		return now.Room.Stage == wire.Chosen && now.Voting.Open && now.Voting.LaunchAt.IsZero()
	}
	counts := func(now wire.Snapshot) bool { return now.Room.Stage == wire.Chosen && !now.Voting.LaunchAt.IsZero() }

	ann := join(t, server, code, "ann")
	n.stays(gathers, time.Minute, 20*time.Minute)
	bob := join(t, server, code, "bob")
	n.pass(tick)
	ann.measures(10)
	bob.measures(20)
	n.await(everyoneIsDone)
	n.pass(tick)
	ann.looks()
	bob.looks()
	n.await(waits)

	p := openPage(t, server, code, secret)
	p.until("the vote", p.says("agreement", `"open":true`))
	n.stays(waits, time.Minute, time.Hour)
	ann.Conn.Send(wire.Say{Round: 1, What: wire.SayReady})
	bob.Conn.Send(wire.Say{Round: 1, What: wire.SayReady})
	const reveal, countdown = 6 * time.Second, 5 * time.Second
	began := n.await(counts)
	if left := began.Voting.LaunchAt.Sub(held.Now()); left != reveal+countdown {
		t.Fatalf("the launch is in %v, of which %v are for the reveal", left, reveal)
	}
	p.until("the countdown", p.says("agreement", "launch_at"))
	if now := string(p.state["now"]); now != strconv.FormatInt(held.Now().UnixMilli(), 10) {
		t.Errorf("the page is told that it is %s ms, and not %d", now, held.Now().UnixMilli())
	}
	n.stays(counts, tick, reveal)
	ann.looks() // once more, as an hour has passed
	bob.looks()
	n.stays(counts, tick, countdown-tick)
	now := n.pass(tick)
	if now.Room.Stage != wire.Launching {
		t.Fatalf("the room is %s when its countdown is over", now.Room.Stage)
	}
	if to := expect[wire.Launch](ann); to != expect[wire.Launch](bob) {
		t.Errorf("ann goes to %+v, and bob goes elsewhere", to)
	}
}

// TestBeats checks that an open page hears from its host every two seconds while nothing happens, and not before.
func TestBeats(t *testing.T) {
	held := clocktest.Hold(noon)
	h, server := serve(t, host.Config{List: listOf(8), Clock: held.Clock()})
	code, secret, _ := h.Open(friday(2))
	p := openPage(t, server, code, secret)
	p.until("the room", p.says("room", `"stage":"gathering"`))
	const beat = 2 * time.Second
	for range 3 {
		held.Advance(beat - time.Millisecond)
		if in, _ := held.Next(); in != time.Millisecond {
			t.Fatalf("the next beat is in %v, and not in a millisecond", in)
		}
		held.Advance(time.Millisecond)
		before := string(p.state["now"])
		p.until("a beat", func() bool { return string(p.state["now"]) != before })
		if now := string(p.state["now"]); now != strconv.FormatInt(held.Now().UnixMilli(), 10) {
			t.Errorf("the page hears at %s ms, and not at %d", now, held.Now().UnixMilli())
		}
	}
}
