package home

import (
	"context"
	"io"
	"slices"
	"testing"
	"testing/synctest"
)

// TestConnectEndsWatch checks that a person who goes to a watched server is asked once, and that a
// watch of another server goes on.
func TestConnectEndsWatch(t *testing.T) {
	const one, other = "127.0.0.1:27960", "127.0.0.1:27961"
	for _, tt := range []struct {
		watched string
		asked   []kind
	}{{one, []kind{goes}}, {other, []kind{watches, goes}}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			h := unserved(ctx, func(ctx context.Context, _ Request, terminal Terminal) error {
				terminal.Launches("asking")
				terminal.Ask(ctx, "start it now? [Y/n] ")
				return ctx.Err()
			})
			h.watch(serverRequest{Game: "openarena", Addr: tt.watched, Name: "one", Goes: true})
			synctest.Wait()
			h.connect(serverRequest{Game: "openarena", Addr: one})
			synctest.Wait()
			var asked []kind
			for _, q := range h.state.Questions {
				asked = append(asked, q.Of)
			}
			if !slices.Equal(asked, tt.asked) || h.state.Watch.Running != (tt.watched == other) {
				t.Errorf("watching %s, going to %s: asked by %q, want %q; the watch is %+v", tt.watched, one, asked, tt.asked, h.state.Watch)
			}
			cancel()
			h.work.Wait()
		})
	}
}

// TestLaunchIsTold checks that pages see how the start of the game goes, and that the next
// connection starts afresh.
func TestLaunchIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var launches []string
		h := unserved(t.Context(), func(_ context.Context, _ Request, terminal Terminal) error {
			for _, launch := range launches {
				terminal.Launches(launch)
			}
			return nil
		})
		for _, tt := range []struct {
			launches []string
			want     string
		}{{[]string{"asking", "launched"}, "launched"}, {nil, ""}, {[]string{"by-hand"}, "by-hand"}} {
			launches = tt.launches
			h.connect(serverRequest{Game: "openarena", Addr: "127.0.0.1:27960"})
			synctest.Wait()
			if h.state.Go.Launch != tt.want || h.state.Go.Running {
				t.Errorf("after %q the page is told %+v, want %q", tt.launches, h.state.Go, tt.want)
			}
		}
	})
}

// TestBeacon checks that Home shows the line for friends and the count of answers, and does not end
// while this computer answers. Starting again replaces the first beacon.
func TestBeacon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := unserved(t.Context(), func(ctx context.Context, request Request, terminal Terminal) error {
			io.WriteString(terminal.Out, "answering\n")
			terminal.Shines(request.(Beacon).Name+"\x1b, 192.0.2.1:7787", 3)
			<-ctx.Done()
			return ctx.Err()
		})
		for range 2 {
			h.shine(Beacon{Name: "Frankfurt"})
			synctest.Wait()
			if b := h.state.Beacon; !b.Running || b.Line != "Frankfurt, 192.0.2.1:7787" || b.Answered != 3 || len(b.Lines) != 1 {
				t.Fatalf("the beacon is %+v", b)
			}
		}
		if _, err := h.takeStop(t.Context(), answers); err != nil || h.state.Beacon.Running || h.state.Beacon.Error != nil {
			t.Errorf("%v; it is %+v", err, h.state.Beacon)
		}
	})
}
