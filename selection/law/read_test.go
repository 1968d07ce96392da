package law

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// sound is a law without faults, a part a line.
const sound = `{
  "format": "muster.law/1",
  "name": "cup",
  "league": "The Cup",
  "source": {"url": "https://cup.example/rules", "date": "2026-11"},
  "rules": [
    {"of": "worst", "max_ms": 80, "says": "Nobody over 80."},
    {"of": "clipped-lows", "below_ms": 5.5, "clip_ms": 39, "says": "The lows."}
  ],
  "minping": {"max_ms": 52, "says": "52 at most."},
  "objection": {"by": "higher", "says": "They may."},
  "order": {
    "by": [{"least": "worst", "tie_ms": 1},
           {"least": "mean"}],
    "says": "The worst."
  },
  "disagreement": {"way": "places",
    "places": ["DE",
      "SE"], "says": "In turn."},
  "also": ["And so on."]
}
`

// TestSound checks that the sound law is read, and written again as it was.
func TestSound(t *testing.T) {
	l, err := Read([]byte(sound))
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	text, err := json.Marshal(l)
	if err = errors.Join(err, json.Unmarshal(text, &got), json.Unmarshal([]byte(sound), &want)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s; %v", text, err)
	}
}

// TestFaults checks what people read of a law that is malformed or contradicts itself, and the lines.
func TestFaults(t *testing.T) {
	for _, tt := range []struct{ old, is, want string }{
		{`"max_ms": 80, `, ``, "7: worst has no limit over 0: max_ms or below_ms"},
		{`"max_ms": 80, `, `"max_ms": 0, `, "7: worst has no limit over 0: max_ms or below_ms"},
		{`"max_ms": 80, `, `"max_ms": 80, "below_ms": 90, `, "7: worst has two limits, max_ms and below_ms"},
		{`"max_ms": 80, `, `"max_ms": 50, `, "10: a minping of 52.000 ms is over the 50.000 ms that line 7 allows a player"},
		{`"max_ms": 80, `, `"below_ms": 30, `, "10: a minping of 52.000 ms is over the 30.000 ms that line 7 allows a player"},
		{`"max_ms": 80, `, `"max_ms": "80 ms", `, "7: rules.0.max_ms is a number of milliseconds from 0 to 10000"},
		{`"max_ms": 80, `, `"max_ms": -1, `, "7: rules.0.max_ms is a number of milliseconds from 0 to 10000"},
		{`"max_ms": 80, `, "\n\"max_ms\": 80, \n\"Max_ms\": 90,", "9: rules.0.max_ms stands in line 8 already"},
		{`"of": "worst"`, `"of": "ping"`, "7: rules.0.of is one of [means lows clipped-lows worst mean]"},
		{`"of": "worst"`, `"of": "clipped-lows", "clip_ms": 1`, "8: clipped-lows has a limit in line 7 already"},
		{`"of": "worst"`, `"of": "worst", "clip_ms": 1`, "7: clip_ms is for clipped-lows, which needs it"},
		{`"clip_ms": 39, `, ``, "8: clip_ms is for clipped-lows, which needs it"},
		{`"says": "Nobody over 80."`, `"says": ""`, "7: rules.0.says is missing, too long, or more than one line of text"},
		{`Nobody over 80.`, strings.Repeat("x", 300), "7: rules.0.says is missing, too long, or more than one line of text"},
		{`Nobody over 80.`, `Nobody\nover 80.`, "7: rules.0.says is missing, too long, or more than one line of text"},
		{`"cup"`, `"The Cup"`, "3: a name has lower-case letters, digits and -"},
		{`Cup",`, "Cup\n", "4: invalid character '\\n' in string literal"},
		{`"The Cup"`, `7`, "4: league cannot be a number"},
		{`https://`, ``, "5: a source begins with https:// or http://"},
		{`muster.law/1`, `muster.law/2`, "2: the format is not muster.law/1"},
		{`"max_ms": 52, `, `"max_ms": 0, `, "10: a minping is over 0"},
		{`"by": "higher"`, `"by": "the loser"`, "11: objection.by is one of [higher either both admin]"},
		{`"mean"`, `"worst"`, "14: the order has worst twice"},
		{`{"least": "mean"}`, `{"least": "mean", "tie_ms": 2}`, "14: nothing decides a tie here: a step is missing"},
		{`"by": [{"least": "worst", "tie_ms": 1},
           {"least": "mean"}]`, `"by": []`, "13: nothing says which server is left where none keeps the law"},
		{`"SE"`, `"DE"`, "19: the order of places has DE twice"},
		{`"SE"`, `"Sweden"`, "19: a place is the code of a country, such as DE"},
		{`"way": "places"`, `"way": "veto"`, "17: places are for the way places, which needs them"},
		{`"places": ["DE",
      "SE"], `, ``, "17: places are for the way places, which needs them"},
		{`"way": "places"`, `"way": "coin"`, "17: disagreement.way is one of [home alternate places veto admin]|17: places are for the way places, which needs them"},
		{`["And so on."]`, `["\u0007"]`, "20: also.0 is missing, too long, or more than one line of text"},
		{`"also"`, `"Laws"`, `20: a law has no "Laws"`},
		{`"name": "cup",`, ``, "1: name is missing, too long, or more than one line of text"},
		{`"also": ["And so on."]`, `"also": ["And so on."],`, "21: invalid character '}'"},
		{"[\"And so on.\"]\n}", "[", "20: the file ends too early"},
		{"]\n}\n", "]\n}\n{}", "22: something follows the law"},
		{`["And so on."]`, strings.Repeat("[", 20), "20: its parts stand too deep in each other"},
		{sound, ``, "1: the file ends too early"},
		{sound, `[]`, "1: "},
		{sound, strings.Repeat(" ", MaxFile+1), "1: the file has over 16384 bytes"},
	} {
		if !strings.Contains(sound, tt.old) {
			t.Fatalf("no %q", tt.old)
		}
		_, err := Read([]byte(strings.Replace(sound, tt.old, tt.is, 1)))
		if err == nil {
			t.Errorf("%q in place of %q is read", tt.is, tt.old)
			continue
		}
		got := strings.Split(err.Error(), "\n")
		for i, want := range strings.Split(tt.want, "|") {
			if i >= len(got) || !strings.HasPrefix(got[i], "law: line "+want) || len(got) != len(strings.Split(tt.want, "|")) {
				t.Errorf("%q in place of %q:\n%s\nwant\n%s", tt.is, tt.old, err, tt.want)
			}
		}
	}
}

// FuzzRead checks that files of any form end in a law that can be used, or in faults with lines.
func FuzzRead(f *testing.F) {
	f.Add([]byte(sound))
	for _, l := range All() {
		text, _ := json.Marshal(l)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		l, err := Read(file)
		if err != nil {
			for _, fault := range err.(Faults) {
				if fault.Line < 1 || fault.Line > 1+strings.Count(string(file), "\n") || strings.TrimSpace(fault.Why) == "" {
					t.Errorf("%+v", fault)
				}
			}
			return
		}
		for _, b := range l.Judge(duel(300, 20, 10, 10)) {
			b.Sentence(l.League, "10.0.0.1:1")
		}
		if order, said := l.Decide([]Server{{"1", "DE", duel(9, 9, 9, 9)}, {"2", "SE", nil}}, 0); len(order) != 2 || len(said) == 0 {
			t.Errorf("%v, %v", order, said)
		}
		text, _ := json.Marshal(l)
		again, err := Read(text)
		if written, _ := json.Marshal(again); err != nil || string(written) != string(text) {
			t.Errorf("%s\nis read as %s; %v", text, written, err)
		}
	})
}
