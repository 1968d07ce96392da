package discord

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const (
	ann     = "80351110224678912"
	bob     = "53908232506183680"
	code    = "BAKODITALUME"
	linkKey = "ABCDEFGHIJKLMNOP"
	secret  = "QRSTUVWXYZ234567ABCDEFGHIJ"
)

func recorded(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(body)
}

// TestParse checks what is read of each kind of request.
func TestParse(t *testing.T) {
	const application, guild, channel = "1290000000000000001", "290926798626357999", "645027906669510667"
	for name, want := range map[string]Interaction{
		"ping": {Kind: Ping, Application: application, Token: "aW50ZXJhY3Rpb246cGluZw", User: ann, Options: map[string]string{}},
		"open": {
			Kind: Command, Application: application, Token: "A_UNIQUE_TOKEN_of-an.interaction", Guild: guild, Channel: channel, User: ann,
			Locale: "de", Subcommand: Open, Options: map[string]string{OptionGame: "openarena", OptionPlayers: "2"},
		},
		"complete": {
			Kind: Complete, Application: application, Token: "A_UNIQUE_TOKEN_of-an.autocomplete", Channel: "645027906669510668", User: ann,
			Locale: "en-GB", Subcommand: Open, Options: map[string]string{OptionGame: "open ar"}, Focused: OptionGame,
		},
		"press": {
			Kind: Press, Application: application, Token: "A_UNIQUE_TOKEN_of-a.press", Guild: guild, Channel: channel, User: bob,
			Locale: "fr", Options: map[string]string{}, Button: "rde.BAKODITALUME.ABCDEFGHIJKLMNOP.c2VhbGVk",
		},
	} {
		if got, err := Parse(recorded(t, name)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v, %v; want %+v", name, got, err, want)
		}
	}
	for _, body := range []string{
		"", "null", "[]", "{}", `{"type":9}`, `{"type":5}`, `{"type":2}`, `{"type":"2"}`, `{"type":2,"data":{"name":"other","options":[{}]}}`,
		`{"type":2,"data":{"name":"muster"}}`, `{"type":3,"data":{"custom_id":"x"}}`,
		strings.Replace(string(recorded(t, "open")), "A_UNIQUE_TOKEN_of-an.interaction", "../../../users", 1),
		strings.Replace(string(recorded(t, "open")), `"80351110224678912"`, `"ann/.."`, 1),
		strings.Replace(string(recorded(t, "press")), `"645027906669510667"`, `""`, 1),
	} {
		if got, err := Parse([]byte(body)); err == nil {
			t.Errorf("%.60q is read as %+v", body, got)
		}
	}
}

// FuzzParse checks that no request stops the program, and that the parts read from a request are
// safe in a URL.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"ping", "open", "complete", "press"} {
		f.Add(recorded(f, name))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		in, err := Parse(body)
		if err == nil && in.Kind != Ping && (strings.ContainsAny(in.Token, "/?#% ") || !areIDs(in.User, in.Channel)) {
			t.Errorf("%+v", in)
		}
	})
}

// TestVerify checks that a request counts only if Discord signed it, just now, and once.
func TestVerify(t *testing.T) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
	body := recorded(t, "open")
	now := time.Unix(1_764_169_200, 0)
	sign := func(key ed25519.PrivateKey, at string, body []byte) string {
		return hex.EncodeToString(ed25519.Sign(key, append([]byte(at), body...)))
	}
	const at = "1764169200"
	for name, tt := range map[string]struct {
		signature, at string
		body          []byte
		want          error
	}{
		"good":                {sign(key, at, body), at, body, nil},
		"capital digits":      {strings.ToUpper(sign(key, at, body)), at, body, nil},
		"two minutes old":     {sign(key, "1764169080", body), "1764169080", body, nil},
		"too old":             {sign(key, "1764169079", body), "1764169079", body, ErrStale},
		"from the future":     {sign(key, "1764169321", body), "1764169321", body, ErrStale},
		"another key":         {sign(other, at, body), at, body, ErrForged},
		"another body":        {sign(key, at, body), at, recorded(t, "press"), ErrForged},
		"another time":        {sign(key, at, body), "1764169201", body, ErrForged},
		"moved boundary":      {sign(key, at, body), at + "{", body[1:], ErrStale},
		"no signature":        {"", at, body, ErrForged},
		"short":               {sign(key, at, body)[:126], at, body, ErrForged},
		"not hexadecimal":     {strings.Repeat("zz", 64), at, body, ErrForged},
		"no time":             {sign(key, "", body), "", body, ErrStale},
		"a time in words":     {sign(key, "now", body), "now", body, ErrStale},
		"an endless time":     {sign(key, strings.Repeat("9", 99), body), strings.Repeat("9", 99), body, ErrForged},
		"all zeros signature": {strings.Repeat("00", 64), at, body, ErrForged},
	} {
		v := NewVerifier(key.Public().(ed25519.PublicKey))
		if err := v.Verify(tt.signature, tt.at, tt.body, now); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// TestReplay checks that a request counts once for as long as its time would be good, and that its memory is bounded.
func TestReplay(t *testing.T) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	v := NewVerifier(key.Public().(ed25519.PublicKey))
	now := time.Unix(1_764_169_200, 0)
	const at = "1764169320" // this machine is two minutes late
	signature := hex.EncodeToString(ed25519.Sign(key, []byte(at+"{}")))
	if err := v.Verify(signature, at, []byte("{}"), now); err != nil {
		t.Fatal(err)
	}
	for s := range 240 {
		if err := v.Verify(signature, at, []byte("{}"), now.Add(time.Duration(s)*time.Second)); !errors.Is(err, ErrReplay) {
			t.Fatalf("after %d s: %v", s, err)
		}
	}
	if err := v.Verify(signature, at, []byte("{}"), now.Add(241*time.Second)); !errors.Is(err, ErrStale) {
		t.Error(err)
	}
	for i := len(v.newer); i < maxSeen; i++ {
		v.newer[[32]byte{byte(i), byte(i >> 8), byte(i >> 16), 1}] = true
	}
	signature = hex.EncodeToString(ed25519.Sign(key, []byte(at+"[]")))
	if err := v.Verify(signature, at, []byte("[]"), now.Add(2*time.Second)); !errors.Is(err, ErrMany) {
		t.Error(err)
	}
}

const goodFile = "# ours\nhost https://muster.example/\napplication 1290000000000000001\npublic-key ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c\n" +
	"secret 9f2c8e61b7d04a35a1e0 # 20 signs\nkey 0123456789abcdef0123\n"

func config(t testing.TB) Config {
	t.Helper()
	c, err := ReadConfig(strings.NewReader(goodFile))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestReadConfig checks what is read of an application's file, and that errors contain no secret.
func TestReadConfig(t *testing.T) {
	c := config(t)
	if c.Application != "1290000000000000001" || len(c.PublicKey) != ed25519.PublicKeySize || c.API != discordAPI ||
		c.Host.String() != "https://muster.example" || c.Key != "0123456789abcdef0123" {
		t.Errorf("%+v", c)
	}
	for text, want := range map[string]string{
		"":                                     "there is no line with application",
		strings.Split(goodFile, "secret")[0]:   "there is no line with secret",
		goodFile + "secret x":                  "line 7: say a word and its value, each word once",
		"application ann":                      "line 1: the application's id is a number",
		"public-key 1234":                      "line 1: the public key has 64 hexadecimal digits",
		"secret s3cret":                        "line 1: the secret has 6 signs, and 20 are the least",
		"token MTI5MDAwMDAwMDAwMDAwMDAwMQ.x.y": `line 1: "token" is none of host, key, application, public-key and secret`,
		"api file:///etc/passwd":               "line 1: the API is a URL",
		"host muster.example":                  "line 1: the host is a URL without a path, such as https://muster.example",
		"host https://muster.example/x":        "line 1: the host is a URL without a path, such as https://muster.example",
	} {
		if _, err := ReadConfig(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

// TestButtons checks that a button carries its room, and the organiser's secret only for the organiser.
func TestButtons(t *testing.T) {
	c := config(t)
	other, err := ReadConfig(strings.NewReader(strings.Replace(goodFile, "a1e0", "a1e1", 1)))
	if err != nil {
		t.Fatal(err)
	}
	ref := Ref{"pt", code, linkKey, c.Seal(ann, code, secret)}
	id := ref.Button(Organise)
	if strings.Contains(id, secret) || len(id) > maxButton {
		t.Errorf("a button is %s", id)
	}
	verb, got, err := ParseButton(id)
	if err != nil || verb != Organise || got != ref {
		t.Fatalf("%s is read as %c %+v, %v", id, verb, got, err)
	}
	if opened, ok := c.Unseal(ann, code, got.Sealed); !ok || opened != secret {
		t.Errorf("the organiser's secret is %q, %v", opened, ok)
	}
	for name, is := range map[string]bool{
		"another person": opens(c, bob, code, ref.Sealed), "another room": opens(c, ann, "BAKODITALUMI", ref.Sealed),
		"another key": opens(other, ann, code, ref.Sealed), "cut off": opens(c, ann, code, ref.Sealed[:50]),
		"nothing": opens(c, ann, code, ""), "changed": opens(c, ann, code, ref.Sealed[1:]+ref.Sealed[:1]),
	} {
		if is {
			t.Errorf("%s opens the secret", name)
		}
	}
	long := Ref{"zh", strings.Repeat("BA", 10), linkKey, ref.Sealed}
	if _, got, err := ParseButton(long.Button(Refresh)); err != nil || got.Code != long.Code || got.Key != linkKey || long.isOrganised() {
		t.Errorf("a long code: %+v, %v", got, err)
	}
	if c.Seal(ann, code, "short") != "" || c.Seal(ann, code, strings.ToLower(secret)) != "" {
		t.Error("something else than a secret is sealed")
	}
	for _, bad := range []string{"", "r", "xde.A.B.C", "rde.A.B", "rde.A.B.C.D", "rde.A/.B.C", strings.Repeat("r", 101)} {
		if _, _, err := ParseButton(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func opens(c Config, user, code, sealed string) bool {
	_, ok := c.Unseal(user, code, sealed)
	return ok
}

const link = "https://muster.example/#" + code + "_" + linkKey

func room() Room {
	r := Room{
		Game: "openarena", GameName: "OpenArena", Stage: launching, Message: "We play OpenArena on **Dust** <@1>: 20 ms on average.",
		Connect: "192.0.2.1:27960", Go: "https://muster.example/go/ID",
		Members: []Member{{Name: "ann", Connected: true, Launch: "launched"}, {Name: "@everyone", Connected: true}, {Name: "chong"}},
	}
	r.Selection.Ranking = []Ranked{
		{Addr: netip.MustParseAddrPort("192.0.2.2:27960"), RTT: map[string]float64{"ann": 1}},
		{Addr: netip.MustParseAddrPort("192.0.2.1:27960"), RTT: map[string]float64{"ann": 11.2, "@everyone": 29.6}},
	}
	return r
}

// TestCard checks cards in several stages.
func TestCard(t *testing.T) {
	l := LanguageOf(English)
	ref := Ref{"en", code, linkKey, config(t).Seal(ann, code, secret)}
	got := Card(l, ref, room(), link)
	if len(got.Embeds) != 1 || len(got.Components) != 1 {
		t.Fatalf("the card is %+v", got)
	}
	e := got.Embeds[0]
	if e.Title != "OpenArena" || e.URL != link || e.Color != decided ||
		e.Description != `We play OpenArena on \*\*Dust\*\* \<\@1\>\: 20 ms on average\.` {
		t.Errorf("the card says %+v", e)
	}
	if want := "ann · 11 ms · on the way\n\\@everyone · 30 ms\nchong · away"; e.Fields[0].Value != want {
		t.Errorf("who is in: %q, want %q", e.Fields[0].Value, want)
	}
	if e.Fields[1].Value != `192\.0\.2\.1\:27960` {
		t.Errorf("the address is %q", e.Fields[1].Value)
	}
	if labels := labelsOf(got); !slices.Equal(labels, []string{"Join", "To the server", "Refresh", "Organise"}) {
		t.Errorf("buttons: %q", labels)
	}

	other := room()
	other.Selection.Ranking[1].Addr, other.QueryPort = netip.MustParseAddrPort("192.0.2.1:27961"), 27961
	if e := Card(l, ref, other, link).Embeds[0]; !strings.Contains(e.Fields[0].Value, "11 ms") {
		t.Errorf("a server that answers queries at another port: %+v", e)
	}
	hidden := room() // as of a match that is not decided
	hidden.Selection.Ranking = nil
	if e := Card(l, ref, hidden, link).Embeds[0]; strings.Contains(e.Fields[0].Value, "ms") {
		t.Errorf("pings that nobody may see: %+v", e)
	}

	waiting := room()
	waiting.Stage, waiting.Connect, waiting.Name, waiting.Message = gathering, "", "Fri_day", "Waiting for 1 more player."
	waiting.Selection.Ranking = nil
	got = Card(l, ref, waiting, link)
	if e := got.Embeds[0]; e.Title != `Fri\_day · OpenArena` || e.Description != `Waiting for 1 more player\.` || len(e.Fields) != 1 {
		t.Errorf("a gathering room: %+v", e)
	}
	if labels := labelsOf(got); !slices.Equal(labels, []string{"Join", "Find our server", "Refresh", "Organise"}) {
		t.Errorf("buttons: %q", labels)
	}
	ref.Sealed = ""
	waiting.Members = nil
	got = Card(l, ref, waiting, link)
	if labels := labelsOf(got); !slices.Equal(labels, []string{"Join", "Refresh"}) || got.Embeds[0].Fields[0].Value != "Nobody’s playing yet." {
		t.Errorf("nobody is in: %q, %+v", labels, got.Embeds[0])
	}
}

func labelsOf(m Message) (labels []string) {
	for _, row := range m.Components {
		for _, b := range row.Components {
			labels = append(labels, b.Label)
		}
	}
	return labels
}

// TestBounds checks that cards keep Discord's bounds in every language, with many players of long names.
func TestBounds(t *testing.T) {
	for _, tag := range Tags() {
		l := LanguageOf(tag)
		for _, stage := range []string{gathering, launching} {
			r := room()
			r.Stage, r.Name, r.Message = stage, strings.Repeat("*", 300), strings.Repeat("_", 9999)
			for range 64 {
				r.Members = append(r.Members, Member{Name: strings.Repeat("_", 24)})
			}
			ref := Ref{ShortOf(tag), code, linkKey, config(t).Seal(ann, code, secret)}
			m := Card(l, ref, r, link)
			e := m.Embeds[0]
			if utf8.RuneCountInString(e.Title) > 256 || utf8.RuneCountInString(e.Description) > 4096 {
				t.Errorf("%s: %q, %q", tag, e.Title, e.Description)
			}
			for _, f := range e.Fields {
				if n := utf8.RuneCountInString(f.Value); n == 0 || n > maxField {
					t.Errorf("%s: a field of %d letters", tag, n)
				}
			}
			for _, b := range m.Components[0].Components {
				if n := utf8.RuneCountInString(b.Label); n == 0 || n > 80 || len(b.CustomID) > maxButton || (b.CustomID == "") == (b.URL == "") {
					t.Errorf("%s: a button is %+v", tag, b)
				}
			}
			if body, err := json.Marshal(m); err != nil || !bytes.Contains(body, []byte(`"allowed_mentions":{"parse":[]}`)) {
				t.Errorf("%s: mentions are allowed in %s", tag, body)
			}
		}
	}
}

// TestWords checks that every language has every text with the same values in it, and that people's
// languages are found.
func TestWords(t *testing.T) {
	values := regexp.MustCompile(`\{[a-z]+\}`)
	for _, tag := range Tags() {
		l := LanguageOf(ShortOf(tag))
		if l.Tag != tag {
			t.Errorf("%s is found as %s", tag, l.Tag)
		}
		for key, text := range LanguageOf(English).texts {
			if got := l.texts[key]; got == "" || !slices.Equal(values.FindAllString(got, -1), values.FindAllString(text, -1)) {
				t.Errorf("%s of %s is %q", key, tag, got)
			}
		}
		if len(l.texts) != len(LanguageOf(English).texts) {
			t.Errorf("%s has texts that English lacks", tag)
		}
	}
	for locale, want := range map[string]string{"en-US": "en", "es-419": "es", "zh-CN": "zh-Hans", "pt-BR": "pt-BR", "hi": "en", "": "en"} {
		if got := LanguageOf(locale).Tag; got != want {
			t.Errorf("%s is answered in %s, want %s", locale, got, want)
		}
	}
	for text, want := range map[string]string{"": "", "it is full": "It is full.", "Again?": "Again?", "ärger": "Ärger."} {
		if got := LanguageOf(English).Sentence(text); got != want {
			t.Errorf("%q is the sentence %q", text, got)
		}
	}
	if got := LanguageOf("tr").Sentence("içeride"); got != "İçeride." {
		t.Errorf("a sentence in Turkish is %q", got)
	}
}

// FuzzEscape checks that nothing of a stranger's text is Markdown, a mention or a link.
func FuzzEscape(f *testing.F) {
	for _, text := range []string{"@everyone", "<@&1> **x** [y](https://z)", "\u202eabc", "`", strings.Repeat("_", 9999), "\x00\xff\n# x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		escaped := Escape(text)
		for i := 0; i < len(escaped); i++ {
			if c := escaped[i]; c == '\\' {
				i++
			} else if c < ' ' || c > ' ' && c < 128 && !isAlphanumeric(rune(c)) {
				t.Errorf("%q has a %q", escaped, c)
			}
		}
		if strings.ContainsRune(escaped, '\u202e') || !utf8.ValidString(escaped) {
			t.Errorf("%q", escaped)
		}
	})
}

// TestChoose checks that Discord gets choices that it takes.
func TestChoose(t *testing.T) {
	games := []Game{{ID: strings.Repeat("x", 101), Name: "too long an id"}, {ID: "long", Name: strings.Repeat("語", 200)}}
	for range 99 {
		games = append(games, Game{ID: "openarena", Name: "OpenArena"})
	}
	body, err := json.Marshal(Choose(games))
	var got struct {
		Type int
		Data struct {
			Choices []struct{ Name, Value string }
		}
	}
	if err != nil || json.Unmarshal(body, &got) != nil || got.Type != 8 || len(got.Data.Choices) != 25 ||
		utf8.RuneCountInString(got.Data.Choices[0].Name) != 100 || got.Data.Choices[1].Value != "openarena" {
		t.Errorf("%s, %v", body, err)
	}
	if body, _ := json.Marshal(Choose(nil)); string(body) != `{"type":8,"data":{"choices":[]}}` {
		t.Errorf("no game is %s", body)
	}
}

// discordLocales are the languages of Discord's programs that there are texts in.
var discordLocales = []string{"de", "en-GB", "en-US", "es-419", "es-ES", "fr", "ja", "ko", "pl", "pt-BR", "ru", "tr", "zh-CN"}

// TestCommands checks the description of the command: no text is too long, and every text exists in
// all languages.
func TestCommands(t *testing.T) {
	commands := Commands(64).([]described)
	var check func(path string, d described)
	check = func(path string, d described) {
		path += "/" + d.Name
		if got := slices.Sorted(maps.Keys(d.Descriptions)); !slices.Equal(got, discordLocales) {
			t.Errorf("%s is described for %q", path, got)
		}
		for locale, text := range d.Descriptions {
			if n := utf8.RuneCountInString(text); n == 0 || n > longestDescription || strings.HasSuffix(text, "…") {
				t.Errorf("%s in %s: %q", path, locale, text)
			}
		}
		if d.Description == "" {
			t.Errorf("%s has no description", path)
		}
		for _, o := range d.Options {
			check(path, o)
		}
	}
	for _, c := range commands {
		check("", c)
	}
	if len(commands) != 1 || len(commands[0].Options) != 3 || !commands[0].Options[0].Options[0].Autocomplete {
		t.Errorf("%+v", commands)
	}
}
