package reactions

import (
	"errors"
	"strings"
	"testing"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

var start = roomtime.Opening

// TestReact checks that each person may send one of the known signs every two seconds, and that a
// sign is shown for as long.
func TestReact(t *testing.T) {
	type try struct {
		at      time.Duration
		by      people.ID
		sign    string
		refused string // the key of the refusal's sentence
		shows   string
	}
	for what, tries := range map[string][]try{
		"one sign": {{0, "ann", "hello", "", "ann hello"}},
		"too soon": {
			{0, "ann", "hello", "", "ann hello"},
			{Every - 1, "ann", "heart", "refused.react-often", "ann hello"},
			{Every, "ann", "heart", "", "ann heart"},
		},
		"others do not wait": {
			{0, "ann", "go", "", "ann go"},
			{1, "ben", "go", "", "ann go, ben go"},
			{Every, "ben", "yes", "refused.react-often", "ben go"},
		},
		"a refusal costs nothing": {
			{0, "ann", "go", "", "ann go"},
			{Every - 1, "ann", "go", "refused.react-often", "ann go"},
			{Every, "ann", "go", "", "ann go"},
		},
		"no such sign": {
			{0, "ann", "", "refused.no-reaction", ""},
			{0, "ann", "Hello", "refused.no-reaction", ""},
			{0, "ann", "<b>hello</b>", "refused.no-reaction", ""},
			{0, "ann", "moment", "", "ann moment"},
		},
	} {
		var b Board
		for i, c := range tries {
			now := start.Add(c.at)
			err := b.React(c.by, c.sign, clocks(now))
			var refusal *wire.Refusal
			got := ""
			if errors.As(err, &refusal) {
				got = refusal.Says.Key
			}
			if got != c.refused || (err != nil) != (c.refused != "") {
				t.Errorf("%s, %d: %v, want %q", what, i, err, c.refused)
			}
			var shown []string
			for _, r := range b.View(now, nil) {
				shown = append(shown, r.Name+" "+r.Sign)
			}
			if is := strings.Join(shown, ", "); is != c.shows {
				t.Errorf("%s, %d: shows %q, want %q", what, i, is, c.shows)
			}
		}
		if old := b.View(start.Add(2*time.Hour), nil); old == nil || len(old) > 0 {
			t.Errorf("%s: later it shows %v", what, old)
		}
	}
}

// TestFlood checks that a flood of people who come and go stays bounded, and does not change what was
// shown before.
func TestFlood(t *testing.T) {
	var b Board
	before := b.View(start, nil)
	for i := range 10 * most {
		b.React(people.Nth(i+1), "yes", clocks(start))
	}
	if n := len(b.View(start, nil)); n != most || len(before) != 0 {
		t.Errorf("%d are shown, %d before", n, len(before))
	}
	if err := b.React("ann", "yes", clocks(start.Add(Every))); err != nil {
		t.Errorf("after a flood: %v", err)
	}
}

// TestNamed checks that a reaction is shown under the name that its person has by then.
func TestNamed(t *testing.T) {
	var b Board
	b.React("1", "yes", clocks(start))
	shown := b.View(start, people.NewNames(map[people.ID]string{"1": "ann"}))
	if want := (wire.Reaction{Name: "ann", Sign: "yes", At: clocks(start).Wall}); len(shown) != 1 || shown[0] != want {
		t.Errorf("it shows %+v, want %+v", shown, want)
	}
}

func clocks(now roomtime.Time) roomtime.Clocks {
	return roomtime.Clocks{Room: now, Wall: time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC).Add(now.Sub(roomtime.Opening))}
}
