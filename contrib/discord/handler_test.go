package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster-discord/internal/discord"
)

const (
	ann, bob   = "80351110224678912", "53908232506183680"
	onlyOpener = "Seule la personne qui a ouvert ce salon peut faire cela."
	// token begins the token of every interaction here.
	token = "A_UNIQUE_TOKEN"
)

var signer = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

// place is the program between a host and a Discord that takes edits. Neither is real; e2e/program has a real host.
type place struct {
	*testing.T
	web     *httptest.Server
	host    *fakeHost
	log     *lockedBuffer
	edits   chan edit
	n       int
	handler *handler
	// status is how Discord answers edits.
	status int
}

// fakeHost is a host with one room, which anybody opens again and again.
type fakeHost struct {
	*testing.T
	at string

	mu      sync.Mutex // guards what follows
	players []string
	isOver  bool
	opened  []string // Muster-For of each opening, with the body
	looks   []string // Authorization of each look at the room
	refuses string   // refuses openings with this, if it is not empty
}

// These are the keys of the room, and the league of the program.
const (
	code, linkKey, secret = "BAKODITALUME", "ABCDEFGHIJKLMNOP", "QRSTUVWXYZ234567ABCDEFGHIJ"
	leagueKey             = "0123456789abcdef0123"
)

func (h *fakeHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	body, _ := io.ReadAll(r.Body)
	isOrganiser := r.Header.Get("Authorization") == "Bearer "+secret
	refuse := func(status int, reason, message string) {
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(map[string]string{"reason": reason, "message": message, "hint": "try [again](https://x)"})
	}
	isRoom := r.Header.Get("Muster-Code") == code && r.Header.Get("Muster-Key") == linkKey
	switch request := r.Method + " " + r.URL.Path; {
	case request == "GET /api/service":
		games := []discord.Game{{ID: "openarena", Name: "OpenArena", Listed: true}, {ID: "xonotic", Name: "Xonotic", Listed: true}, {ID: "xono", Name: "No list"}}
		games = slices.DeleteFunc(games, func(g discord.Game) bool { return !strings.Contains(g.ID, strings.ToLower(r.URL.Query().Get("game"))) })
		json.NewEncoder(w).Encode(service{games, 16})
	case request == "POST /api/rooms" && h.refuses != "":
		refuse(http.StatusTooManyRequests, "busy", h.refuses+" in "+r.Header.Get("Accept-Language"))
	case request == "POST /api/rooms":
		if r.Header.Get("Authorization") != "Bearer "+leagueKey {
			h.Errorf("a room is opened with %q", r.Header.Get("Authorization"))
		}
		h.opened = append(h.opened, r.Header.Get("Muster-For")+" "+string(body))
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"code":%q,"organiser_link":"%s/#%s_%s~FINGERPRINT.%s"}`, code, h.at, code, linkKey, secret)
	case !isRoom:
		refuse(http.StatusNotFound, "code", "no such room")
	case h.isOver:
		refuse(http.StatusGone, "closed", "the room is over")
	case request == "GET /api/rooms/-":
		h.looks = append(h.looks, r.Header.Get("Authorization"))
		of := discord.Room{Game: "openarena", GameName: "OpenArena", Stage: "gathering", Message: "Said in " + r.Header.Get("Accept-Language")}
		for _, name := range h.players {
			of.Members = append(of.Members, discord.Member{Name: name, Connected: true})
		}
		json.NewEncoder(w).Encode(of)
	case request == "POST /api/rooms/-/end" && isOrganiser:
		h.isOver = true
		w.WriteHeader(http.StatusNoContent)
	default:
		h.Errorf("the host is asked %s by %q", request, r.Header.Get("Authorization"))
	}
}

// joins lets a player into the room.
func (h *fakeHost) joins(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.players = append(h.players, name)
}

// edit is what Discord got.
type edit struct{ method, path, body string }

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.String()
}

// open serves the endpoint. hosting changes the host, if it is not nil.
func open(t *testing.T, hosting func(http.Handler) http.Handler) *place {
	t.Helper()
	t.Cleanup(client.CloseIdleConnections)
	p := &place{T: t, host: &fakeHost{T: t}, log: &lockedBuffer{}, edits: make(chan edit, 1000), status: http.StatusOK}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.edits <- edit{r.Method, r.URL.Path, string(body)}
		w.WriteHeader(p.status)
	}))
	t.Cleanup(api.Close)
	serves := http.Handler(p.host)
	if hosting != nil {
		serves = hosting(serves)
	}
	host := httptest.NewServer(serves)
	t.Cleanup(host.Close)
	p.host.at = host.URL
	config, err := discord.ReadConfig(strings.NewReader(p.config(host.URL, api.URL)))
	if err != nil {
		t.Fatal(err)
	}
	p.handler = newHandler(config, slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	p.handler.poll = 10 * time.Millisecond
	p.web = httptest.NewServer(p.handler)
	t.Cleanup(func() { p.handler.finish(); p.web.Close() })
	return p
}

// config returns a file for a host and a Discord.
func (p *place) config(host, api string) string {
	return fmt.Sprintf("host %s\nkey %s\napplication 1290000000000000001\npublic-key %x\nsecret 9f2c8e61b7d04a35a1e0\napi %s\n",
		host, leagueKey, signer.Public(), api)
}

// says sends a signed body to the endpoint.
func (p *place) says(key ed25519.PrivateKey, at time.Time, body string, change func(http.Header)) (status int, answer string) {
	p.Helper()
	stamp := fmt.Sprint(at.Unix())
	request, err := http.NewRequest(http.MethodPost, p.web.URL+"/discord", strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	request.Header.Set("X-Signature-Timestamp", stamp)
	request.Header.Set("X-Signature-Ed25519", hex.EncodeToString(ed25519.Sign(key, []byte(stamp+body))))
	if change != nil {
		change(request.Header)
	}
	got, err := http.DefaultClient.Do(request)
	if err != nil {
		p.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		p.Fatal(err)
	}
	return got.StatusCode, string(text)
}

// recorded returns a request in Discord's form with other values, and with an id of its own.
func (p *place) recorded(name string, replace ...string) string {
	p.Helper()
	body, err := os.ReadFile("internal/discord/testdata/" + name + ".json")
	if err != nil {
		p.Fatal(err)
	}
	p.n++
	return strings.NewReplacer(append(replace, `"id":"13000000000000000`, fmt.Sprintf(`"id":"1%03d0000000000000`, p.n),
		token+"_", fmt.Sprintf("%s_%d_", token, p.n))...).Replace(strings.TrimSpace(string(body)))
}

// answer is an answer to an interaction.
type answer struct {
	Type int
	Data struct {
		Content string
		Flags   int
		Embeds  []struct {
			Title, Description, URL string
			Fields                  []struct{ Name, Value string }
		}
		Components []struct {
			Components []struct {
				Label, URL string
				CustomID   string `json:"custom_id"`
			}
		}
		Choices []struct{ Name, Value string }
	}
}

func (a answer) button(label string) (found string) {
	for _, row := range a.Data.Components {
		for _, b := range row.Components {
			if b.Label == label {
				found = b.CustomID + b.URL
			}
		}
	}
	return found
}

// asks sends a good interaction.
func (p *place) asks(name string, replace ...string) (a answer) {
	p.Helper()
	status, text := p.says(signer, time.Now(), p.recorded(name, replace...), nil)
	if err := json.Unmarshal([]byte(text), &a); status != http.StatusOK || err != nil {
		p.Fatalf("%s: %d %s, %v", name, status, text, err)
	}
	return a
}

// presses presses a button. The recorded press is Bob's, in French.
func (p *place) presses(id string, replace ...string) answer {
	p.Helper()
	return p.asks("press", append(replace, "rde.BAKODITALUME.ABCDEFGHIJKLMNOP.c2VhbGVk", id)...)
}

// TestRefused checks that forged, stale, replayed, oversized and wrongly signed requests get 401, and do nothing.
func TestRefused(t *testing.T) {
	p := open(t, nil)
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
	now := time.Now()
	for name, is := range map[string]func() int{
		"another key": func() int { s, _ := p.says(other, now, p.recorded("open"), nil); return s },
		"stale":       func() int { s, _ := p.says(signer, now.Add(-5*time.Minute), p.recorded("open"), nil); return s },
		"of tomorrow": func() int { s, _ := p.says(signer, now.Add(24*time.Hour), p.recorded("open"), nil); return s },
		"oversized": func() int {
			s, _ := p.says(signer, now, p.recorded("open")+strings.Repeat(" ", discord.MaxBody), nil)
			return s
		},
		"no signature": func() int {
			s, _ := p.says(signer, now, p.recorded("open"), func(h http.Header) { clear(h) })
			return s
		},
		"another application": func() int {
			s, _ := p.says(signer, now, p.recorded("open", `"application_id":"129`, `"application_id":"128`), nil)
			return s
		},
		"a time that was not signed": func() int {
			s, _ := p.says(signer, now, p.recorded("open"), func(h http.Header) { h.Set("X-Signature-Timestamp", fmt.Sprint(now.Unix()+1)) })
			return s
		},
		"a replay": func() int {
			body := p.recorded("ping")
			if s, text := p.says(signer, now, body, nil); s != http.StatusOK || strings.TrimSpace(text) != `{"type":1}` {
				t.Errorf("a ping gets %d %s", s, text)
			}
			s, _ := p.says(signer, now, body, nil)
			return s
		},
	} {
		if status := is(); status != http.StatusUnauthorized {
			t.Errorf("%s gets %d", name, status)
		}
	}
	if status, _ := p.says(signer, now, `{"type":5}`, nil); status != http.StatusBadRequest {
		t.Errorf("a modal gets %d", status)
	}
	if p.asks("open").button("Mitmachen") == "" {
		t.Error("after all that, a good request is not answered")
	}
}

// TestRoom plays through what people do with a room: they open it, come in, look, and end it. The card follows.
func TestRoom(t *testing.T) {
	p := open(t, nil)
	if a := p.asks("complete", "open ar", "xono"); a.Type != 8 || len(a.Data.Choices) != 1 || a.Data.Choices[0].Value != "xonotic" {
		t.Errorf("while somebody types: %+v", a)
	}
	if a := p.asks("open", "openarena", "no such game"); a.Data.Flags != 64 || !strings.Contains(a.Data.Content, "Welches Spiel?") {
		t.Errorf("an unknown game: %+v", a)
	}
	card := p.asks("open")
	link := card.button("Mitmachen")
	if card.Type != 4 || card.Data.Flags != 0 || card.button("Unseren Server finden") != "" || link != p.host.at+"/#"+code+"_"+linkKey ||
		card.Data.Embeds[0].Title != "OpenArena" || card.Data.Embeds[0].URL != link || card.Data.Embeds[0].Description != "Said in de" {
		t.Fatalf("the card is %+v", card)
	}
	p.host.joins("@every_one")
	for e := range p.edits { // the card follows by itself
		if e.method != http.MethodPatch || !strings.HasPrefix(e.path, "/webhooks/1290000000000000001/"+token) || !strings.HasSuffix(e.path, "/messages/@original") {
			t.Fatalf("Discord got %+v", e)
		}
		if strings.Contains(e.body, `\\@every\\_one`) {
			break
		}
	}
	card = p.presses(card.button("Aktualisieren")) // by Bob, who reads French: the card stays German
	if a := p.presses(card.button("Unseren Server finden")); a.Type != 4 || a.Data.Flags != 64 || a.Data.Content != onlyOpener {
		t.Errorf("Bob begins: %+v", a)
	}
	if card.Type != 7 || !strings.Contains(card.Data.Embeds[0].Fields[0].Value, `\@every\_one`) {
		t.Errorf("the card is then %+v", card)
	}
	status := p.asks("open", `"name":"open","options":[{"name":"game","type":3,"value":"openarena"},{"name":"players","type":4,"value":2}]`,
		`"name":"status"`, `"locale":"de"`, `"locale":"en-US"`)
	if status.Type != 4 || status.Data.Flags != 64 || status.button("Join") != link {
		t.Errorf("the status is %+v", status)
	}
	organise := status.button("Organise")
	if a := p.presses(organise); a.Type != 4 || a.Data.Flags != 64 || a.Data.Content != onlyOpener {
		t.Errorf("Bob organises: %+v", a)
	}
	mine := p.presses(organise, bob, ann, `"locale":"fr"`, `"locale":"en-US"`)
	own := mine.button("Open as organiser")
	if mine.Data.Flags != 64 || own != link+"."+secret {
		t.Fatalf("Ann organises: %+v", mine)
	}
	end := mine.button("End the room")
	if a := p.presses(end); !strings.Contains(a.Data.Content, "Seule la personne") {
		t.Errorf("Bob ends it: %+v", a)
	}
	if a := p.presses(end, bob, ann, `"locale":"fr"`, `"locale":"en-US"`); a.Type != 7 || a.Data.Embeds[0].Title != "This room is over" {
		t.Errorf("Ann ends it: %+v", a)
	}
	for e := range p.edits {
		if strings.Contains(e.body, "Dieser Raum ist vorbei") {
			break
		}
	}
	if a := p.presses(card.button("Aktualisieren")); a.Type != 7 || a.Data.Embeds[0].Title != "Dieser Raum ist vorbei" || len(a.Data.Components) != 0 {
		t.Errorf("a room that is over: %+v", a)
	}
	for _, hidden := range []string{token, secret, linkKey, leagueKey} {
		if strings.Contains(p.log.text(), hidden) {
			t.Errorf("%q is in the log:\n%s", hidden, p.log.text())
		}
	}
	if want := []string{ann + ` {"game":"openarena","players":2}`}; !slices.Equal(p.host.opened, want) {
		t.Errorf("the host was asked for %q, want %q", p.host.opened, want)
	}
	if p.host.looks[0] != "Bearer "+secret {
		t.Error("the program looks at its own room as anybody does, for which the host has a limit")
	}
}

// TestLimits checks that people read the host's refusals, which do nothing in a channel, and that guilds are slowed
// down.
func TestLimits(t *testing.T) {
	p := open(t, nil)
	p.handler.poll = time.Hour
	p.handler.guilds = pace{atOnce: 2, every: time.Hour}
	p.host.refuses = "too many rooms of @everyone"
	if a := p.asks("open"); a.Data.Flags != 64 || a.Data.Content != `Too many rooms of \@everyone in de\. Try \[again\]\(https\:\/\/x\)\.` {
		t.Errorf("a refused room: %+v", a)
	}
	p.host.refuses = ""
	if a := p.asks("open"); a.Data.Flags != 0 {
		t.Errorf("the second room of a guild: %+v", a)
	}
	if a := p.asks("open", ann, bob); a.Data.Flags != 64 || !strings.Contains(a.Data.Content, "noch einmal") {
		t.Errorf("the third room of a guild: %+v", a)
	}
	if a := p.asks("open", "290926798626357999", "301"); a.Data.Flags != 0 {
		t.Errorf("the same person elsewhere: %+v", a)
	}
}

// TestPace checks that somebody may act again after a while, and that people who may act are
// forgotten.
func TestPace(t *testing.T) {
	p, now := pace{atOnce: 2, every: time.Minute}, time.Unix(1_764_169_200, 0)
	for i, c := range []struct {
		after  time.Duration
		isMuch bool
	}{{0, false}, {0, false}, {0, true}, {59 * time.Second, true}, {time.Minute, false}, {time.Minute, true}, {time.Hour, false}} {
		if p.isTooMuch("a", now.Add(c.after)) != c.isMuch {
			t.Errorf("%d, after %v: too much is %v", i, c.after, !c.isMuch)
		}
	}
	for i := range maxPaced {
		p.isTooMuch(fmt.Sprint(i), now)
	}
	if p.isTooMuch("b", now.Add(2*time.Hour)); len(p.full) != 1 {
		t.Errorf("%d are remembered", len(p.full))
	}
}

// TestLate checks that an answer which takes long follows, and that a host which hangs does not hold up the end.
func TestLate(t *testing.T) {
	slow := make(chan struct{})
	p := open(t, func(host http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-slow:
			case <-r.Context().Done():
			}
			host.ServeHTTP(w, r)
		})
	})
	if a := p.asks("open"); a.Type != 5 {
		t.Fatalf("the answer is %+v", a)
	}
	close(slow)
	if e := <-p.edits; e.method != http.MethodPatch || !strings.HasSuffix(e.path, "/messages/@original") || !strings.Contains(e.body, "OpenArena") {
		t.Errorf("what follows is %+v", e)
	}
}

// TestGone checks that a card which is gone is left alone.
func TestGone(t *testing.T) {
	p := open(t, nil)
	p.status = http.StatusNotFound
	card := p.asks("open")
	p.host.joins(card.button("Mitmachen"))
	<-p.edits
	p.handler.work.Wait() // nothing watches any more
	if len(p.handler.cards.watched) != 0 {
		t.Error("a card that is gone is still watched")
	}
}

// TestBook checks that the book of channels is bounded.
func TestBook(t *testing.T) {
	var b book
	for i := range maxChannels + 2 {
		b.note(fmt.Sprint(i), discord.Ref{Code: fmt.Sprint(i)})
		b.note(fmt.Sprint(i), discord.Ref{Code: fmt.Sprint(i)})
	}
	if _, is := b.of("1"); is || len(b.rooms) != maxChannels || len(b.channels) != maxChannels {
		t.Errorf("%d channels", len(b.rooms))
	}
	if ref, is := b.of("2"); !is || ref.Code != "2" {
		t.Errorf("%+v", ref)
	}
}

// TestRegister checks what Discord is told, and that no error contains the token.
func TestRegister(t *testing.T) {
	const bot = "MTI5MDAwMDAwMDAwMDAwMDAwMQ.secret.token"
	status, got := http.StatusOK, make(chan string, 1)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Method + " " + r.URL.Path + " " + r.Header.Get("Authorization") + " " + strings.SplitN(r.UserAgent(), "/", 2)[0]
		w.WriteHeader(status)
		io.WriteString(w, `{"message":"Invalid Form Body"}`)
	}))
	defer api.Close()
	t.Cleanup(client.CloseIdleConnections)
	c := discord.Config{Application: "12", API: api.URL}
	if err := register(t.Context(), c, bot, "34", 16); err != nil {
		t.Error(err)
	}
	if text := <-got; !strings.HasPrefix(text, "PUT /applications/12/guilds/34/commands Bot "+bot+" DiscordBot (muster") {
		t.Errorf("Discord got %s", text)
	}
	for _, status = range []int{http.StatusUnauthorized, http.StatusBadRequest} {
		err := register(t.Context(), c, bot, "", 16)
		if <-got; err == nil || strings.Contains(err.Error(), bot) {
			t.Errorf("%d: %v", status, err)
		}
	}
	api.Close()
	if err := register(t.Context(), c, bot, "", 16); err == nil || strings.Contains(err.Error(), bot) {
		t.Error(err)
	}
}

// TestMeant checks that a text with a wrong number does not open a room of the only game that it
// finds.
func TestMeant(t *testing.T) {
	for text, isClear := range map[string]bool{"chivalry": true, "cmw": true, "chivalry 2": false, "": false} {
		found := []discord.Game{{ID: "cmw", Name: "Chivalry: Medieval Warfare", OtherNumber: strings.Contains(text, "2")}}
		if g, ok := meant(text, found); ok != isClear {
			t.Errorf("%q is taken for %q: %v", text, g.ID, ok)
		}
	}
}

// TestRun checks the program's arguments: what it asks for, and that it serves and ends.
func TestRun(t *testing.T) {
	p := open(t, nil)
	file := filepath.Join(t.TempDir(), "discord.txt")
	whole := p.config(p.host.at, p.host.at)
	withoutHost := whole[strings.Index(whole, "\n")+1:]
	for _, c := range []struct {
		text string
		args []string
		want string
	}{
		{whole, nil, "say which file: --config FILE"},
		{whole, []string{"--config", file, "registr"}, `there is no "registr": say register, or only flags`},
		{whole, []string{"--config", file + "x"}, "no such file"},
		{"host x\n", []string{"--config", file}, "discord.txt: line 1: the host is a URL without a path"},
		{withoutHost, []string{"--config", file}, "there is no line with host"},
		{withoutHost, []string{"--config", file, "--host", "https://m.example/x"}, "the host is a URL without a path"},
		{whole, []string{"register", "--config", file}, "there is no token: say --token-file FILE"},
		{whole, []string{"--config", file, "--listen", "nowhere"}, "listen tcp"},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), c.args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.args, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, []string{"--config", file, "--listen", "127.0.0.1:0"}, io.Discard, io.Discard); err != nil {
		t.Errorf("at its end: %v", err)
	}
}
