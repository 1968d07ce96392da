package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"muster/host/cluster/clustertest"
	"muster/host/store"
)

// TestRotten checks rooms whose owner ends and that the leader's disk has lost. Another server that has
// one leads next, and the room goes on. One that no server has is unknown in the end.
func TestRotten(t *testing.T) {
	for _, servers := range []int{1, 2, 3} {
		for _, damage := range damages {
			synctest.Test(t, func(t *testing.T) { testRotten(t, servers, damage) })
		}
	}
}

// damages are what becomes of a room's newest message on one server.
var damages = []func(s *clustertest.Model, server int, subject string){(*clustertest.Model).Rot, (*clustertest.Model).Lose}

func testRotten(t *testing.T, rotten int, damage func(*clustertest.Model, int, string)) {
	ctx := t.Context()
	s := startThree(t)
	w, log := world(s), &logged{}
	w.Logger = slog.New(slog.NewTextHandler(log, nil))
	b, a := join(t, w, "b"), join(t, world(s), "a")
	if _, err := a.Create(ctx, "ROOM", "id", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "b knows the room", func() bool { return b.FindID("id") == "ROOM" })
	leader := s.Leader("muster-rooms")
	for i := range rotten {
		damage(s, (leader+i)%3, "muster.room.ROOM")
	}
	a.cancel() // as if killed
	a.conn.Close()
	wait, enough := context.WithTimeout(ctx, time.Minute)
	defer enough()
	for code := range b.Adopt(wait) {
		_, data, err := b.Claim(ctx, code)
		if rotten < 3 && err == nil {
			if string(data) != "kept" {
				t.Errorf("%q is left", data)
			}
			break
		}
		if is := errors.Is(err, store.ErrUnknown); is != (b.Find(code) == store.Place{}) || is && rotten < 3 {
			t.Errorf("%d of 3 cannot read it: %v, and it is %+v", rotten, err, b.Find(code))
		}
	}
	if is := b.Find("ROOM").State; is != map[bool]store.State{true: store.Here, false: store.Unknown}[rotten < 3] {
		t.Errorf("%d of 3 cannot read it: in the end it is %v", rotten, is)
	}
	log.has(t, "another one is asked to lead")
}

// TestUnread checks hosts that list the rooms while one server cannot read one of them. None begins
// before it knows all, or ever says that there is no such room.
func TestUnread(t *testing.T) {
	for _, damage := range damages {
		synctest.Test(t, func(t *testing.T) { testUnread(t, damage) })
	}
}

func testUnread(t *testing.T, damage func(*clustertest.Model, int, string)) {
	s := startThree(t)
	a := join(t, world(s), "a")
	_, err := a.Create(t.Context(), "ROOM", "id", nil)
	later, failed := a.Create(t.Context(), "LATER", "later", nil)
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	go func() { // a watch counts what it does not send only until another message comes
		for later.Save(t.Context(), nil) == nil && pause(t.Context(), 300*time.Millisecond) {
		}
	}()
	damage(s, (s.Leader("muster-rooms")+1)%3, "muster.room.ROOM")
	var slowest time.Duration
	for _, name := range []string{"b", "c", "d"} { // each watches another server
		began := time.Now()
		c := join(t, world(s), name)
		slowest = max(slowest, time.Since(began))
		for range 3 {
			if p := c.Find("ROOM"); p.State != store.Elsewhere {
				t.Errorf("%s finds %+v", name, p)
			}
			c.directory.reconnected()
			pause(t.Context(), time.Second)
		}
	}
	if slowest < 5*retryPause || slowest > unreadAtMost {
		t.Errorf("the host that met the damage began after %v", slowest)
	}
}

// TestUnreadEverywhere checks a host that starts while no server can read a room. It begins in the end, and
// does not say that there is no such room.
func TestUnreadEverywhere(t *testing.T) { synctest.Test(t, testUnreadEverywhere) }

func testUnreadEverywhere(t *testing.T) {
	s := startThree(t)
	a := join(t, world(s), "a")
	if _, err := a.Create(t.Context(), "ROOM", "id", nil); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		s.Rot(i, "muster.room.ROOM")
	}
	b := join(t, world(s), "b")
	if p := b.Find("ROOM"); p != (store.Place{Unsure: true}) {
		t.Errorf("b finds %+v", p)
	}
}

// TestBlank checks hosts that watch a server which still copies what it has lost, though the rooms' leader
// thinks it current. None begins there, and none says that there is no room which it cannot know.
func TestBlank(t *testing.T) { synctest.Test(t, testBlank) }

func testBlank(t *testing.T) {
	s := startThree(t)
	a := join(t, world(s), "a")
	if _, err := a.Create(t.Context(), "ROOM", "id", nil); err != nil {
		t.Fatal(err)
	}
	blank := (s.Leader("muster-rooms") + 1) % 3
	s.Blank(blank, true)
	var hosts []*Cluster
	for _, name := range []string{"b", "c", "d"} { // each watches another server
		c := join(t, world(s), name)
		if p := c.Find("ROOM"); p.State != store.Elsewhere {
			t.Errorf("%s finds %+v", name, p)
		}
		hosts = append(hosts, c)
	}
	unsure := 0
	for i := range 6 {
		for _, c := range hosts {
			c.directory.reconnected()
		}
		pause(t.Context(), time.Second)
		code := fmt.Sprint("NEW", i)
		if _, err := a.Create(t.Context(), code, code, nil); err != nil {
			t.Fatal(err)
		}
		pause(t.Context(), time.Second)
		for _, c := range hosts {
			switch p := c.Find(code); {
			case p.Unsure:
				unsure++
			case p.State != store.Elsewhere:
				t.Errorf("%s finds %+v", c.Node(), p)
			}
		}
	}
	if unsure == 0 {
		t.Error("nobody watched that server")
	}
	s.Blank(blank, false)
	for _, c := range hosts {
		eventually(t, "all know", func() bool { return c.Find("NEW5").State == store.Elsewhere && c.Find("NONE") == store.Place{} })
	}
}

// TestUnsure checks that a host which has not heard of all rooms says so.
func TestUnsure(t *testing.T) { synctest.Test(t, testUnsure) }

func testUnsure(t *testing.T) {
	s := startThree(t)
	l := s.Line()
	a := join(t, over(s, l), "a")
	if p := a.Find("NONE"); p != (store.Place{}) {
		t.Errorf("%+v", p)
	}
	s.StepDown("muster-rooms")
	l.Cut()
	eventually(t, "a does not know", func() bool { return a.Find("NONE") == store.Place{Unsure: true} })
	eventually(t, "a knows again", func() bool { return a.Find("NONE") == store.Place{} })
}

// TestListing checks when a watch has everything: what its server counts, and what it sends.
func TestListing(t *testing.T) {
	type message struct {
		subject              string
		seq, pending         uint64
		isComplete, isNearer bool
	}
	for name, tt := range map[string]struct {
		all      listing
		messages []message
	}{
		"nothing is there":            {listing{}, []message{{"", 0, 0, true, false}}},
		"all come":                    {listing{subjects: 2}, []message{{"", 0, 2, false, true}, {"a", 1, 1, false, true}, {"b", 2, 0, true, false}}},
		"and then one more":           {listing{subjects: 1}, []message{{"a", 1, 0, true, false}, {"a", 2, 0, true, false}}},
		"one is counted and not sent": {listing{subjects: 2}, []message{{"", 0, 2, false, true}, {"a", 1, 0, false, true}, {"a", 3, 0, false, false}}},
		"the server is behind":        {listing{passes: 7}, []message{{"", 0, 0, false, true}, {"a", 6, 0, false, false}, {"buoy", 7, 0, true, false}}},
		"more come meanwhile":         {listing{subjects: 1}, []message{{"a", 1, 1, false, true}, {"b", 2, 1, false, false}, {"c", 3, 0, true, false}}},
	} {
		tt.all.heard, tt.all.rest = map[string]bool{}, math.MaxUint64
		for i, m := range tt.messages {
			if isComplete, isNearer := tt.all.note(m.subject, m.seq, m.pending); isComplete != m.isComplete || isNearer != m.isNearer {
				t.Errorf("%s, message %d: complete %v, nearer %v", name, i, isComplete, isNearer)
			}
		}
	}
}
