package people

import (
	"maps"
	"slices"
	"testing"

	"muster/discovery/sentence"
)

func TestNth(t *testing.T) {
	for id, place := range map[ID]int{Nth(1): 1, Nth(40): 40, "": 0, "40": 0, idPrefix + "1": 0, Nth(12345): 12345, idPrefix: 0, idPrefix + "0": 0, idPrefix + "007": 0, idPrefix + "-1": 0, idPrefix + "x": 0} {
		if got := id.Number(); got != place {
			t.Errorf("%q came as number %d, want %d", id, got, place)
		}
	}
}

// TestNames checks that people who are known have their names, that nobody sees an ID, and that
// other texts, such as “the organiser”, stay.
func TestNames(t *testing.T) {
	names := NewNames(map[ID]string{Nth(1): "ann", Nth(12): "ben"})
	for id, name := range map[ID]string{Nth(1): "ann", Nth(12): "ben", Nth(2): Somebody, "": "", "the organiser": "the organiser"} {
		if got := names.Of(id); got != name {
			t.Errorf("%q is called %q, want %q", id, got, name)
		}
	}
	if got := (*Names)(nil).Of(Nth(1)); got != Somebody {
		t.Errorf("without names somebody is %q", got)
	}
}

// TestWord checks that a sentence gets names wherever it has an ID as a text of its own, however
// strange the names are, and nowhere else.
func TestWord(t *testing.T) {
	names := NewNames(map[ID]string{Nth(1): "ann", Nth(11): `"e\v<e>` + "\u00e9 \u2028"})
	for _, tt := range []struct{ said, want sentence.Sentence }{
		{sentence.Of("room.opened", "code", "BAKODI"), sentence.Of("room.opened", "code", "BAKODI")},
		{sentence.Of("room.left", "player", Nth(1)), sentence.Of("room.left", "player", "ann")},
		{sentence.Of("room.left", "player", Nth(11)), sentence.Of("room.left", "player", `"e\v<e>`+"\u00e9 \u2028")},
		{sentence.Of("room.left", "player", Nth(111)), sentence.Of("room.left", "player", Somebody)},
		{sentence.Of("a", "players", Texts([]ID{Nth(11), Nth(1)})), sentence.Of("a", "players", []string{`"e\v<e>` + "\u00e9 \u2028", "ann"})},
		{sentence.Of("a", "why", sentence.Of("b", "player", Nth(1)), "player", Nth(1)), sentence.Of("a", "why", sentence.Of("b", "player", "ann"), "player", "ann")},
		{sentence.Of("a", "text", "u0001 1"), sentence.Of("a", "text", "u0001 1")},
		{sentence.Of("a", "text", "\\u00011"), sentence.Of("a", "text", "\\u00011")},
		{sentence.Of("a", "text", "ann \x011"), sentence.Of("a", "text", "ann \x011")},
		{sentence.Of("a", "text", "\x01\"evil", "player", Nth(1)), sentence.Of("a", "text", "\x01\"evil", "player", "ann")},
		{sentence.Of("a", "text", "\"\x010001"), sentence.Of("a", "text", "\"\x010001")},
		{sentence.Sentence{}, sentence.Sentence{}},
	} {
		if got := names.Word(tt.said); got != tt.want {
			t.Errorf("%v is worded %v, want %v", tt.said, got, tt.want)
		}
	}
}

func TestTells(t *testing.T) {
	s := sentence.Of("a", "why", sentence.Of("b", "players", Texts([]ID{Nth(1), Nth(2)})))
	if !IsAbout(s, Nth(2)) || IsAbout(s, Nth(22)) || IsAbout(s, "") || IsAbout(sentence.Of("a", "text", ""), "") {
		t.Error("a sentence is about somebody else")
	}
}

func TestFiltered(t *testing.T) {
	all := []ID{Nth(1), Nth(2), Nth(3)}
	some := Filtered(all, func(id ID) bool { return id != Nth(1) })
	if !slices.Equal(some, []ID{Nth(2), Nth(3)}) || !slices.Equal(all, []ID{Nth(1), Nth(2), Nth(3)}) {
		t.Errorf("%q of %q", some, all)
	}
}

func TestWithout(t *testing.T) {
	all := []ID{Nth(1), Nth(2), Nth(3)}
	if some := Without(all, Nth(3), Nth(1), Nth(4)); !slices.Equal(some, []ID{Nth(2)}) || !slices.Equal(Without(all), all) || len(all) != 3 {
		t.Errorf("%q of %q", some, all)
	}
}

func TestNamed(t *testing.T) {
	names := NewNames(map[ID]string{Nth(1): "ann"})
	if got := Named(map[string]int{string(Nth(1)): 7, "zoe": 8}, names); !maps.Equal(got, map[string]int{"ann": 7, "zoe": 8}) {
		t.Errorf("by name they are %v", got)
	}
	if Named[int, ID](nil, names) != nil {
		t.Error("nothing becomes something")
	}
}
