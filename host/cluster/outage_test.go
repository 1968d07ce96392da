package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"muster/host/store"
	"muster/internal/await"
)

// logged is a log that a test reads while the host writes it.
type logged struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// has waits until the log contains a text. It waits up to a minute, because only a failing test
// waits that long.
func (l *logged) has(t *testing.T, text string) {
	t.Helper()
	await.Until(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return strings.Contains(l.text.String(), text)
	}, "the log never says %q: %s", text, &l.text)
}

// TestJetStreamLost checks the log when nats-server shuts JetStream down but keeps running, as it
// does when its disk is full. The log says so at once, with what to do, and says when JetStream is
// back.
func TestJetStreamLost(t *testing.T) { synctest.Test(t, testJetStreamLost) }

func testJetStreamLost(t *testing.T) {
	s := startNATS(t)
	w, log := world(s), &logged{}
	w.Logger = slog.New(slog.NewTextHandler(log, nil))
	a := join(t, w, "a")
	own, err := a.Create(t.Context(), "ROOM", "", []byte("room"))
	if err != nil {
		t.Fatal(err)
	}
	s.StopJetStream(0)
	log.has(t, "JetStream keeps nothing: all rooms of this host wait")
	log.has(t, "free the disk, then restart nats-server")
	if err := own.Save(t.Context(), []byte("more")); !errors.Is(err, store.ErrAway) {
		t.Errorf("a save comes to %v", err)
	}
	s.Stop(0) // nats-server restarts, as the hint says
	s.Start(0)
	log.has(t, "JetStream keeps rooms again")
}

// TestHintFor checks that the operator gets a hint for every reason why JetStream stores nothing.
func TestHintFor(t *testing.T) {
	const servers = "most servers"
	for _, tt := range []struct {
		err         error
		isConnected bool
		want        string
	}{
		{nats.ErrNoResponders, true, hintOff},
		{jetstream.ErrNoStreamResponse, true, servers},
		{errors.Join(errors.New("cluster"), jetstream.ErrJetStreamNotEnabled), true, hintOff},
		{&jetstream.APIError{ErrorCode: errResources}, true, hintSpace},
		{&jetstream.APIError{ErrorCode: errStoreFailed, Description: "maximum bytes exceeded"}, true, hintSpace},
		{&jetstream.APIError{ErrorCode: errStoreFailed, Description: "no space left on device"}, true, hintSpace},
		{&jetstream.APIError{ErrorCode: errStoreFailed, Description: "corrupt message block"}, true, servers},
		{&jetstream.APIError{ErrorCode: 10008, Description: "JetStream system temporarily unavailable"}, true, servers},
		{nats.ErrTimeout, true, servers},
		{nats.ErrTimeout, false, hintConnect},
		{nats.ErrConnectionReconnecting, false, hintConnect},
		{errNameTaken, true, hintTaken},
	} {
		if got := hintFor(tt.err, tt.isConnected, servers); got != tt.want {
			t.Errorf("%v, connected %v: %s", tt.err, tt.isConnected, got)
		}
	}
}

// TestTakenFrom checks that a host that takes a room knows its previous owner, whether that one
// released the room or died.
func TestTakenFrom(t *testing.T) { synctest.Test(t, testTakenFrom) }

func testTakenFrom(t *testing.T) {
	w := world(startNATS(t))
	a, b := join(t, w, "a"), join(t, w, "b")
	own, err := a.Create(t.Context(), "ROOM", "", []byte("room"))
	if err != nil {
		t.Fatal(err)
	}
	if err := own.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "b knows who gave it free", func() bool {
		return b.Find("ROOM") == store.Place{State: store.Orphaned, Host: "a", Epoch: 1, Released: true}
	})
	if _, _, err := b.Claim(t.Context(), "ROOM"); err != nil {
		t.Fatal(err)
	}
	if got := b.Find("ROOM").Host; got != "b" {
		t.Errorf("the room is %s's", got)
	}
}

// TestWaitsForLeader checks a host that starts before most of the NATS servers. It waits for their
// leader, says so, and begins once there is one.
func TestWaitsForLeader(t *testing.T) { synctest.Test(t, testWaitsForLeader) }

func testWaitsForLeader(t *testing.T) {
	s := startThree(t)
	s.Stop(1)
	s.Stop(2)
	log := &logged{}
	config := world(s)
	config.Node, config.Logger = "a", slog.New(slog.NewTextHandler(log, nil))
	type result struct {
		c   *Cluster
		err error
	}
	opened := make(chan result, 1)
	go func() {
		c, err := Open(t.Context(), config)
		opened <- result{c, err}
	}()
	log.has(t, "JetStream does not answer yet: this host waits for it")
	select {
	case r := <-opened:
		t.Fatalf("it does not wait: %v", r.err)
	default:
	}
	s.Start(1)
	s.Start(2)
	select {
	case r := <-opened:
		if r.err != nil {
			t.Fatal(r.err)
		}
		defer r.c.Close()
	case <-time.After(time.Minute):
		t.Fatal("it still waits, although there is a leader")
	}
	log.has(t, "JetStream answers: this host begins")
}

// TestGiven checks that a host gets a room at once that is given to it, even if another would come
// first. If that host does not take the room, another does.
func TestGiven(t *testing.T) { synctest.Test(t, testGiven) }

func testGiven(t *testing.T) {
	w := world(startNATS(t))
	w.Takes = 2
	a, b, c := join(t, w, "a"), join(t, w, "b"), join(t, w, "c")
	const rooms = 20
	var owned []store.Claim
	for i := range rooms {
		own, err := a.Create(t.Context(), fmt.Sprint("ROOM", i), "", []byte("room"))
		if err != nil {
			t.Fatal(err)
		}
		owned = append(owned, own)
	}
	took := make(chan string, 3*rooms)
	for _, h := range []*Cluster{a, b, c} {
		go func() {
			for code := range h.Adopt(t.Context()) {
				if _, _, err := h.Claim(t.Context(), code); err == nil {
					took <- h.Node()
				}
			}
		}()
	}
	eventually(t, "all adopt, and a knows its rooms", func() bool {
		_, loads, settled := a.Loads()
		return len(loads) == 3 && loads["a"] == rooms && settled < time.Minute
	})
	for _, own := range owned {
		if err := own.Give(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
	}
	share := map[string]int{}
	for range rooms {
		select {
		case by := <-took:
			share[by]++
		case <-time.After(time.Minute):
			t.Fatalf("only %v are taken", share)
		}
	}
	if share["c"] < rooms*3/4 { // c may be too late for some
		t.Errorf("the rooms are %v", share)
	}
	eventually(t, "all count alike", func() bool {
		_, loads, _ := b.Loads()
		return loads["a"]+loads["b"]+loads["c"] == rooms && loads["c"] == share["c"]
	})
	b.config.Takes = 3
	if _, loads, _ := b.Loads(); len(loads) != 0 {
		t.Errorf("hosts that read older rooms alone count: %v", loads)
	}
}

// TestPacing checks the pauses between the attempts at one request.
func TestPacing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries pacing
		for i, want := range []time.Duration{20, 40, 80, 160, 320, 320} {
			began := time.Now()
			if !tries.pause(t.Context()) || time.Since(began) != want*time.Millisecond {
				t.Errorf("pause %d lasts %v, want %d ms", i, time.Since(began), want)
			}
		}
	})
}
