package room_test

import (
	"slices"
	"testing"
	"time"

	"muster/host/room"
	"muster/host/room/roomtest"
	"muster/host/wire"
)

// session is a [roomtest.Session]. This package's tests add what only they need.
type session struct{ *roomtest.Session }

// The words of sessions that nearly every test here uses.
const (
	tick       = roomtest.Tick
	lost, skip = roomtest.Lost, roomtest.Skip
)

var (
	eight, settings = roomtest.Eight, roomtest.Settings
	listOf, addrOf  = roomtest.ListOf, roomtest.AddrOf
	restored, same  = roomtest.Restored, roomtest.Same
	reason          = roomtest.Reason
)

// The promised times: how long the reveal and the countdown take together, the reveal's part, and
// how long a short look may take. Players look again so often at most.
const (
	countdownTime = 11 * time.Second
	revealTime    = 6 * time.Second
	lookTime      = 15 * time.Second
	maxTries      = 4
)

func newSession(t testing.TB, s wire.Settings) *session { return &session{roomtest.New(t, s)} }

func tuned(t testing.TB, tuning room.Tuning, s wire.Settings) *session {
	return &session{roomtest.Play(t, tuning.New(roomtest.Keys, s, eight), eight)}
}

// got returns a player's newest message of type M.
func got[M wire.Message](n *session, name string) M {
	n.Helper()
	newest, found := newestOf[M](n, name)
	if !found {
		n.Errorf("%s was sent no %T", name, newest)
	}
	return newest
}

// newestOf returns a player's newest message of type M, if there is one.
func newestOf[M wire.Message](n *session, name string) (newest M, found bool) {
	for _, m := range n.Sent[name] {
		if m, is := m.(M); is {
			newest, found = m, true
		}
	}
	return newest, found
}

// measuring returns a room of players that have got a list.
func measuring(t *testing.T, servers int, names ...string) *session {
	t.Helper()
	n := newSession(t, settings(len(names)))
	n.Join(names...)
	n.Listed(servers)
	n.InStage(wire.Measuring)
	n.Informs(names[0], slices.Repeat([]int{12}, servers)...)
	for _, name := range names {
		n.Took(name)
	}
	return n
}

// choosing returns a room of two whose players have measured the same. The nearest servers come
// first.
func choosing(t *testing.T, servers int) *session {
	n := measuring(t, servers, "ann", "bob")
	ms := make([]int, servers)
	for i := range ms {
		ms[i] = 10 * (i + 1)
	}
	for _, name := range []string{"ann", "bob"} {
		n.Measures(name, ms...)
	}
	n.Done("ann", "bob")
	n.InStage(wire.Chosen)
	return n
}

// toChosen steps the room until ann and bob take their second look at two servers.
func toChosen(n *session) {
	n.Join("ann", "bob")
	n.Listed(2)
	n.Informs("bob", 12, 12)
	n.Measures("ann", 10, 20)
	n.Measures("bob", 10, 20)
	n.Done("ann", "bob")
}

// inVoting returns a room whose people vote on six servers. Ann and bob play, zoe and yan have the
// page. By the mean, server 0 is the best, then 1 …
func inVoting(t *testing.T) *session {
	t.Helper()
	s := settings(2)
	s.Agree, s.GuestsVote = wire.Yes, true
	return votingBy(t, s)
}

// inBans returns a session whose captains have just begun to ban.
func inBans(t *testing.T) *session {
	t.Helper()
	s := settings(2)
	s.Match = "bo1"
	return lookedBy(t, s)
}

// votingBy returns the same as inVoting with other settings.
func votingBy(t *testing.T, s wire.Settings) *session {
	t.Helper()
	n := lookedBy(t, s)
	if !n.IsVoting() {
		t.Fatalf("nobody is asked; the log:\n%s", n.Story())
	}
	return n
}

// lookedBy returns a room with settings in which two players have looked at the finalists.
func lookedBy(t *testing.T, s wire.Settings) *session {
	t.Helper()
	n := newSession(t, s)
	for _, name := range []string{"zoe", "yan"} {
		if err := n.Enters(name, ""); err != nil {
			t.Fatal(err)
		}
		n.Step(room.PageOpened{Token: name + "'s token"})
	}
	n.Join("ann", "bob")
	if n.Room.Stage() == wire.Gathering {
		n.Goes()
	}
	n.Listed(6)
	n.Informs("ann", 12, 12, 12, 12, 12, 12)
	n.Measures("ann", 10, 20, 30, 40, 50, 60)
	n.Measures("bob", 20, 30, 40, 50, 60, 70)
	n.Done("ann", "bob")
	n.Verifies("ann")
	n.Verifies("bob")
	n.InStage(wire.Chosen)
	return n
}
