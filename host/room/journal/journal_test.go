package journal

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"muster/discovery/sentence"
	"muster/host/wire"
)

var eight = time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)

func of(texts ...string) (j Journal) {
	for _, text := range texts {
		j.Add(eight, sentence.Plain(text))
	}
	return j
}

func texts(notes []wire.Note) (texts []string) {
	for _, n := range notes {
		texts = append(texts, n.String())
	}
	return texts
}

// TestForget checks that a person called E does not count as named in every sentence.
func TestForget(t *testing.T) {
	for _, tt := range []struct {
		text, name string
		is         bool
	}{
		{"e is here", "e", true}, {"everyone measures", "e", false}, {"ann and e: off we go", "e", true},
		{"anna is here", "ann", false}, {"Jann is here", "ann", false}, {"anna and ann", "ann", true}, {"Ann is here", "ann", false},
		{"日本 is here", "日本", true}, {"日本人 is here", "日本", false},
		{"room BAKODI opened", "", false},
	} {
		j := of("the next round begins", tt.text)
		shown, want := j.View(), []string{"the next round begins", tt.text}
		if j.Forget("nobody", tt.name); tt.is {
			want = want[:1]
		}
		if got := texts(j.View()); !slices.Equal(got, want) {
			t.Errorf("without %q are left %q, want %q", tt.name, got, want)
		}
		if len(shown) != 2 || shown[1].String() != tt.text {
			t.Errorf("what was shown is %q now", texts(shown))
		}
	}
}

func TestBound(t *testing.T) {
	var j Journal
	for i := range 3 * most {
		j.Add(eight.Add(time.Duration(i)*time.Second), sentence.Of("room.here", "player", fmt.Sprint("ann ", i)))
	}
	notes := j.View()
	if len(notes) != most || notes[most-1].String() != "ann 599 is here" || notes[0].At != eight.Add(400*time.Second) {
		t.Errorf("%d notes are left, from %v", len(notes), notes[0])
	}
	if j.Says("room.here", "ann 399") || !j.Says("room.here", "ann 400") || j.Says("room.left", "ann 400") {
		t.Error("the journal says what it does not, or does not say what it does")
	}
}

// TestSaved checks the form of the saved section.
func TestSaved(t *testing.T) {
	j := of("ann is here")
	data, err := json.Marshal(j.State())
	if want := `{"notes":[{"at":"2026-11-20T20:00:00Z","key":"plain","with":{"text":"ann is here"}}]}`; err != nil || string(data) != want {
		t.Errorf("it is saved as %s, want %s; %v", data, want, err)
	}
}

// FuzzForget removes any name from any text. A note that names it as a whole word is gone for good,
// and one without it stays.
func FuzzForget(f *testing.F) {
	f.Add("anna and ann", "ann")
	f.Add("日本人", "日本")
	f.Add("\xff\xffe", "\xff")
	f.Fuzz(func(t *testing.T, text, name string) {
		j := of(text, "it is "+name+".", "and on")
		j.Add(eight, sentence.Of("room.here", "player", name))
		j.Forget(name)
		left := texts(j.View())
		if name == "" || name == "on" || name == "and" || name == "and on" {
			return
		}
		if slices.Contains(left, "it is "+name+".") || slices.Contains(left, name+" is here") || !slices.Contains(left, "and on") {
			t.Fatalf("without %q are left %q", name, left)
		}
	})
}
