package sentence

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

// TestJSON checks the JSON of sentences, and that reading it gives the same sentences.
func TestJSON(t *testing.T) {
	for want, s := range map[string]Sentence{
		`{}`:                       {},
		`{"key":"room.restarted"}`: Of("room.restarted"),
		`{"key":"room.here","with":{"player":"ann"}}`:                        Of("room.here", "player", "ann"),
		`{"key":"a","with":{"ms":2.5,"n":3}}`:                                Of("a", "n", 3, "ms", 2.5),
		`{"key":"a","with":{"who":["ann","ben"]}}`:                           Of("a", "who", []string{"ann", "ben"}),
		`{"key":"a","with":{"who":[]}}`:                                      Of("a", "who", []string(nil)),
		`{"key":"a","with":{"ms":"–"}}`:                                      Of("a", "ms", math.Inf(1)),
		`{"key":"a","with":{"for":{"key":"unit.seconds","with":{"n":1.5}}}}`: Of("a", "for", 1500*time.Millisecond),
		`{"key":"a","with":{"why":{"key":"b"}}}`:                             Of("a", "why", Of("b")),
		`{"key":"a","with":{"why":""}}`:                                      Of("a", "why", Sentence{}),
		`{"key":"a","with":{"all":[{"key":"b"}]}}`:                           Of("a", "all", []Sentence{Of("b")}),
		`{"key":"plain","with":{"text":"the old record"}}`:                   Plain("the old record"),
	} {
		data, err := json.Marshal(s)
		if err != nil || string(data) != want {
			t.Errorf("%v is written as %s, want %s; %v", s, data, want, err)
		}
		var back Sentence
		if err := json.Unmarshal(data, &back); err != nil || back != s {
			t.Errorf("%s is read as %#v; %v", data, back, err)
		}
	}
}

// TestLasting checks how durations are said.
func TestLasting(t *testing.T) {
	for d, want := range map[time.Duration]Sentence{
		0:                       Of("unit.seconds", "n", 0),
		-time.Second:            Of("unit.seconds", "n", -1),
		250 * time.Millisecond:  Of("unit.ms", "n", 250),
		1240 * time.Millisecond: Of("unit.seconds", "n", 1.2),
		30 * time.Second:        Of("unit.seconds", "n", 30),
		time.Minute:             Of("unit.minutes", "n", 1),
		90 * time.Second:        Of("unit.both", "first", Of("unit.minutes", "n", 1), "next", Of("unit.seconds", "n", 30)),
		2 * time.Hour:           Of("unit.hours", "n", 2),
		125 * time.Minute:       Of("unit.both", "first", Of("unit.hours", "n", 2), "next", Of("unit.minutes", "n", 5)),
	} {
		if got := Lasting(d); got != want {
			t.Errorf("%v is %v, want %v", d, got, want)
		}
	}
}

// TestText checks that what earlier releases wrote is read.
func TestText(t *testing.T) {
	var s struct{ Why Sentence }
	if err := json.Unmarshal([]byte(`{"why": "the record is old"}`), &s); err != nil || s.Why != Plain("the record is old") {
		t.Errorf("a text is read as %v; %v", s.Why, err)
	}
}

// TestReplace checks that other values replace texts, wherever they stand.
func TestReplace(t *testing.T) {
	s := Of("a", "server", "x", "player", "x", "n", 3, "why", Of("b", "server", "x"), "all", []Sentence{Of("c", "server", "x"), Of("d")})
	got := s.Replace(func(name, text string) any {
		if name == "server" {
			return Of("e", "text", text)
		}
		return text
	})
	e := Of("e", "text", "x")
	if want := Of("a", "server", e, "player", "x", "n", 3, "why", Of("b", "server", e), "all", []Sentence{Of("c", "server", e), Of("d")}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestMalformed checks that a sentence from a hostile program is refused.
func TestMalformed(t *testing.T) {
	deep := strings.Repeat(`{"key":"a","with":{"b":`, 9) + `"c"` + strings.Repeat(`}}`, 9)
	for _, text := range []string{
		deep, `{"with":{"a":null}}`, `{"with":{"a":true}}`, `{"with":{"a":{}}}`, `{"with":{"a":{"key":3}}}`,
		`{"with":{"a":["b",{"key":"c"}]}}`, `{"with":{"a":[["b"]]}}`, `{"with":[]}`,
		`{"with":{"a":["b"` + strings.Repeat(`,"b"`, maxItems) + `]}}`,
	} {
		var s Sentence
		if err := json.Unmarshal([]byte(text), &s); err == nil {
			t.Errorf("%.60s is read as %v", text, s)
		}
	}
}

func TestNames(t *testing.T) {
	for _, s := range []Sentence{
		Of("a", "player", "ann"), Of("a", "players", []string{"ben", "ann"}), Of("a", "why", Of("b", "player", "ann")),
		Of("a", "all", []Sentence{Of("b"), Of("b", "player", "ann")}),
	} {
		if !s.Names("ann") || s.Names("an") || s.Names("player") {
			t.Errorf("%v names somebody else", s)
		}
	}
}

func TestOfPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a struct is an argument")
		}
	}()
	Of("a", "b", struct{}{})
}

// FuzzSentence checks that any sentence that can be read can be written, and reads the
// same again.
func FuzzSentence(f *testing.F) {
	f.Add([]byte(`{"key":"a","with":{"b":["c"],"d":{"key":"e","with":{"f":1}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s, back Sentence
		if json.Unmarshal(data, &s) != nil {
			return
		}
		written, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(written, &back); err != nil || back != s {
			t.Fatalf("%s is read as %v; %v", written, back, err)
		}
	})
}
