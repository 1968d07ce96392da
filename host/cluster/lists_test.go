package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestFetchOnce checks that one host fetches for all that ask at the same time.
func TestFetchOnce(t *testing.T) { synctest.Test(t, testFetchOnce) }

func testFetchOnce(t *testing.T) {
	w := world(startNATS(t))
	hosts := []*Cluster{join(t, w, "a"), join(t, w, "b"), join(t, w, "c")}
	var fetches atomic.Int32
	begun := make(chan struct{}, 10)
	end := make(chan error)
	fetch := func(ctx context.Context) ([]byte, error) {
		begun <- struct{}{}
		select {
		case err := <-end:
			if err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return fmt.Append(nil, "list ", fetches.Add(1)), nil
	}
	ask := func(maxAge time.Duration, want string, wantErr string) *sync.WaitGroup {
		var asking sync.WaitGroup
		for _, h := range hosts {
			for range 3 {
				asking.Go(func() {
					data, at, err := h.FetchOnce(t.Context(), "openarena", maxAge, fetch)
					if string(data) != want || (err == nil) != (wantErr == "") || err != nil && err.Error() != wantErr || (want != "") == at.IsZero() {
						t.Errorf("%q of %v, %v", data, at, err)
					}
				})
			}
		}
		return &asking
	}
	all := ask(time.Minute, "", "no internet")
	<-begun
	end <- errors.New("no internet")
	all.Wait()
	eventually(t, "the failure is forgotten", func() bool {
		m, err := hosts[0].hosts.GetLastMsgForSubject(t.Context(), hosts[0].subject("lock", "*"))
		return err == nil && len(m.Data) == 0
	})
	all = ask(time.Minute, "list 1", "")
	<-begun
	end <- nil
	all.Wait()
	ask(time.Minute, "list 1", "").Wait() // all have it
	all = ask(0, "list 1", "gone")        // too old for every host, but better than none
	<-begun
	end <- errors.New("gone")
	all.Wait()
	if len(begun) > 0 {
		t.Errorf("%d fetches more", len(begun))
	}
}

// TestFetchHangs checks that a hanging source does not delay callers with an older list. It delays
// other hosts no longer than the lock lasts.
func TestFetchHangs(t *testing.T) { synctest.Test(t, testFetchHangs) }

func testFetchHangs(t *testing.T) {
	w := world(startNATS(t))
	a := join(t, w, "a")
	now := func(context.Context) ([]byte, error) { return []byte("old"), nil }
	hang := func(ctx context.Context) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() }
	if _, _, err := a.FetchOnce(t.Context(), "key", time.Minute, now); err != nil {
		t.Fatal(err)
	}
	data, at, err := a.FetchOnce(t.Context(), "key", 0, hang)
	if string(data) != "old" || at.IsZero() || err == nil {
		t.Errorf("%q of %v, %v", data, at, err)
	}
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if data, _, err := a.FetchOnce(short, "another", 0, hang); data != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%q, %v", data, err)
	}
}

// TestPause checks that a pause up to a deadline ends alike each time.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if pause(ctx, time.Second) {
				t.Fatal("ctx is alive at its deadline")
			}
			cancel()
		}
	})
}
