package home

import (
	"context"
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
		asked   []string
	}{{one, []string{"go"}}, {other, []string{"watch", "go"}}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			h := &Home{ctx: ctx}
			h.config.Command = func(ctx context.Context, _ []string, terminal Terminal) error {
				terminal.Launches("asking")
				terminal.Ask(ctx, "start it now? [Y/n] ")
				return ctx.Err()
			}
			h.watch("openarena", tt.watched, "one", true, nil, func() {})
			synctest.Wait()
			h.connect("openarena", one, nil, func() {})
			synctest.Wait()
			var asked []string
			for _, q := range h.questions.list() {
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
		h := &Home{ctx: t.Context()}
		h.config.Command = func(_ context.Context, args []string, terminal Terminal) error {
			for _, launch := range args {
				terminal.Launches(launch)
			}
			return nil
		}
		for _, tt := range []struct {
			args []string
			want string
		}{{[]string{"asking", "launched"}, "launched"}, {nil, ""}, {[]string{"by-hand"}, "by-hand"}} {
			h.connect("openarena", "127.0.0.1:27960", tt.args, func() {})
			synctest.Wait()
			if h.state.Go.Launch != tt.want || h.state.Go.Running {
				t.Errorf("after %q the page is told %+v, want %q", tt.args, h.state.Go, tt.want)
			}
		}
	})
}
