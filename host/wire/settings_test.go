package wire

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/sentence"
	"muster/internal/catalogue"
	"muster/selection"
	"muster/selection/law"
)

// TestTable checks that every setting has a row, and that every row points to its own setting.
func TestTable(t *testing.T) {
	var s Settings
	rows := map[string]Setting{}
	pointers := map[any]bool{}
	for _, row := range Table() {
		rows[row.Key] = row
		pointers[row.Of(&s)] = true
		if _, is := rows[row.Needs]; row.Needs != "" && !is {
			t.Errorf("%s needs %s, which does not stand before it", row.Key, row.Needs)
		}
		if (row.Flag == "") != (row.Usage == "") {
			t.Errorf("%s has a flag without help, or help without a flag", row.Key)
		}
	}
	fields := reflect.VisibleFields(reflect.TypeOf(s))
	fields = slices.DeleteFunc(fields, func(f reflect.StructField) bool { return f.Anonymous || f.Name == "NoPassword" })
	if len(rows) != len(fields) || len(pointers) != len(fields) {
		t.Errorf("%d rows point to %d of %d settings", len(rows), len(pointers), len(fields))
	}
	for _, f := range fields {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if _, ok := rows[key]; !ok && key != "-" { // hidden from everyone who sees the others
			t.Errorf("%s has no row", f.Name)
		}
	}
}

// TestWords checks that the catalogue has words for each setting in the form and for what it may be,
// and for nothing else.
func TestWords(t *testing.T) {
	english := catalogue.Sentences()
	wanted := map[string]bool{}
	wishes := map[string]bool{}
	for _, row := range Table() {
		wishes[row.Key] = row.IsWish
	}
	for _, f := range FormOf(MaxPlayers, false, true).Settings {
		if f.Words == "" {
			continue
		}
		words := []string{"label", "unset"}
		if wishes[f.Key] {
			words = append(words, "wanted")
		}
		switch f.Type {
		case "game", "rule":
			words = words[:1] // every room has one
		case "switch":
			words = append(words, "set")
		case "decision":
			words = append(words, "set", "declined")
		case "choice":
			words = append(words, slices.DeleteFunc(slices.Clone(f.Choices), func(word string) bool { return word == "" })...)
		}
		for _, what := range words {
			key := f.Words + "." + what
			if wanted[key] = true; english[key] == "" {
				t.Errorf("the catalogue has no %s", key)
			}
		}
		if f.Unit != "" && english["unit.only."+f.Unit] == "" {
			t.Errorf("%s is said in %s", f.Key, f.Unit)
		}
	}
	for key := range english {
		if strings.HasPrefix(key, "setting.") && !wanted[key] {
			t.Errorf("the page has no setting for %s", key)
		}
	}
}

// TestPatchedInWords checks that the author of another program reads JSON's words for what is wrong, and
// not Go's.
func TestPatchedInWords(t *testing.T) {
	for patch, want := range map[string]string{
		`{"players":"four"}`: "players: got string, want a whole number in its range",
		`{"limits_ms":"80"}`: "limits_ms: got string, want an array",
		`{"agree":"maybe"}`:  "agree: got string, want true or false",
		`{"every":3}`:        "every: got number, want a string",
		`{"wait_ms":"1h"}`:   `wait_ms: "1h" is no time in milliseconds`,
		`{"places":{"a":1}}`: "places: got object, want an array",
		`[]`:                 "no settings: got array, want an object",
		`{"players":4`:       "no settings: the JSON ends in the middle",
		`players=4`:          "no settings: it is no JSON from byte 1 on",
	} {
		if _, err := (Settings{By: "mean"}).Patched([]byte(patch), func(Setting) bool { return true }); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", patch, err, want)
		}
	}
}

func TestPatched(t *testing.T) {
	friday := Settings{
		Name:    "Friday",
		Game:    "openarena",
		Players: 4,
		By:      selection.Mean,
		Limits:  Limits{time.Second},
		Wishes:  selection.Wishes{Map: "oa_dm1"},
		Open:    true,
	}
	with := func(change func(*Settings)) Settings { s := friday; change(&s); return s }
	for _, c := range []struct {
		patch string
		may   func(Setting) bool
		want  Settings
		wrong string
	}{
		{`{}`, OnPage, friday, ""},
		{`{"map":"","players":2}`, OnPage, with(func(s *Settings) { s.Map, s.Players = "", 2 }), ""},
		{`{"limits_ms":[200,150.5]}`, OnPage, with(func(s *Settings) {
			s.Limits = Limits{150500 * time.Microsecond, 200 * time.Millisecond}
		}), ""},
		{`{"limits_ms":[]}`, OnPage, with(func(s *Settings) { s.Limits = nil }), ""},
		{`{"by":"minimax"}`, Supposed, with(func(s *Settings) { s.By = selection.Minimax }), ""},
		{`{"by":"minimax","map":"other"}`, Supposed, Settings{}, "no key “map”"},
		{`{"open":false}`, OnPage, Settings{}, "no key “open”"},
		{`{"-":"password"}`, OnPage, Settings{}, "no key “-”"},
		{`{"mode":"a\u001bb"}`, OnPage, with(func(s *Settings) { s.Mode = "ab" }), ""},
		// Links are taken whole or not at all: Teams' webhooks have some 300 bytes.
		{`{"webhook":" https://clan.example/` + strings.Repeat("a", 400) + `\n"}`, OnPage, with(func(s *Settings) {
			s.Webhook = "https://clan.example/" + strings.Repeat("a", 400)
		}), ""},
		{`{"webhook":"https://clan.example/` + strings.Repeat("a", 2000) + `"}`, OnPage, Settings{}, "webhook"},
		{`{"voice":"https://call.element.io/` + strings.Repeat("a", 270) + `"}`, OnPage, with(func(s *Settings) {
			s.Voice = "https://call.element.io/" + strings.Repeat("a", 270)
		}), ""},
		{`{"voice":"https://call.element.io/` + strings.Repeat("a", 300) + `"}`, OnPage, Settings{}, "voice"},
		{`[]`, OnPage, Settings{}, "no settings"},
		{`{"players":"four"}`, OnPage, Settings{}, "players"},
		{`{"players":65}`, OnPage, Settings{}, "a room is for 64 at most"},
		{`{"by":"luck"}`, OnPage, Settings{}, "rule"},
		{`{"limits_ms":[0]}`, OnPage, Settings{}, "limit"},
		{`{"limits_ms":[61000]}`, OnPage, Settings{}, "limit"},
		{`{"limits_ms":[1,2,3,4,5,6,7,8,9]}`, OnPage, Settings{}, "9 limits"},
		{`{"long_look_ms":300000}`, OnPage, Settings{}, "Check the best for: 5 min isn’t between 5 s and 1 min, or 0 for none"},
		{`{"wait_ms":1500}`, OnPage, Settings{}, "If all are full, wait for seats for: 1,500 ms isn’t between 1 min and 2 h, or 0 for none"},
	} {
		got, err := friday.Patched([]byte(c.patch), c.may)
		switch {
		case c.wrong != "":
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v, want something about %s", c.patch, err, c.wrong)
			}
		case err != nil:
			t.Errorf("%s: %v", c.patch, err)
		case !reflect.DeepEqual(got, c.want):
			t.Errorf("%s: %+v, want %+v", c.patch, got, c.want)
		}
	}
	if len(friday.Limits) != 1 || friday.Limits[0] != time.Second {
		t.Errorf("a patch changed the settings of before: %v", friday.Limits)
	}
}

// TestBlankTexts checks that a text without visible characters is refused, or counts as empty, in
// every setting. A password stays as given.
func TestBlankTexts(t *testing.T) {
	every := func(Setting) bool { return true }
	set := Settings{By: selection.Mean, Every: "whenever", Voice: "https://discord.gg/a", Webhook: "https://clan.example/",
		Strategy: Coordinated, Match: "bo3", Order: "ban pick", Maps: "dm6, dm17, ztn", SideA: "Reds"}
	texts := 0
	for _, row := range Table() {
		if text, is := row.Of(&set).(*string); is && *text == "" {
			*text = "dm6"
		}
	}
	for _, row := range Table() {
		if _, is := row.Of(&Settings{}).(*string); !is {
			continue
		}
		texts++
		for _, blank := range []string{"", " ", "\t\n", "\u200b", "\ufeff \u2060", "\u202e", "\u0000", "\u00ad"} {
			patch, _ := json.Marshal(map[string]string{row.Key: blank})
			got, err := set.Patched(patch, every)
			want := set
			*row.Of(&want).(*string) = ""
			isPassword := row.Key == passwordKey && blank != ""
			switch {
			case isPassword && blank == " ":
				*row.Of(&want).(*string) = blank
			case isPassword || row.Choices != nil && row.Choices[0] != "" || row.isLink() && strings.TrimSpace(blank) != "":
				if err == nil {
					t.Errorf("%s of %q is taken for %q", row.Key, blank, *row.Of(&got).(*string))
				}
				continue
			}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s of %q is %+v, %v", row.Key, blank, got, err)
			}
		}
	}
	if texts < 18 {
		t.Errorf("%d texts", texts)
	}
	own := `{"own_game":{"id":"mine","name":"\u200b","protocol":"quake3","port":1}}`
	if got, err := set.Patched([]byte(own), every); err == nil {
		t.Errorf("a game without a name is taken: %+v", got.OwnGame)
	}
	for password, taken := range map[string]bool{" two  blanks ": true, "a\nquit": false, strings.Repeat("a", maxPassword+1): false} {
		patch, _ := json.Marshal(map[string]string{passwordKey: password})
		if got, err := set.Patched(patch, every); (err == nil) != taken || taken && got.Password != password {
			t.Errorf("the password %.20q is %.20q, %v", password, got.Password, err)
		}
	}
}

// TestSettingsAreShown checks that people see every setting but the password.
func TestSettingsAreShown(t *testing.T) {
	data, err := json.Marshal(Settings{Game: "openarena", By: selection.Mean, Password: "club"})
	want := `{"name":"","game":"openarena","players":0,"by":"mean","limits_ms":[],"map":"","mode":"","strategy":""}`
	if err != nil || string(data) != want {
		t.Errorf("%s, %v; want %s", data, err, want)
	}
}

func TestMaxBotsIsACriterion(t *testing.T) {
	none := 0
	if got := (Settings{Wishes: selection.Wishes{MaxBots: &none}}).Criteria().MaxBots; got == nil || *got != 0 {
		t.Errorf("a room that wants no bots asks for %v", got)
	}
	if got := (Settings{}).Criteria().MaxBots; got != nil {
		t.Errorf("a room that does not care asks for at most %d", *got)
	}
}

// TestCriteriaAreTold checks that people see every criterion for a server that a room can have: in
// the sentence of what the organiser wants, in the page's form, and in the document for programs.
func TestCriteriaAreTold(t *testing.T) {
	before := Settings{Game: "openarena", By: selection.Mean}
	for _, row := range Table() {
		isCriterion := slices.ContainsFunc(selection.Asked(), func(asked selection.Criterion) bool { return asked.Flag == row.Flag })
		if row.Flag == "" || !isCriterion {
			continue
		}
		value := `"dm6"`
		if row.Key == "max_bots" {
			value = "0"
		}
		s, err := before.Patched([]byte(`{"`+row.Key+`":`+value+`}`), OnPage)
		if err != nil {
			t.Fatal(err)
		}
		told, err := json.Marshal(Snapshot{Room: Head{Settings: s}}.Document())
		if err != nil {
			t.Fatal(err)
		}
		if s.Wanted() == before.Wanted() || !strings.Contains(string(told), `"`+row.Key+`":`+value) {
			t.Errorf("of %s people are told %q, programs %s", row.Key, s, told)
		}
	}
}

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

// TestPlain checks that no name of a player or server is a formula in a spreadsheet.
func TestPlain(t *testing.T) {
	for name, want := range map[string]string{
		"ann":                          "ann",
		"":                             "",
		"100 % fun":                    "100 % fun",
		"a=b":                          "a=b",
		"=HYPERLINK(\"https://evil\")": "'=HYPERLINK(\"https://evil\")",
		"+1":                           "'+1",
		"-clan-":                       "'-clan-",
		"@ann":                         "'@ann",
		" =1+1":                        "' =1+1",
		"\t=1+1":                       "'\t=1+1",
		"\r\n=1+1":                     "'\r\n=1+1",
		"\u00a0=1+1":                   "'\u00a0=1+1",
		"＝1+1":                         "'＝1+1",
		"|cmd":                         "'|cmd",
	} {
		if got := escapeFormula(name); got != want {
			t.Errorf("%q is written %q, want %q", name, got, want)
		}
	}
	var table strings.Builder
	e := History{Sessions: []Session{{Stays: []Stay{{Server: "a,\"b\"\n=c", Players: []Seat{{Name: "=x\";y"}}}}}}}
	if err := e.CSV(&table); err != nil {
		t.Fatal(err)
	}
	if want := "\n,,,,\"a,\"\"b\"\"\n=c\",,,,\"'=x\"\";y\",,\n"; !strings.HasSuffix(table.String(), want) {
		t.Errorf("the table ends %q, want %q", table.String(), want)
	}
}

// TestStrangeKeys checks that a key that does nothing is refused, with the name of the one that was meant.
func TestStrangeKeys(t *testing.T) {
	for key, want := range map[string]string{
		"max_rtt_ms": "limits_ms", "max-rtt": "limits_ms", "maxRTT": "limits_ms", "limit_ms": "limits_ms", "limits": "limits_ms",
		"rule": "by", "Players": "players", "max_players": "players", "player": "players", "sideA": "side_a", "turn": "turn_ms",
		"verison": "version", "long-look": "long_look_ms", "MAP": "map",
	} {
		var why *Refusal
		_, err := Settings{}.Patched([]byte(`{"`+key+`":1}`), OnPage)
		if !errors.As(err, &why) || why.Advises != sentence.Of("refused.no-key-like", "name", want) {
			t.Errorf("%s: %v", key, err)
		}
	}
	for key, isKnown := range map[string]bool{"colour": false, "league": false, "open": false, "": false, "map": true} {
		_, err := Settings{By: "mean"}.Patched([]byte(`{"`+key+`":""}`), OnPage)
		if isKnown != (err == nil) {
			t.Errorf("%q: %v", key, err)
		}
	}
	var order struct {
		Addr string `json:"addr"`
		Own  string `json:"-"`
	}
	for body, isRead := range map[string]bool{
		`{"addr":"a"}`: true, "\ufeff{}": true, "null": true, `{"Addr":"a"}`: false, `{"Own":"a"}`: false, `{"-":"a"}`: false, `{"server":"a"}`: false, `[]`: false,
	} {
		if err := Read([]byte(body), &order); (err == nil) != isRead {
			t.Errorf("%s: %v", body, err)
		}
	}
}
