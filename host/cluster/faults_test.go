package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"muster/host/cluster/clustertest"
	"muster/host/store"
)

// TestLostAcks checks that a host neither repeats a write whose acknowledgement is lost nor takes
// it for another host's. The host's lease goes on, or ends before the host hears an answer.
func TestLostAcks(t *testing.T) {
	for _, lapses := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) { testLostAcks(t, lapses) })
	}
}

func testLostAcks(t *testing.T, lapses bool) {
	ctx := t.Context()
	for _, tt := range []struct {
		name string
		do   func(c *Cluster, own store.Claim) error
		want store.Place
	}{
		{"save", func(_ *Cluster, own store.Claim) error {
			return own.Save(ctx, []byte("new"))
		}, store.Place{State: store.Elsewhere, Host: "a", Epoch: 1}},
		{"save in parts", func(_ *Cluster, own store.Claim) error {
			return own.Save(ctx, noise(1, 2*inline))
		}, store.Place{State: store.Elsewhere, Host: "a", Epoch: 1}},
		{"claim", func(c *Cluster, _ store.Claim) error {
			_, _, err := c.Claim(ctx, "ROOM")
			return err
		}, store.Place{State: store.Elsewhere, Host: "a", Epoch: 2}},
		{"create", func(c *Cluster, _ store.Claim) error {
			_, err := c.Create(ctx, "NEW", "", nil)
			return err
		}, store.Place{State: store.Elsewhere, Host: "a", Epoch: 1}},
		{"release", func(_ *Cluster, own store.Claim) error { return own.Release(ctx) },
			store.Place{State: store.Orphaned, Host: "a", Epoch: 1, Released: true}},
		{"end", func(_ *Cluster, own store.Claim) error { return own.End(ctx) }, store.Place{State: store.Over, Epoch: 1}},
	} {
		if err := loseAck(t, tt.name, lapses, tt.do, tt.want); err != nil {
			t.Errorf("%s, the lease ends %v: %v", tt.name, lapses, err)
		}
	}
}

// loseAck does something while no answer comes through, and then cuts the line. It returns the
// host's error.
func loseAck(t *testing.T, name string, lapses bool, do func(*Cluster, store.Claim) error, want store.Place) error {
	t.Helper()
	ctx := t.Context()
	s := startNATS(t)
	l := s.Line()
	b, a := join(t, world(s), "b"), join(t, over(s, l), "a")
	own, err := a.Create(ctx, "ROOM", "", []byte("old"))
	if err != nil {
		t.Fatal(err)
	}
	code := "ROOM"
	if name == "create" {
		code = "NEW"
	}
	writes := writesOf(t, b, code)
	before, err := writes()
	if err != nil {
		t.Fatal(err)
	}
	l.Set(clustertest.Deaf)
	done := make(chan error)
	go func() { done <- do(a, own) }()
	if name != "claim" && name != "release" && name != "save in parts" { // these read before they write
		eventually(t, "it is written", func() bool {
			now, err := writes()
			return err == nil && now > before
		})
	}
	if lapses {
		a.lease.mu.Lock()
		a.lease.until = time.Now()
		a.lease.judge()
		a.lease.mu.Unlock()
	}
	l.Set(clustertest.Whole)
	l.Cut()
	if err := <-done; err != nil {
		return err
	}
	after, err := writes()
	if err != nil || after != before+1 {
		t.Errorf("%d writes, %v", after-before, err)
	}
	eventually(t, fmt.Sprintf("%+v, which is %+v", want, b.Find(code)), func() bool { return b.Find(code) == want })
	if name == "save" {
		if err := own.Save(ctx, []byte("newest")); err != nil {
			t.Error(err)
		}
	}
	return nil
}

// writesOf returns a function that counts the writes of a room. For that it makes the stream keep
// replaced messages. The stream's last sequence does not do, because a host also writes buoys there
// when its lease has ended.
func writesOf(t *testing.T, c *Cluster, code string) func() (uint64, error) {
	t.Helper()
	ctx := t.Context()
	info, err := c.rooms.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	info.Config.MaxMsgsPerSubject = 100
	if _, err := c.js.UpdateStream(ctx, info.Config); err != nil {
		t.Fatal(err)
	}
	subject := c.subject("room", code)
	return func() (uint64, error) {
		info, err := c.rooms.Info(ctx, jetstream.WithSubjectFilter(subject))
		if err != nil {
			return 0, err
		}
		return info.State.Subjects[subject], nil
	}
}

// TestFrozen checks that a host with a frozen line knows in time that it cannot trust its lease.
// Another host takes its room over, and whatever the first one sent before the line thawed changes
// nothing.
func TestFrozen(t *testing.T) { synctest.Test(t, testFrozen) }

func testFrozen(t *testing.T) {
	s := startNATS(t)
	ctx := t.Context()
	l := s.Line()
	b, a := join(t, world(s), "b"), join(t, over(s, l), "a")
	own, err := a.Create(ctx, "ROOM", "", []byte("old"))
	if err != nil {
		t.Fatal(err)
	}
	idle, err := a.Create(ctx, "IDLE", "", []byte("idle"))
	if err != nil {
		t.Fatal(err)
	}
	trusted, changed := a.Trust()
	if !trusted {
		t.Fatal("not trusted")
	}
	adopted := make(chan store.Claim, 1)
	go func() {
		for code := range b.Adopt(ctx) {
			if code != "ROOM" {
				continue // this one is slow
			}
			if other, data, err := b.Claim(ctx, code); err == nil && string(data) == "old" {
				if trusted, _ := a.Trust(); trusted {
					t.Error("it is replaced and does not doubt its lease yet")
				}
				adopted <- other
			}
		}
	}()
	l.Set(clustertest.Frozen)
	saved := make(chan error, 1)
	go func() { saved <- own.Save(ctx, []byte("late")) }()
	<-changed
	if trusted, _ := a.Trust(); trusted {
		t.Error("trusted")
	}
	other := <-adopted
	if err := <-saved; !errors.Is(err, store.ErrAway) {
		t.Errorf("the save that went nowhere: %v", err)
	}
	l.Set(clustertest.Whole)
	eventually(t, "a is trusted again", func() bool { is, _ := a.Trust(); return is })
	if p := a.Find("ROOM"); p != (store.Place{State: store.Elsewhere, Host: "b", Epoch: 2}) {
		t.Errorf("as soon as it is trusted: %+v", p)
	}
	select {
	case <-own.Lost():
	default:
		t.Error("it is trusted before it knows what it has lost")
	}
	select {
	case <-idle.Lost():
		t.Error("a room that nobody took is lost")
	default:
	}
	if err := own.Save(ctx, []byte("later")); !errors.Is(err, store.ErrFenced) {
		t.Error(err)
	}
	if err := other.Save(ctx, []byte("new")); err != nil {
		t.Error(err)
	}
	if err := idle.Save(ctx, []byte("idle still")); err != nil {
		t.Errorf("a room that nobody took: %v", err)
	}
	eventually(t, "the other room is a's again", func() bool { return b.Find("IDLE").State == store.Elsewhere })
	if m, err := b.last(ctx, "ROOM"); err != nil || m.Owner != "b" || m.Epoch != 2 {
		t.Errorf("%+v, %v", m.record, err)
	}
}

// TestAway checks that a save fails in time while NATS is away, and succeeds afterwards.
func TestAway(t *testing.T) { synctest.Test(t, testAway) }

func testAway(t *testing.T) {
	s := startNATS(t)
	l := s.Line()
	a := join(t, over(s, l), "a")
	own, err := a.Create(t.Context(), "ROOM", "", []byte("old"))
	if err != nil {
		t.Fatal(err)
	}
	l.Set(clustertest.Frozen)
	began := time.Now()
	if err := own.Save(t.Context(), []byte("new")); !errors.Is(err, store.ErrAway) || time.Since(began) > saveTime {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	l.Set(clustertest.Whole)
	eventually(t, "it saves again", func() bool { return own.Save(t.Context(), []byte("new")) == nil })
	if m, err := a.last(t.Context(), "ROOM"); err != nil || m.Epoch != 1 {
		t.Errorf("%+v, %v", m.record, err)
	}
}

// TestCloseAway checks that a host ends in time while no server answers.
func TestCloseAway(t *testing.T) { synctest.Test(t, testCloseAway) }

func testCloseAway(t *testing.T) {
	s := startNATS(t)
	l := s.Line()
	a := join(t, over(s, l), "a")
	var owners []store.Claim
	for i := range 50 {
		own, err := a.Create(t.Context(), fmt.Sprint("ROOM", i), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		owners = append(owners, own)
	}
	for _, wait := range []time.Duration{0, 2 * pingEvery} { // at the second, the client has given the connection up
		l.Set(clustertest.Frozen)
		pause(t.Context(), wait)
		hurry, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		for _, own := range owners {
			if err := own.Release(hurry); !errors.Is(err, store.ErrAway) {
				t.Error(err)
			}
		}
		if took := time.Since(began); took > time.Duration(len(owners))*attemptTime/2 { // not one after the other
			t.Errorf("it took %v to give all up", took)
		}
	}
	began := time.Now()
	a.Close()
	if took := time.Since(began); took > connectWait+attemptTime {
		t.Errorf("it took %v to end", took)
	}
}

// TestFull checks that servers without space count as away. What was saved stays, and saves succeed
// again once there is space.
func TestFull(t *testing.T) { synctest.Test(t, testFull) }

func testFull(t *testing.T) {
	ctx := t.Context()
	const most = 4 << 20
	s := startNATS(t)
	s.Limit(0, most)
	a := join(t, world(s), "a")
	own, err := a.Create(ctx, "ROOM", "", []byte("old"))
	if err != nil {
		t.Fatal(err)
	}
	var others []store.Claim
	for n := 0; err == nil; n++ {
		var other store.Claim
		if other, err = a.Create(ctx, fmt.Sprint("OTHER", n), "", noise(uint64(n), inline/2)); err == nil {
			others = append(others, other)
		}
	}
	for _, length := range []int{inline / 2, 2 * inline} {
		if err = own.Save(ctx, noise(1, length)); !errors.Is(err, store.ErrAway) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	if m, err := a.last(ctx, "ROOM"); err != nil || m.Length != len("old") {
		t.Errorf("%+v, %v", m.record, err)
	}
	for _, other := range others {
		if err := other.End(ctx); err != nil && !errors.Is(err, store.ErrAway) {
			t.Error(err)
		}
	}
	if err := a.rooms.Purge(ctx, jetstream.WithPurgeSubject(a.subject("room", "OTHER0"))); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it saves again", func() bool { return own.Save(ctx, noise(1, inline/2)) == nil })
}

// zombie cuts a host off from news until its lease has ended and the other host knows this. The
// zombie can still write.
func zombie(t *testing.T, c, other *Cluster) {
	t.Helper()
	c.cancel()
	c.work.Wait()
	c.endLease()
	eventually(t, "it has ended", func() bool { return !slices.Contains(other.Hosts(), c.Node()) })
}

// TestFencing checks two owners of one room, in every order of their actions. After the second
// one's claim the first one writes nothing.
func TestFencing(t *testing.T) { synctest.Test(t, testFencing) }

func testFencing(t *testing.T) {
	ctx := t.Context()
	w := world(startNATS(t))
	b := join(t, w, "b")
	var orders []string
	var merge func(done, a, b string)
	merge = func(done, a, b string) {
		if a == "" && b == "" {
			orders = append(orders, done)
		}
		if a != "" {
			merge(done+a[:1], a[1:], b)
		}
		if b != "" {
			merge(done+b[:1], a, b[1:])
		}
	}
	for _, script := range []struct{ a, b string }{{"sss", "CSS"}, {"sle", "CSS"}, {"ssr", "CS"}, {"sse", "CE"},
		{"ssl", "CRC"}, {"sre", "CS"}} {
		merge("", script.a, script.b)
	}
	slices.Sort(orders)
	orders = slices.Compact(orders)
	a := join(t, w, "a")
	rooms := map[string]store.Claim{}
	for _, order := range orders {
		own, err := a.Create(ctx, order, "", []byte("first"))
		if err != nil {
			t.Fatal(err)
		}
		rooms[order] = own
	}
	zombie(t, a, b)
	for _, order := range orders {
		var other store.Claim
		own, kept, ends, gone := rooms[order], []byte("first"), false, false
		for i, step := range order {
			next := fmt.Append(nil, order, i)
			if step == 'l' {
				next = noise(uint64(i), 2*inline)
			}
			want := error(nil)
			if step >= 'a' && (other != nil || gone) || step < 'a' && step != 'C' && other == nil {
				want = store.ErrFenced
			}
			var err error
			switch step {
			case 's', 'l':
				err = own.Save(ctx, next)
			case 'e':
				err = own.End(ctx)
			case 'r':
				err = own.Release(ctx)
			case 'C':
				var data []byte
				if ends {
					want = store.ErrOver
				}
				var claimed store.Claim
				if claimed, data, err = b.Claim(ctx, order); err == nil {
					other, gone = claimed, true
					if !bytes.Equal(data, kept) {
						t.Errorf("%s, step %d: what was saved is %d bytes, not %d", order, i, len(data), len(kept))
					}
				}
			default:
				if other == nil {
					continue
				}
				switch step {
				case 'S':
					err = other.Save(ctx, next)
				case 'E':
					err = other.End(ctx)
				case 'R':
					err = other.Release(ctx)
				}
			}
			if !errors.Is(err, want) {
				t.Fatalf("%s, step %d: %v, want %v", order, i, err, want)
			}
			if err == nil {
				switch step {
				case 's', 'l', 'S':
					kept = next
				case 'e', 'E':
					ends, gone = true, true
				case 'r':
					gone = true
				}
			}
		}
	}
	t.Log(len(orders), "orders")
}

// TestTakenWhileSaving checks a host that takes a room over while its owner saves. The room it gets
// is the one last acknowledged, or the one on its way.
func TestTakenWhileSaving(t *testing.T) { synctest.Test(t, testTakenWhileSaving) }

func testTakenWhileSaving(t *testing.T) {
	ctx := t.Context()
	w := world(startNATS(t))
	b := join(t, w, "b")
	a := join(t, w, "a")
	const rooms = 20
	owners := make([]store.Claim, rooms)
	for i := range owners {
		own, err := a.Create(ctx, fmt.Sprint("ROOM", i), "", []byte("0"))
		if err != nil {
			t.Fatal(err)
		}
		owners[i] = own
	}
	zombie(t, a, b)
	for i, own := range owners {
		acknowledged := make(chan int, 1)
		begun := make(chan struct{})
		go func() {
			for n := 1; ; n++ {
				if n == 1+i {
					close(begun)
				}
				if err := own.Save(ctx, padded(n, i)); err != nil {
					if !errors.Is(err, store.ErrFenced) {
						t.Error(err)
					}
					acknowledged <- n - 1
					return
				}
				if n > i {
					pause(ctx, time.Duration(3+i)*clustertest.Step) // no host could take a room that is saved without a pause
				}
			}
		}()
		<-begun
		_, data, err := b.Claim(ctx, fmt.Sprint("ROOM", i))
		for errors.Is(err, store.ErrAway) {
			_, data, err = b.Claim(ctx, fmt.Sprint("ROOM", i))
		}
		if err != nil {
			t.Fatal(err)
		}
		last := <-acknowledged
		text, _, _ := bytes.Cut(data, []byte(" "))
		if got, failed := strconv.Atoi(string(text)); err != nil || failed != nil || got != last {
			t.Errorf("room %d: %q is taken over, acknowledged is %d; %v", i, text, last, err)
		}
	}
}

// padded returns a number. For every other room it is so long that it takes several parts.
func padded(n, room int) []byte {
	text := fmt.Append(nil, n, " ")
	if room%2 == 1 {
		text = append(text, noise(uint64(n), inline+partSize)...)
	}
	return text
}

// TestName checks that two hosts cannot have one name, and that a host waits for a crashed
// predecessor's lease.
func TestName(t *testing.T) { synctest.Test(t, testName) }

func testName(t *testing.T) {
	w := world(startNATS(t))
	a := join(t, w, "a")
	w.Node = "a"
	if _, err := Open(t.Context(), w); !errors.Is(err, ErrNodeTaken) {
		t.Fatal(err)
	}
	own, err := a.Create(t.Context(), "ROOM", "", []byte("data"))
	if err != nil {
		t.Fatal(err)
	}
	a.cancel() // its lease stays
	a.work.Wait()
	began := time.Now()
	second, err := Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if took := time.Since(began); took > leaseTime+renewAgain {
		t.Errorf("it waited for %v", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for code := range second.Adopt(ctx) {
		taken, _, err := second.Claim(ctx, code)
		if err != nil || code != "ROOM" || taken.Epoch() != 2 {
			t.Fatal(code, err)
		}
		break
	}
	if err := own.Save(t.Context(), nil); !errors.Is(err, store.ErrFenced) {
		t.Fatal(err)
	}
}
