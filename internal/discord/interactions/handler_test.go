package interactions

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
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/discovery"
	"muster/host"
	"muster/host/access"
	"muster/host/hosttest"
	"muster/host/public"
	"muster/host/wire"
	"muster/host/wire/conn"
	"muster/internal/discord"
	"muster/internal/leak"
	"muster/selection"
)

const (
	ann, bob   = "80351110224678912", "53908232506183680"
	onlyOpener = "Seule la personne qui a ouvert ce salon peut faire cela."
	// token begins the token of every interaction here.
	token = "A_UNIQUE_TOKEN"
)

var signer = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

// place is a host with an endpoint for Discord, and a Discord that takes edits.
type place struct {
	*testing.T
	web     *httptest.Server
	log     *lockedBuffer
	edits   chan edit
	n       int
	handler *Handler
	// status is how Discord answers edits.
	status int
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

// open serves a host. hosting changes its configuration, if it is not nil.
func open(t *testing.T, hosting func(http.Handler) http.Handler) *place {
	t.Helper()
	leak.Check(t)
	t.Cleanup(client.CloseIdleConnections)
	p := &place{T: t, log: &lockedBuffer{}, edits: make(chan edit, 1000), status: http.StatusOK}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.edits <- edit{r.Method, r.URL.Path, string(body)}
		w.WriteHeader(p.status)
	}))
	t.Cleanup(api.Close)
	config, err := discord.ReadConfig(strings.NewReader(fmt.Sprintf(
		"application 1290000000000000001\npublic-key %x\nsecret 9f2c8e61b7d04a35a1e0\napi %s\n", signer.Public(), api.URL)))
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	games := []discord.Game{{ID: "openarena", Name: "OpenArena"}, {ID: "xonotic", Name: "Xonotic"}}
	at := &url.URL{Scheme: "https", Host: "muster.example"}
	p.handler = New(Settings{
		Config: config, Public: at, PerUser: 2, Log: log, Poll: 10 * time.Millisecond,
		Search: func(text string) []discord.Game {
			return slices.DeleteFunc(slices.Clone(games), func(g discord.Game) bool { return !strings.Contains(g.ID, strings.ToLower(text)) })
		},
		Name: func(id string) string {
			if i := slices.IndexFunc(games, func(g discord.Game) bool { return g.ID == id }); i >= 0 {
				return games[i].Name
			}
			return ""
		},
	})
	h, err := host.New(host.Config{
		PublicURL: at, Logger: log, Discord: p.handler,
		List: func(context.Context, string) ([]discovery.Server, error) { return nil, nil },
		Public: &public.Limits{Rooms: 50, PerAddress: 2, Players: 16, Servers: 10, Games: []public.Game{
			{Game: wire.Game{ID: "openarena", Name: "OpenArena"}, By: selection.Mean, Listed: true},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	serves := h.Handler()
	if hosting != nil {
		serves = hosting(serves)
	}
	p.handler.Use(serves)
	p.web = httptest.NewServer(h.Handler())
	t.Cleanup(func() { p.handler.Close(); p.web.Close(); h.Close() })
	return p
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
	body, err := os.ReadFile("../testdata/" + name + ".json")
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
	if card.Type != 4 || card.Data.Flags != 0 || card.button("Unseren Server finden") != "" || !strings.HasPrefix(link, "https://muster.example/#") || strings.Contains(link, ".Q") ||
		card.Data.Embeds[0].Title != "OpenArena" || card.Data.Embeds[0].URL != link {
		t.Fatalf("the card is %+v", card)
	}
	join(t, p.web, link, "@every_one")
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
	if card.Type != 7 ||
		!strings.Contains(card.Data.Embeds[0].Fields[0].Value, `\@every\_one`) {
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
	if mine.Data.Flags != 64 || !strings.HasPrefix(own, link+".") {
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
	_, fragment, _ := strings.Cut(own, "#")
	for _, secret := range []string{token, fragment, strings.Split(fragment, ".")[1], link} {
		if strings.Contains(p.log.text(), secret) {
			t.Errorf("%q is in the log:\n%s", secret, p.log.text())
		}
	}
}

// TestLimits checks that a person has as many rooms as an address, in whatever guilds, and that guilds are slowed down.
func TestLimits(t *testing.T) {
	p := open(t, nil)
	p.handler.guilds.pace = access.NewPace(usersOfGuild*2, time.Hour) // the pace alone, without its minutes
	p.handler.Poll = time.Hour
	for i := range 2 {
		if a := p.asks("open", "290926798626357999", fmt.Sprint(100+i)); a.Type != 4 || a.Data.Flags != 0 {
			t.Fatalf("room %d: %+v", i, a)
		}
	}
	if a := p.asks("open", "290926798626357999", "300"); a.Data.Flags != 64 || a.Data.Content == "" || len(a.Data.Embeds) > 0 {
		t.Errorf("a third room: %+v", a)
	}
	for i := range 16 {
		if a := p.asks("open", ann, fmt.Sprint(1000+i)); a.Data.Flags != 0 {
			t.Fatalf("person %d: %+v", i, a)
		}
	}
	if a := p.asks("open", ann, "2000"); a.Data.Flags != 64 {
		t.Errorf("the 17th room of a guild: %+v", a)
	}
	if a := p.asks("open", ann, "2000", "290926798626357999", "301"); a.Data.Flags != 0 {
		t.Errorf("the same person elsewhere: %+v", a)
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
	join(t, p.web, card.button("Mitmachen"), "ann")
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
	const secret = "MTI5MDAwMDAwMDAwMDAwMDAwMQ.secret.token"
	status, got := http.StatusOK, make(chan string, 1)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Method + " " + r.URL.Path + " " + r.Header.Get("Authorization") + " " + strings.SplitN(r.UserAgent(), "/", 2)[0]
		w.WriteHeader(status)
		io.WriteString(w, `{"message":"Invalid Form Body"}`)
	}))
	defer api.Close()
	t.Cleanup(client.CloseIdleConnections)
	c := discord.Config{Application: "12", API: api.URL}
	if err := Register(t.Context(), c, secret, "34", 16); err != nil {
		t.Error(err)
	}
	if text := <-got; !strings.HasPrefix(text, "PUT /applications/12/guilds/34/commands Bot "+secret+" DiscordBot (muster") {
		t.Errorf("Discord got %s", text)
	}
	for _, status = range []int{http.StatusUnauthorized, http.StatusBadRequest} {
		err := Register(t.Context(), c, secret, "", 16)
		if <-got; err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%d: %v", status, err)
		}
	}
	api.Close()
	if err := Register(t.Context(), c, secret, "", 16); err == nil || strings.Contains(err.Error(), secret) {
		t.Error(err)
	}
}

// join lets a player's program into a room by its link.
func join(t *testing.T, web *httptest.Server, link, name string) {
	t.Helper()
	_, fragment, _ := strings.Cut(link, "#")
	code, key, _ := strings.Cut(fragment, "_")
	welcome := make(chan struct{}, 1)
	c := hosttest.Dial(t, web.URL, nil, func(_ *conn.Conn, m wire.Message) {
		if _, is := m.(wire.Welcome); is {
			welcome <- struct{}{}
		}
	}, nil)
	c.Send(wire.Hello{Version: wire.Version, Code: code, Key: key, Name: name})
	<-welcome
}

// TestMeant checks that a text with another number opens no room of the only game that it finds.
func TestMeant(t *testing.T) {
	for text, isClear := range map[string]bool{"chivalry": true, "cmw": true, "chivalry 2": false, "": false} {
		h := Handler{Settings: Settings{Search: func(string) []discord.Game {
			return []discord.Game{{ID: "cmw", Name: "Chivalry: Medieval Warfare", IsOther: strings.Contains(text, "2")}}
		}}}
		if g, ok := h.meant(text); ok != isClear {
			t.Errorf("%q is taken for %q: %v", text, g.ID, ok)
		}
	}
}
