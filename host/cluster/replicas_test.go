package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"muster/host/store"
)

// infoOf returns what a stream's leader says; it is empty if there is none. The others are named,
// with a sign: = has all, ~ lacks a few messages, > lags, - was never heard by this leader, ? is
// silent, and ! is known to be off.
func infoOf(replicas int, leader string, others ...string) *jetstream.StreamInfo {
	info := &jetstream.StreamInfo{Config: jetstream.StreamConfig{Replicas: replicas}, Cluster: &jetstream.ClusterInfo{Name: "c", Leader: leader}}
	for _, text := range others {
		name, sign := text[:len(text)-1], text[len(text)-1:]
		peer := &jetstream.PeerInfo{Name: name, Current: sign == "=" || sign == "?", Offline: sign == "!"}
		switch sign {
		case "~":
			peer.Lag, peer.Active = hardlyBehind, time.Millisecond
		case "-":
			peer.Lag = 1
		case ">":
			peer.Lag = hardlyBehind + 1
		case "?":
			peer.Active = heardOf
		}
		info.Cluster.Replicas = append(info.Cluster.Replicas, peer)
	}
	return info
}

// TestReplicas checks what the log says of servers, the counts, and the servers in the hint, from
// what the streams' leaders say one look after the other.
func TestReplicas(t *testing.T) {
	of := infoOf
	for _, tt := range []struct {
		name  string
		looks []*jetstream.StreamInfo // of the rooms, one each lookEvery
		want  []string                // what is told at each
		count Replicas
		hint  string
	}{
		{"a server alone", []*jetstream.StreamInfo{{Config: jetstream.StreamConfig{Replicas: 1}, Cluster: &jetstream.ClusterInfo{Leader: "a"}}}, []string{""},
			Replicas{1, 1}, "the NATS servers, in reach of each other (this host hears x)"},
		{"one copy in a cluster", []*jetstream.StreamInfo{of(1, "a")}, []string{""}, Replicas{1, 1}, "a, in reach of each other (this"},
		{"all have all", []*jetstream.StreamInfo{of(3, "b", "a=", "c~")}, []string{""}, Replicas{3, 3}, "a, b, c, in reach"},
		{"one is lost, and comes back",
			[]*jetstream.StreamInfo{of(3, "a", "b=", "c="), of(3, "a", "b=", "c?"), of(3, "a", "b=", "c!"), of(3, "a", "b=", "c!"),
				of(3, "a", "b=", "c!"), of(3, "a", "b=", "c>"), of(3, "a", "b=", "c=")},
			[]string{"", "", "", "lost c since 5s, spare 0", "", "", "back c since 5s"}, Replicas{3, 3}, "(this host hears x)"},
		{"the leader is lost", []*jetstream.StreamInfo{of(3, "a", "b=", "c="), of(3, "b", "a-", "c=")}, []string{"", ""}, Replicas{3, 2}, "; known to be lost: a)"},
		{"one was away for a moment", []*jetstream.StreamInfo{of(3, "a", "b=", "c>"), of(3, "a", "b=", "c="), of(3, "a", "b>", "c=")},
			[]string{"", "", ""}, Replicas{3, 2}, "; known to be lost: b)"},
		{"one was there before this host", []*jetstream.StreamInfo{of(3, "a", "b=", "c!"), of(3, "a", "b=", "c!"), of(3, "b", "a=", "c!")},
			[]string{"", "", "lost c since 0s, spare 0"}, Replicas{3, 2}, "; known to be lost: c)"},
		{"two of five", []*jetstream.StreamInfo{of(5, "a", "b=", "c=", "d=", "e?"), nil, of(5, "a", "b=", "c=", "d!", "e?"), nil, of(5, "a", "b=", "c=", "d!", "e?")},
			[]string{"", "", "lost e since 0s, spare 0", "", "lost d since 10s, spare 0"}, Replicas{5, 3}, "; known to be lost: d, e)"},
		{"one of five", []*jetstream.StreamInfo{of(5, "a", "b=", "c=", "d=", "e?"), nil, of(5, "a", "b=", "c=", "d=", "e?")},
			[]string{"", "", "lost e since 0s, spare 1"}, Replicas{5, 4}, "; known to be lost: e)"},
		{"most are lost", []*jetstream.StreamInfo{of(3, "a", "b=", "c="), of(3, "a", "b?", "c?"), of(3, "a", "b?", "c?"), of(3, "", "a=", "b!", "c?"), nil},
			[]string{"", "", "", "", ""}, Replicas{3, 0}, "a, b, c, in reach of each other (this host hears x; known to be lost: b, c)"},
		{"most were lost, and one stays so", []*jetstream.StreamInfo{of(3, "a", "b=", "c="), nil, of(3, "", "a=", "b!", "c!"), nil, of(3, "a", "b=", "c!")},
			[]string{"", "", "", "", "lost c since 10s, spare 0"}, Replicas{3, 2}, "; known to be lost: c)"},
		{"one is removed from the cluster",
			[]*jetstream.StreamInfo{of(3, "a", "b=", "c!"), nil, of(3, "a", "b=", "c!"), of(3, "a", "b=", "d=")},
			[]string{"", "", "lost c since 0s, spare 0", ""}, Replicas{3, 3}, "a, b, d, in reach of each other (this"},
	} {
		r := replicas{streams: map[string]Replicas{}, missing: map[string]*absence{}}
		start := time.Unix(0, 0)
		for i, info := range tt.looks {
			var told []string
			for _, n := range r.look(start.Add(time.Duration(i)*lookEvery), map[string]*jetstream.StreamInfo{"rooms": info}) {
				if n.back {
					told = append(told, fmt.Sprintf("back %s since %v", n.server, n.since.Sub(start)))
				} else {
					told = append(told, fmt.Sprintf("lost %s since %v, spare %d", n.server, n.since.Sub(start), n.least.spare()))
				}
			}
			if got := strings.Join(told, "; "); got != tt.want[i] {
				t.Errorf("%s: look %d tells %q, not %q", tt.name, i, got, tt.want[i])
			}
		}
		if got := r.count()["rooms"]; got != tt.count {
			t.Errorf("%s: it counts %+v", tt.name, got)
		}
		if got := r.hint("x"); !strings.Contains(got, tt.hint) {
			t.Errorf("%s: the hint is %q", tt.name, got)
		}
	}
}

// TestServerLost checks that a host tells that one of three servers is lost, while rooms go on, and
// that it is back, although it lost its whole store. When two are lost the hint names the servers,
// and no disk.
func TestServerLost(t *testing.T) { synctest.Test(t, testServerLost) }

func testServerLost(t *testing.T) {
	s := startThree(t)
	w, log := world(s), &logged{}
	w.Logger = slog.New(slog.NewTextHandler(log, nil))
	a := join(t, w, "a")
	counts := func(current int) {
		t.Helper()
		eventually(t, fmt.Sprint(current, " servers have each stream"), func() bool {
			n := a.Counts().Replicas
			for _, stream := range []string{"rooms", "hosts", "large"} {
				if n[stream] != (Replicas{3, current}) {
					return false
				}
			}
			return true
		})
	}
	counts(3)
	own, err := a.Create(t.Context(), "ROOM", "", []byte("room"))
	if err != nil {
		t.Fatal(err)
	}
	mine := number(a.conn.ConnectedServerName()) // the host's own server stays
	gone, third := (mine+1)%3, (mine+2)%3
	name := fmt.Sprint("n", gone+1)
	s.Stop(gone)
	log.has(t, `the rooms go on with the others" server=`+name)
	log.has(t, "one more loss stops all rooms: look")
	counts(2)
	if err := own.Save(t.Context(), []byte("more")); err != nil {
		t.Error(err)
	}
	s.LoseTail(gone, math.MaxInt) // its store is empty
	s.Start(gone)
	log.has(t, `a NATS server has everything again" server=`+name)
	counts(3)
	s.Stop(gone)
	s.Stop(third)
	log.has(t, "JetStream keeps nothing")
	log.has(t, "JetStream needs most of n1, n2, n3, in reach of each other")
	counts(0)
	if log.mu.Lock(); strings.Contains(log.text.String(), "disk") {
		t.Errorf("the log speaks of a disk: %s", &log.text)
	}
	log.mu.Unlock()
}

// TestUnkept checks that a host learns that all servers have lost its rooms, and that the others know a
// room again as soon as it is saved.
func TestUnkept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := startThree(t), new(logged)
		w := world(s)
		b := join(t, w, "b")
		w.Logger = slog.New(slog.NewTextHandler(log, nil))
		a := join(t, w, "a")
		own, err := a.Create(t.Context(), "ROOM", "id", []byte("room"))
		if err != nil {
			t.Fatal(err)
		}
		for range 200 { // more messages than the leases that come before anybody looks
			if err := own.Save(t.Context(), []byte("room")); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "b knows the room", func() bool { return b.Find("ROOM").State == store.Elsewhere })
		for i := range 3 {
			s.Stop(i)
			s.LoseTail(i, math.MaxInt)
		}
		time.Sleep(10 * time.Second) // nobody leads any more
		for i := range 3 {
			s.Start(i)
		}
		<-own.Unkept()
		eventually(t, "b knows no room", func() bool { return b.Find("ROOM").State == store.Unknown })
		eventually(t, "a is trusted", func() bool { is, _ := a.Trust(); return is })
		if err := own.Save(t.Context(), []byte("room")); err != nil {
			t.Fatal(err)
		}
		eventually(t, "b knows the room", func() bool { return b.Find("ROOM").State == store.Elsewhere })
		select {
		case <-own.Unkept():
			t.Error("it is still to be saved")
		default:
		}
		log.has(t, "a room is kept again, after NATS has lost messages\" room=id")
	})
}

// TestMissed checks that a host keeps all of its rooms again as soon as it writes one whose message the
// servers have lost, though the stream goes on.
func TestMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, log := world(startThree(t)), new(logged)
		w.Logger = slog.New(slog.NewTextHandler(log, nil))
		a := join(t, w, "a")
		one, err := a.Create(t.Context(), "ONE", "one", []byte("room"))
		other, failed := a.Create(t.Context(), "OTHER", "other", []byte("room"))
		if err = errors.Join(err, failed, a.rooms.Purge(t.Context(), jetstream.WithPurgeSubject(a.subject("room", "*")))); err != nil {
			t.Fatal(err)
		}
		if err := one.Save(t.Context(), []byte("room")); err != nil {
			t.Fatal(err)
		}
		<-other.Unkept()
		log.has(t, "NATS has lost messages\" room=one of=2 left=0")
		log.has(t, "a room is kept again, after NATS has lost messages\" room=one")
	})
}

// TestLags checks that a host hears of others, and of their claims, although the servers of its watches lag
// behind.
func TestLags(t *testing.T) { synctest.Test(t, testLags) }

func testLags(t *testing.T) {
	m := startThree(t)
	a, next := join(t, world(m), "a"), join(t, world(m), "next")
	for lags, node := range []string{"b", "c", "d"} { // one of them has the watch
		m.Lead("muster-hosts", (lags+1)%3) // a leader knows what it has written
		m.Lead("muster-rooms", (lags+1)%3)
		ends := join(t, world(m), "ends-"+node)
		if _, err := ends.Create(t.Context(), node, node, []byte("room")); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a hears of room "+node, func() bool { return a.Find(node).State == store.Elsewhere })
		m.Slow(lags, true)
		join(t, world(m), node)
		if _, err := next.Create(t.Context(), "NEW"+node, "new"+node, []byte("room")); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a hears of a new room", func() bool { return a.Find("NEW"+node).State == store.Elsewhere })
		eventually(t, "a hears of "+node, func() bool { return slices.Contains(a.Hosts(), node) })
		ends.Close()
		eventually(t, "room "+node+" is claimed", func() bool { _, _, err := next.Claim(t.Context(), node); return err == nil })
		eventually(t, "a hears where room "+node+" is", func() bool {
			_, _, err := a.Claim(t.Context(), node)
			return errors.Is(err, store.ErrElsewhere) && a.Find(node).Host == "next"
		})
		m.Slow(lags, false)
	}
}
