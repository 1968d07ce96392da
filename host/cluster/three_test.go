package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"muster/host/store"
)

// TestThree checks that three servers keep everything three times. A server that ends takes nothing
// with it, and other hosts replace a host that ends with it.
func TestThree(t *testing.T) { synctest.Test(t, testThree) }

func testThree(t *testing.T) {
	ctx := t.Context()
	s := startThree(t)
	all := world(s)
	b, c := join(t, all, "b"), join(t, all, "c")
	for _, h := range []*Cluster{b, c} {
		if n := h.rooms.CachedInfo().Config.Replicas; n != 3 {
			t.Errorf("kept on %d servers", n)
		}
	}
	a := join(t, all, "a")
	const rooms = 30
	owners := map[string]store.Claim{}
	for i := range rooms {
		code := fmt.Sprint("ROOM", i)
		own, err := a.Create(ctx, code, "", fmt.Append(nil, i, " 0"))
		if err != nil {
			t.Fatal(err)
		}
		owners[code] = own
	}
	// A server ends while all hosts save. No save may fail or be lost.
	var saving sync.WaitGroup
	stop := make(chan struct{})
	last := make([]int, rooms)
	slowest := make([]time.Duration, rooms)
	for i := range rooms {
		saving.Go(func() {
			for n := 1; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				if err := owners[fmt.Sprint("ROOM", i)].Save(ctx, fmt.Append(nil, i, " ", n)); err != nil && !errors.Is(err, store.ErrAway) {
					t.Error(err)
				} else if err == nil {
					last[i] = n
				}
				slowest[i] = max(slowest[i], time.Since(began))
			}
		})
	}
	eventually(t, "a has the others in its list", func() bool { return len(a.Hosts()) == 3 })
	s.Stop(number(a.conn.ConnectedServerName()))
	pause(ctx, 500*time.Millisecond)
	close(stop)
	saving.Wait()
	t.Logf("the slowest save took %v", slices.Max(slowest))

	adopted := make(chan string, rooms)
	adopting, enough := context.WithCancel(ctx)
	defer enough()
	for _, h := range []*Cluster{b, c} {
		go func() {
			for code := range h.Adopt(adopting) {
				_, data, err := h.Claim(ctx, code)
				if err != nil {
					continue // Adopt yields it again
				}
				adopted <- code + " " + string(data)
			}
		}()
	}
	began := time.Now()
	a.cancel() // as if killed: its lease stays
	a.conn.Close()
	got := map[string]string{}
	for len(got) < rooms {
		select {
		case text := <-adopted:
			code, data, _ := strings.Cut(text, " ")
			got[code] = data
		case <-time.After(time.Minute):
			t.Fatalf("only %d of %d are adopted", len(got), rooms)
		}
	}
	t.Logf("replaced after %v", time.Since(began))
	for i := range rooms {
		if want := fmt.Sprint(i, " ", last[i]); got[fmt.Sprint("ROOM", i)] != want {
			t.Errorf("room %d is %q, acknowledged was %q", i, got[fmt.Sprint("ROOM", i)], want)
		}
	}
}

// TestMoreReplicas checks that data gets three replicas as soon as a host starts that wants them,
// by flag or by default. The other hosts go on meanwhile, and afterwards the first server may end.
func TestMoreReplicas(t *testing.T) {
	for _, replicas := range []int{0, maxReplicas} {
		synctest.Test(t, func(t *testing.T) { testMoreReplicas(t, replicas) })
	}
}

func testMoreReplicas(t *testing.T, replicas int) {
	ctx := t.Context()
	servers := startThree(t)
	w := world(servers)
	w.Replicas = 1
	a := join(t, w, "a")
	if n := a.rooms.CachedInfo().Config.Replicas; n != 1 {
		t.Fatalf("it begins on %d servers", n)
	}
	small, large := noise(1, 100), noise(2, 3*partSize)
	own, err := a.Create(ctx, "SMALL", "", small)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Create(ctx, "LARGE", "", large); err != nil {
		t.Fatal(err)
	}
	hash, err := a.Keep(ctx, large)
	if err != nil {
		t.Fatal(err)
	}
	w.Replicas = replicas
	b := join(t, w, "b")
	for _, s := range []jetstream.Stream{b.rooms, b.hosts, b.large.stream} {
		eventually(t, "three servers have all of "+s.CachedInfo().Config.Name, func() bool {
			info, err := s.Info(ctx)
			if err != nil || info.Config.Replicas != maxReplicas || info.Cluster == nil || len(info.Cluster.Replicas) != maxReplicas-1 {
				return false
			}
			return !slices.ContainsFunc(info.Cluster.Replicas, func(r *jetstream.PeerInfo) bool { return !r.Current || r.Lag > 0 })
		})
	}
	small = noise(3, 200)
	if err := own.Save(ctx, small); err != nil {
		t.Errorf("who was there before cannot save: %v", err)
	}
	info, err := b.rooms.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a.cancel() // as if killed
	a.conn.Close()
	servers.Stop(number(info.Cluster.Leader))
	for code, want := range map[string][]byte{"SMALL": small, "LARGE": large} {
		eventually(t, code+" with all that was kept", func() bool {
			_, data, err := b.Claim(ctx, code)
			return err == nil && bytes.Equal(data, want)
		})
	}
	if blob, err := b.Kept(ctx, hash); err != nil || !bytes.Equal(blob, large) {
		t.Errorf("the list is %d bytes, %v", len(blob), err)
	}
}

// TestGrown checks that a NATS server that ran alone does not bring its data into a cluster. The
// data is exported before, and imported into three servers.
func TestGrown(t *testing.T) { synctest.Test(t, testGrown) }

func testGrown(t *testing.T) {
	ctx := t.Context()
	alone := join(t, world(startNATS(t)), "a")
	room, list := noise(1, 2*inline), noise(2, 100)
	own, err := alone.Create(ctx, "ROOM", "id", room)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := alone.Keep(ctx, list)
	if err != nil {
		t.Fatal(err)
	}
	file := openFile(t)
	if _, err := alone.Export(ctx, file); err != nil {
		t.Fatal(err)
	}
	grown := join(t, world(startThree(t)), "a")
	if moved, err := grown.Import(ctx, file); err != nil || moved.Rooms != 1 || moved.Blobs != 1 {
		t.Fatalf("%+v, %v", moved, err)
	}
	claim, data, err := grown.Claim(ctx, "ROOM")
	if err != nil || !bytes.Equal(data, room) || claim.Epoch() <= own.Epoch() || grown.FindID("id") != "ROOM" {
		t.Errorf("the room has %d bytes, %v", len(data), err)
	}
	if blob, err := grown.Kept(ctx, hash); err != nil || !bytes.Equal(blob, list) {
		t.Errorf("the list has %d bytes, %v", len(blob), err)
	}
}
