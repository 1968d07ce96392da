package cluster

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"muster/host/cluster/clustertest"
	"muster/host/store"
	"muster/internal/await"
)

var _ store.Store = (*Cluster)(nil)

// startNATS returns a model of a NATS server that is in no cluster.
func startNATS(t testing.TB) *clustertest.Model { return startModel(t, 1) }

// startThree returns a model of three servers in one cluster.
func startThree(t testing.TB) *clustertest.Model { return startModel(t, 3) }

func startModel(t testing.TB, servers int) *clustertest.Model {
	m := clustertest.New(servers)
	t.Cleanup(m.Close)
	return m
}

// number returns the number of a server with a name in a model.
func number(name string) (n int) {
	fmt.Sscanf(name, "n%d", &n)
	return n - 1
}

// world returns the configuration of a cluster on a model, over a line of its own.
func world(m *clustertest.Model) Config { return over(m, m.Line()) }

// over returns the configuration of a host that reaches the model over a line.
func over(m *clustertest.Model, line *clustertest.Line) Config {
	return Config{URL: m.URL(), Dial: line.Dial}
}

// join opens a cluster as a node.
func join(t testing.TB, config Config, node string) *Cluster {
	t.Helper()
	config.Node = node
	c, err := Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	await.Until(t, is, "in a minute not: %s", what)
}

// noise returns bytes that do not compress.
func noise(seed uint64, length int) []byte {
	random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	data := make([]byte, length)
	random.Read(data)
	return data
}

// TestLife checks that a room can be created, saved, moved and ended, and that every host learns of
// it.
func TestLife(t *testing.T) { synctest.Test(t, testLife) }

func testLife(t *testing.T) {
	ctx := t.Context()
	w := world(startNATS(t))
	a, b := join(t, w, "a"), join(t, w, "b")
	for _, length := range []int{0, 100, inline, 3*partSize + 17} {
		code, id := fmt.Sprint("ROOM", length), fmt.Sprint("id", length)
		first, second, third := noise(1, length), noise(2, length), noise(3, length)
		own, err := a.Create(ctx, code, id, first)
		if err != nil || own.Epoch() != 1 {
			t.Fatal(own, err)
		}
		if p := a.Find(code); p != (store.Place{State: store.Here, Host: "a", Epoch: 1}) {
			t.Fatalf("%+v", p)
		}
		if _, err := b.Create(ctx, code, id, first); !errors.Is(err, store.ErrTaken) {
			t.Fatal(err)
		}
		if _, _, err := b.Claim(ctx, code); !errors.Is(err, store.ErrElsewhere) {
			t.Fatal(err)
		}
		if err := own.Save(ctx, second); err != nil {
			t.Fatal(err)
		}
		eventually(t, "b knows the room", func() bool {
			return b.Find(code) == store.Place{State: store.Elsewhere, Host: "a", Epoch: 1} && b.FindID(id) == code
		})
		if err := own.Release(ctx); err != nil {
			t.Fatal(err)
		}
		if err := own.Save(ctx, third); !errors.Is(err, store.ErrFenced) {
			t.Fatal(err)
		}
		eventually(t, "b knows that it is nobody's", func() bool { return b.Find(code).State == store.Orphaned })
		other, data, err := b.Claim(ctx, code)
		if err != nil || other.Epoch() != 2 || !bytes.Equal(data, second) {
			t.Fatal(other, len(data), err)
		}
		if err := other.Save(ctx, third); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a knows that it is b's", func() bool { return a.Find(code) == store.Place{State: store.Elsewhere, Host: "b", Epoch: 2} })
		if err := other.End(ctx); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a knows that it is over", func() bool { return a.Find(code).State == store.Over && a.FindID(id) == "" })
		if _, _, err := a.Claim(ctx, code); !errors.Is(err, store.ErrOver) {
			t.Fatal(err)
		}
		if _, err := a.Create(ctx, code, id, first); !errors.Is(err, store.ErrTaken) {
			t.Fatal(err)
		}
	}
	if _, _, err := a.Claim(ctx, "NOBODY"); !errors.Is(err, store.ErrUnknown) {
		t.Fatal(err)
	}
	eventually(t, "no parts are left", func() bool {
		info, err := a.large.stream.Info(ctx)
		return err == nil && info.State.Msgs == 0
	})
}

// TestAdopt checks that other hosts adopt the rooms of a host that ends, and that each room gets
// one owner.
func TestAdopt(t *testing.T) { synctest.Test(t, testAdopt) }

func testAdopt(t *testing.T) {
	ctx := t.Context()
	w := world(startNATS(t))
	a := join(t, w, "a")
	const rooms = 40
	for i := range rooms {
		if _, err := a.Create(ctx, fmt.Sprint("ROOM", i), "", []byte("room")); err != nil {
			t.Fatal(err)
		}
	}
	type adopted struct{ by, code string }
	all := make(chan adopted, 2*rooms)
	for _, name := range []string{"b", "c"} {
		other := join(t, w, name)
		go func() {
			for code := range other.Adopt(ctx) {
				switch _, _, err := other.Claim(ctx, code); {
				case err == nil:
					all <- adopted{name, code}
				case ctx.Err() == nil && !errors.Is(err, store.ErrElsewhere): // both hosts may try
					t.Error(err)
				}
			}
		}()
	}
	eventually(t, "everyone adopts", func() bool {
		a.directory.mu.Lock()
		defer a.directory.mu.Unlock()
		return a.directory.hosts["b"].Adopts && a.directory.hosts["c"].Adopts
	})
	began := time.Now()
	a.Close()
	got, share := map[string]bool{}, map[string]int{}
	for len(got) < rooms {
		select {
		case one := <-all:
			got[one.code] = true
			share[one.by]++
		case <-time.After(time.Minute):
			t.Fatalf("nobody has taken the last %d of %d rooms", rooms-len(got), rooms)
		}
	}
	t.Log(share, time.Since(began))
	if share["b"] < rooms/5 || share["c"] < rooms/5 {
		t.Errorf("of %d rooms %v", rooms, share)
	}
}

// TestOpenRefuses checks that a host that cannot join a cluster learns why, and what to do.
// e2e/program has what only real servers refuse: users and certificates.
func TestOpenRefuses(t *testing.T) { synctest.Test(t, testOpenRefuses) }

func testOpenRefuses(t *testing.T) {
	off, good := startNATS(t), startNATS(t)
	off.StopJetStream(0)
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(good.URL(), nats.SetCustomDialer(good.Line()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, config := range []jetstream.StreamConfig{
		{Name: "other-rooms", Subjects: []string{"other.room.*"}},
		{Name: "newer-rooms", Subjects: []string{"newer.room.*"}, Metadata: map[string]string{versionKey: "99"}},
		{Name: "somebody", Subjects: []string{"theirs.>"}},
	} {
		if _, err := js.CreateStream(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name   string
		at     *clustertest.Model
		config Config
		want   error
	}{
		{"no name", good, Config{}, ErrNode},
		{"a name that is none", good, Config{Node: "a.b"}, ErrNode},
		{"no URL", nil, Config{Node: "a"}, ErrURL},
		{"a URL that is none", nil, Config{URL: "nats://[", Node: "a"}, ErrURL},
		{"nobody there", good, Config{URL: "nats://192.0.2.99:4222", Node: "a"}, ErrUnreachable},
		{"no such credentials", good, Config{Credentials: "/nowhere", Node: "a"}, ErrCredentials},
		{"credentials that are none", good, Config{Credentials: garbage, Node: "a"}, ErrCredentials},
		{"no such CA", good, Config{CA: "/nowhere", Node: "a"}, ErrCertificate},
		{"a CA that is none", good, Config{CA: garbage, Node: "a"}, ErrCertificate},
		{"TLS where there is none", good, Config{URL: strings.Replace(good.URL(), "nats://", "tls://", 1), Node: "a"}, ErrCertificate},
		{"JetStream is off", off, Config{Node: "a"}, ErrNoJetStream},
		{"more replicas than servers", good, Config{Node: "a", Replicas: 3}, ErrReplicas},
		{"a stream of another shape", good, Config{Node: "a", Prefix: "other"}, ErrShape},
		{"a stream of a newer version", good, Config{Node: "a", Prefix: "newer"}, ErrNewer},
		{"subjects of somebody else's", good, Config{Node: "a", Prefix: "theirs"}, ErrShape},
		{"all is well", good, Config{Node: "a"}, nil},
	} {
		if tt.at != nil {
			tt.config.URL, tt.config.Dial = cmp.Or(tt.config.URL, tt.at.URL()), tt.at.Line().Dial
		}
		c, err := Open(t.Context(), tt.config)
		if err == nil {
			c.Close()
		}
		var said *Error
		if !errors.Is(err, tt.want) || tt.want != nil && (!errors.As(err, &said) || said.Hint() == "") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	info, err := js.Stream(t.Context(), "other-rooms")
	if err != nil || info.CachedInfo().Config.MaxMsgsPerSubject > 0 {
		t.Errorf("what was there has changed: %v", err)
	}
}

// TestReturned checks that a host does not ask for the same ended lease for each room. Yet a host
// that returns keeps the rooms that no other host has claimed.
func TestReturned(t *testing.T) { synctest.Test(t, testReturned) }

func testReturned(t *testing.T) {
	ctx := t.Context()
	w := world(startNATS(t))
	a, b := join(t, w, "a"), join(t, w, "b")
	for _, code := range []string{"ONE", "TWO"} {
		if _, err := a.Create(ctx, code, "", nil); err != nil {
			t.Fatal(err)
		}
	}
	a.cancel() // as if stopped
	a.work.Wait()
	eventually(t, "a's lease has ended", func() bool { return b.Find("ONE").State == store.Orphaned })
	if _, _, err := b.Claim(ctx, "ONE"); err != nil {
		t.Fatal(err)
	}
	d := &b.directory
	d.mu.Lock()
	of := owner{"a", a.life}
	if d.ended[of].IsZero() {
		t.Error("it will be asked for the next room, too")
	}
	d.ended[of] = time.Now().Add(time.Hour) // remember it for the whole test
	d.mu.Unlock()
	_, seq, err := b.readLease(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	a.ctx, a.cancel = context.WithCancel(context.Background()) // and goes on
	a.work.Go(func() { a.writeLease(ctx, seq) })
	eventually(t, "a is back", func() bool { return b.Find("TWO").State == store.Elsewhere })
	if _, _, err := b.Claim(ctx, "TWO"); !errors.Is(err, store.ErrElsewhere) {
		t.Errorf("a room of a host that is back is claimed: %v", err)
	}
}

// TestClaimsAskLittle checks that taking over a room of an ended host costs two requests: one reads
// the room and one writes it. There is no third request for the lease of each room.
func TestClaimsAskLittle(t *testing.T) { synctest.Test(t, testClaimsAskLittle) }

func testClaimsAskLittle(t *testing.T) {
	const rooms = 200
	ctx := t.Context()
	s := startNATS(t)
	w := world(s)
	a, b := join(t, w, "a"), join(t, w, "b")
	for n := range rooms {
		if _, err := a.Create(ctx, fmt.Sprint("ROOM", n), "", nil); err != nil {
			t.Fatal(err)
		}
	}
	a.cancel() // as if killed
	a.conn.Close()
	eventually(t, "a's lease has ended", func() bool { return b.Find("ROOM0").State == store.Orphaned })
	// Other messages come in between, such as for b's lease.
	var messages []int
	for n := range rooms {
		before := s.Received()
		if _, _, err := b.Claim(ctx, fmt.Sprint("ROOM", n)); err != nil {
			t.Fatal(err)
		}
		messages = append(messages, s.Received()-before)
	}
	slices.Sort(messages)
	if each := messages[rooms/2]; each > 2 {
		t.Errorf("a claim takes %d messages; all of them took %v", each, messages)
	}
}
