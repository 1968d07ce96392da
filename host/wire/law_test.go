package wire

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"muster/selection/law"
)

// TestLaw checks which laws a match takes, in which form everybody gets them, and what people read of
// a law that no match can keep.
func TestLaw(t *testing.T) {
	file, err := json.Marshal(law.Known("eql"))
	if err != nil {
		t.Fatal(err)
	}
	own := strings.Replace(string(file), `"EQL"`, `"<b>Our Cup</b>"`, 1)
	for given, want := range map[string]string{
		`"eql"`:                    `"law":"eql"`,
		string(file):               `"law":"eql"`,
		own:                        `"league":"\u003cb\u003eOur Cup\u003c/b\u003e"`,
		`"eql","order":"ban pick"`: `"order":"ban pick"`,
		`""`:                       ``,
		`null`:                     ``,
		`"nosuch"`:                 "no law has that name; there are 125fps, ceiling,",
		`7`:                        "this law does not hold together: line 1: ",
		`"125fps","order":"ban"`:   "bans and picks contradict the law of 125fps, which decides itself: “Otherwise it is a server in Germany",
		`"na-draft","order":"b"`:   "bans and picks: write something like",
		`"na-draft","order":"ban"`: "bans and picks contradict the law of NA QuakeWorld Draft 2",
		strings.Replace(own, `"max_ms":1`, "\n\n\"below_ms\":1,\"max_ms\":1", 1):     "line 1: lows has two limits, max_ms and below_ms",
		`{"rules":[` + strings.Repeat(`{"of":"worst","max_ms":9},`, 10_000) + `{}]}`: "line 1: the file has over 16384 bytes",
		`{"rules":[` + strings.Repeat(`{},`, 5_000) + `{}]}`:                         "line 1: rules has over 256 parts",
	} {
		s, err := Settings{By: "mean"}.Patched([]byte(`{"match":"bo3","law":`+given+`}`), OnPage)
		if err != nil {
			if want == "" || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
				t.Errorf("%.80s: %v", given, err)
			}
			continue
		}
		var again Settings
		text, err := json.Marshal(s)
		if wrong := json.Unmarshal(text, &again); err != nil || wrong != nil || !reflect.DeepEqual(s, again) || !strings.Contains(string(text), want) || strings.Contains(string(text), `"law"`) != (want != "") {
			t.Errorf("%.80s: %s; %v, %v", given, text, err, wrong)
		}
	}
}
