package attendance

import (
	"fmt"
	"testing"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
)

// TestGoOnWithout checks that a voting group goes on without exactly the players who do not act, at
// the right time.
func TestGoOnWithout(t *testing.T) {
	group := []people.ID{"ann", "bob", "cat"}
	for _, tt := range []struct {
		name     string
		away     map[people.ID]int // seconds after eight since when they are away
		at       int
		left     string
		complete bool
	}{
		{"all are here", nil, 3600, "[]", true},
		{"one has been away for a moment", map[people.ID]int{"cat": 0}, 7, "[]", false},
		{"one has left", map[people.ID]int{"cat": 0}, 8, "[cat]", true},
		{"most fall silent together", map[people.ID]int{"bob": 0, "cat": 1}, 60, "[]", false},
		{"and stay away", map[people.ID]int{"bob": 0, "cat": 1}, 120, "[bob]", false},
		{"both", map[people.ID]int{"bob": 0, "cat": 1}, 121, "[bob cat]", true},
		{"nobody is there to go on", map[people.ID]int{"ann": 0, "bob": 0, "cat": 0}, 3600, "[]", false},
		{"one who is not of the group", map[people.ID]int{"dan": 0}, 60, "[]", true},
	} {
		r := of("ann", "bob", "cat", "dan")
		for player, since := range tt.away {
			r.Leave(player, at(since))
		}
		left, complete := r.GoOnWithout(group, pause, at(tt.at))
		if got := fmt.Sprint(left); got != tt.left || complete != tt.complete {
			t.Errorf("%s: they go on without %s, and the others are here: %v; want %s, %v", tt.name, got, complete, tt.left, tt.complete)
		}
		for _, player := range left {
			if r.Of(player).Out != Left || !r.CanReturn(player) {
				t.Errorf("%s: %s is out for %q, and may return: %v", tt.name, player, r.Of(player).Out, r.CanReturn(player))
			}
		}
	}
	if left, _ := of().GoOnWithout(nil, pause, eight); len(left) > 0 {
		t.Errorf("nobody goes on without %v", left)
	}
}

// TestCanReturn checks that a player who has left a vote may take part again, but not again and
// again.
func TestCanReturn(t *testing.T) {
	r := of("ann", "bob")
	times := 0
	for ; times < 100; times++ {
		r.Leave("bob", eight)
		r.GoOnWithout([]people.ID{"ann", "bob"}, pause, at(60))
		r.Return("bob", Nothing, true, at(60))
		if !r.CanReturn("bob") {
			break
		}
		r.Recall("bob", at(60))
	}
	if times != 7 { // of LeftAfter each
		t.Errorf("bob returns %d times", times)
	}
	for _, tt := range []struct {
		out    Why
		missed time.Duration
		want   bool
	}{{Left, 1, true}, {Silent, 1, true}, {"", 1, false}, {TooLate, 0, false}, {Odd, 1, false},
		{Left, maxMissed, true}, {Left, maxMissed + 1, false}} {
		r := of("ann")
		r.LeaveOut(tt.out, "ann")
		r.Miss(tt.missed, "ann")
		if got := r.CanReturn("ann"); got != tt.want {
			t.Errorf("%+v: she may return: %v", tt, got)
		}
	}
}

// TestFollow checks that the first player back of a group that was mostly away gives the rest time.
func TestFollow(t *testing.T) {
	group := []people.ID{"ann", "bob", "cat", "dan"}
	for _, tt := range []struct {
		name  string
		away  []people.ID
		back  people.ID
		waits bool
	}{
		{"three of four were away", []people.ID{"bob", "cat"}, "dan", true},
		{"two were", []people.ID{"bob"}, "dan", false},
		{"all were, and most still are", []people.ID{"ann", "bob", "cat"}, "dan", false},
		{"the one who is back has no vote", []people.ID{"bob", "cat"}, "eve", false},
	} {
		r := of("ann", "bob", "cat", "dan", "eve")
		for _, player := range tt.away {
			r.Leave(player, eight)
		}
		r.Follow(tt.back, group, at(100))
		if got := len(r.Away(group, LeftAfter, at(101))) == 0; got != tt.waits {
			t.Errorf("%s: the rest is waited for: %v", tt.name, got)
		}
	}
}

// TestGone checks that the place of a player who is away becomes free in time.
func TestGone(t *testing.T) {
	r := of("ann", "bob", "cat")
	all := []people.ID{"ann", "bob", "cat"}
	if next := r.NextGone(all); !next.IsZero() {
		t.Errorf("all are here, and the next is gone at %v", next)
	}
	r.Leave("cat", at(3))
	r.Leave("bob", at(7))
	if next := r.NextGone(all); next != at(33) {
		t.Errorf("the next is gone at %v", next)
	}
	if next := r.NextGone([]people.ID{"ann", "bob"}); next != at(37) {
		t.Errorf("the next of two is gone at %v", next)
	}
	for _, tt := range []struct {
		at   int
		gone string
		away string
	}{{32, "[]", "[]"}, {33, "[]", "[cat]"}, {34, "[cat]", "[cat]"}, {38, "[bob cat]", "[bob cat]"}} {
		gone, away := fmt.Sprint(r.Gone(at(tt.at))), fmt.Sprint(r.Away(all, GoneAfter, at(tt.at)))
		if gone != tt.gone || away != tt.away {
			t.Errorf("after %d s %s are gone and %s away, want %s and %s", tt.at, gone, away, tt.gone, tt.away)
		}
	}
}

// TestRetries checks that a room tries again less and less often, and not for ever.
func TestRetries(t *testing.T) {
	var rests []string
	for n := range Retries(maxRetries + 2) {
		rests = append(rests, fmt.Sprint(n.Rest(), " ", n.AreOver()))
	}
	const want = "[15s false 15s false 30s false 1m0s false 2m0s false" +
		" 4m0s false 4m0s false 4m0s false 4m0s false 4m0s false 4m0s false 4m0s false 4m0s false 4m0s true]"
	if got := fmt.Sprint(rests); got != want {
		t.Errorf("it tries again after\n%s, want\n%s", got, want)
	}
	for _, tt := range []struct {
		name     string
		failures Retries
		retry    int // after eight, when it failed; 0 is never
		first    bool
		want     int
	}{
		{"it does so anyway", 1, 15, false, 15},
		{"it would not have", 1, 0, false, 15},
		{"for the second time", 2, 0, false, 30},
		{"the first is back", 1, 15, true, 15},
		{"when it would try at once", 1, 12, true, 15},
		{"others are here", 1, 12, false, 12},
		{"it has tried often enough", maxRetries + 1, 0, true, 0},
	} {
		retry, want := roomtime.Time(0), roomtime.Time(0)
		if tt.retry > 0 {
			retry = at(tt.retry)
		}
		if tt.want > 0 {
			want = at(tt.want)
		}
		if got := tt.failures.Sooner(eight, retry, tt.first, at(10)); got != want {
			t.Errorf("%s: it tries again at %v, want %v", tt.name, got, want)
		}
	}
}
