package journal

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/wire"
)

var eight = time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)

func texts(notes []wire.Note) (texts []string) {
	for _, n := range notes {
		texts = append(texts, n.String())
	}
	return texts
}

// TestForget checks that the journal forgets every note about somebody, in whatever part of a
// sentence, and none about others.
func TestForget(t *testing.T) {
	ann, bob := people.Nth(1), people.Nth(12)
	here := sentence.Of("room.here", "player", ann)
	for _, tt := range []struct {
		name string
		says sentence.Sentence
		is   bool
	}{
		{"alone", here, true},
		{"in a list", sentence.Of("room.players-left", "players", people.Texts([]people.ID{bob, ann})), true},
		{"in another sentence", sentence.Of("room.again", "why", here), true},
		{"another", sentence.Of("room.here", "player", bob), false},
		{"nobody", sentence.Of("room.restarted"), false},
	} {
		var j Journal
		j.Add(eight, sentence.Of("room.next-round"))
		j.Add(eight, tt.says)
		shown, want := j.View(nil), 2
		for _, id := range []people.ID{"", people.Nth(2), ann} {
			j.Forget(id)
		}
		if tt.is {
			want = 1
		}
		if got := j.View(nil); len(got) != want || got[0].Key != "room.next-round" {
			t.Errorf("%s: left are %v", tt.name, texts(got))
		}
		if len(shown) != 2 || shown[1].Sentence != (*people.Names)(nil).Word(tt.says) {
			t.Errorf("%s: what was shown is %q now", tt.name, texts(shown))
		}
	}
}

// TestView checks that people read today's names in old notes, which stay as they are.
func TestView(t *testing.T) {
	var j Journal
	j.Add(eight, sentence.Of("room.here", "player", people.Nth(1)))
	for _, name := range []string{"ann", "eve"} {
		names := people.NewNames(map[people.ID]string{people.Nth(1): name})
		if got := texts(j.View(names)); !slices.Equal(got, []string{name + " is here"}) {
			t.Errorf("%s reads %q", name, got)
		}
	}
	if !j.Says("room.here", people.Nth(1)) {
		t.Error("the journal has lost whom it tells of")
	}
}

func TestBound(t *testing.T) {
	var j Journal
	for i := range 3 * most {
		j.Add(eight.Add(time.Duration(i)*time.Second), sentence.Of("room.here", "player", fmt.Sprint("ann ", i)))
	}
	notes := j.View(nil)
	if len(notes) != most || notes[most-1].String() != "ann 599 is here" || notes[0].At != eight.Add(400*time.Second) {
		t.Errorf("%d notes are left, from %v", len(notes), notes[0])
	}
	if j.Says("room.here", "ann 399") || !j.Says("room.here", "ann 400") || j.Says("room.left", "ann 400") {
		t.Error("the journal says what it does not, or does not say what it does")
	}
}

// TestSaved checks the form of the saved section.
func TestSaved(t *testing.T) {
	var j Journal
	j.Add(eight, sentence.Of("room.here", "player", people.ID("ann")))
	data, err := json.Marshal(j.State())
	if want := `{"notes":[{"at":"2026-11-20T20:00:00Z","key":"room.here","with":{"player":"ann"}}]}`; err != nil || string(data) != want {
		t.Errorf("it is saved as %s, want %s; %v", data, want, err)
	}
}
