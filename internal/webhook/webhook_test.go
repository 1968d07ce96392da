package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"muster/host/wire"
)

var choice = wire.Announcement{
	Format: wire.AnnouncementFormat, Kind: wire.AnnouncedChoice, At: time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC),
	Text: "We play OpenArena on Dust.", Room: "Friday", Game: "OpenArena",
	Link:    "https://muster.example/#KEY",
	Server:  &wire.AnnouncedServer{Name: "Dust", Map: "oa_dm1", MeanMS: 20, MaxMS: 30},
	Players: []wire.AnnouncedPlayer{{Name: "ann", PingMS: 10}, {Name: "bob", PingMS: 30}},
}

// TestPosts checks that a program gets the announcement unchanged, and that links other than https are removed.
func TestPosts(t *testing.T) {
	for link, want := range map[string]string{choice.Link: choice.Link, "http://192.0.2.1:7777/#KEY": "", "javascript:alert(1)": ""} {
		got := make(chan wire.Announcement, 1)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var a wire.Announcement
			if err := json.NewDecoder(r.Body).Decode(&a); err != nil || r.Method != http.MethodPost ||
				r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s %s: %v", r.Method, r.Header, err)
			}
			got <- a
		}))
		p := &Poster{Own: []string{server.URL}}
		a := choice
		a.Link = link
		if err := posted(p, server.URL, a); err != nil {
			t.Error(err)
		}
		if a := <-got; a.Link != want || a.Server == nil || a.Server.Name != "Dust" || a.Format != "muster.announcement/1" {
			t.Errorf("%s: posted %+v", link, a)
		}
		p.Close()
		server.Close()
	}
}

// posted waits for an announcement's outcome.
func posted(p *Poster, hook string, a wire.Announcement) error {
	told := make(chan error, 1)
	p.Post(Post{Room: "a room", URL: hook, Announcement: a, Told: func(err error) { told <- err }})
	return <-told
}

// TestBadWebhooks checks that a bad webhook costs little, whatever it does, and is reported in a sentence without its
// URL.
func TestBadWebhooks(t *testing.T) {
	reached := make(chan struct{}, 1)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached <- struct{}{} }))
	defer elsewhere.Close()
	hung := make(chan struct{})
	defer close(hung)
	var sent atomic.Int64
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string // the report; empty if the post arrived
	}{
		{"deleted", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
		}, "the webhook was refused (404): make a new one in the channel's settings"},
		{"redirects", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, "the webhook redirects (307), and Muster posts nothing there: paste the URL it leads to"},
		{"no webhook", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusMethodNotAllowed)
		}, "the webhook doesn't accept what Muster posts (405): is the URL a webhook's?"},
		{"hangs", func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client has gone
			select {
			case <-hung:
			case <-r.Context().Done():
			}
		}, "doesn't answer"},
		{"gigabytes", func(w http.ResponseWriter, _ *http.Request) {
			for range 1 << 20 { // times 4 KiB
				n, err := w.Write(make([]byte, 4<<10))
				if sent.Add(int64(n)); err != nil {
					return
				}
			}
		}, ""},
		{"a header of gigabytes", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("a", 1<<20))
		}, "can't reach"},
		{"wants to be left alone for long", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "100000")
			w.WriteHeader(http.StatusTooManyRequests)
		}, "the webhook gets too many posts (429): Muster tries again with the next announcement"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			defer server.Close()
			p := &Poster{Own: []string{server.URL + "/token"}, try: 200 * time.Millisecond}
			p.once.Do(p.begin)
			defer p.Close()
			body, err := bodyOf(Post{URL: p.Own[0], Announcement: choice})
			if err != nil {
				t.Fatal(err)
			}
			err = p.send(t.Context(), p.Own[0], body, true, nil)
			var failed *failure
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.As(err, &failed) || !strings.Contains(failed.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if strings.Contains(fmt.Sprint(err), "token") || strings.Contains(fmt.Sprint(err), "127.0.0.1") {
				t.Errorf("the URL is told: %v", err)
			}
			if failed != nil && (failed.isFinal || failed.pause > longestPause) {
				if err := posted(p, p.Own[0], choice); err == nil || err.Error() != c.want {
					t.Errorf("told %v, want %s", err, c.want)
				}
			}
		})
	}
	if most := int64(64 << 20); sent.Load() > most {
		t.Errorf("%d bytes of an answer were taken", sent.Load())
	}
	select {
	case <-reached:
		t.Error("a redirect was followed")
	default:
	}
}

// TestStrangersWebhooks checks that a stranger's webhook never leads to this machine or a private network, by any name,
// and that nothing is sent unencrypted.
func TestStrangersWebhooks(t *testing.T) {
	var connected atomic.Int32
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = func(net.Conn, http.ConnState) { connected.Add(1) }
	server.StartTLS()
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	p := &Poster{}
	defer p.Close()
	for _, host := range []string{"127.0.0.1", "localhost", "127.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0",
		"10.0.0.1", "10.255.255.255", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "[fe80::1]", "[fd00::1]"} {
		hook := "https://" + host + ":" + port + "/"
		p.once.Do(p.begin)
		var failed *failure
		if err := p.send(t.Context(), hook, nil, false, nil); !errors.As(err, &failed) ||
			host != "127.1" && !strings.Contains(failed.Error(), "private network") {
			t.Errorf("%s: %v", hook, err)
		}
	}
	for _, hook := range []string{"http://" + server.Listener.Addr().String(), "json+http://localhost:" + port,
		"ftp://localhost", "https://"} {
		if err := posted(p, hook, choice); err == nil || !strings.Contains(err.Error(), "doesn't start with https") {
			t.Errorf("%s: %v", hook, err)
		}
	}
	if connected.Load() > 0 {
		t.Error("a stranger's webhook had this machine connect to itself")
	}
}

// inTime answers tries in turn, in virtual time.
type inTime struct {
	answers []func(context.Context) (*http.Response, error)
	at      []time.Time
	atOnce  atomic.Int32
}

func (s *inTime) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.atOnce.Add(1) > 1 {
		return nil, errors.New("two at once")
	}
	defer s.atOnce.Add(-1)
	n := min(len(s.at), len(s.answers)-1)
	s.at = append(s.at, time.Now())
	response, err := s.answers[n](r.Context())
	if response != nil {
		response.Body = http.NoBody
	}
	return response, err
}

func status(code int, retryAfter string) func(context.Context) (*http.Response, error) {
	return func(context.Context) (*http.Response, error) {
		return &http.Response{StatusCode: code, Header: http.Header{"Retry-After": {retryAfter}}}, nil
	}
}

func hangs(ctx context.Context) (*http.Response, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

const discordHook = "https://discord.com/api/webhooks/1/token"

// TestLeagues checks that a league's rooms post to its webhook, signed by its key, and that nobody else does.
func TestLeagues(t *testing.T) {
	type got struct{ body, signature string }
	posts := make(chan got, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posts <- got{string(body), r.Header.Get("Muster-Signature")}
	}))
	defer server.Close()
	hook := wire.PlainWebhook + server.URL + "/hook?key=1"
	signs := func(name string) func(time.Time, []byte) string {
		return func(at time.Time, body []byte) string {
			return fmt.Sprint(name, " at ", at.Unix() > 0, " ", string(body))
		}
	}
	p := &Poster{Leagues: func() []League {
		return []League{{"summer", hook, signs("summer")}, {"cup", hook, signs("cup")}, {"nowhere", "", signs("nowhere")}}
	}}
	defer p.Close()
	for _, c := range []struct{ league, url, want string }{
		{"cup", hook, ""}, {"summer", hook, ""},
		{"", hook, "belongs to a league"}, {"nowhere", hook, "belongs to a league"},
		{"", server.URL + "/hook?key=1", "belongs to a league"}, {"cup", server.URL + "/hook?key=2", "belongs to a league"},
		{"", strings.Replace(server.URL, "http", "HTTP", 1) + "//x/../hook/#y", "belongs to a league"},
		{"", server.URL + "/other", "doesn't start with https"}, {"cup", server.URL + "/other", "doesn't start with https"},
	} {
		told := make(chan error, 1)
		p.Post(Post{Room: c.league + c.url, League: c.league, URL: c.url, Announcement: choice, Told: func(err error) { told <- err }})
		err := <-told
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if post := <-posts; post.signature != c.league+" at true "+post.body {
			t.Errorf("%+v is signed %q", c, post.signature)
		}
	}
}

// TestTries checks that temporary failures are retried after growing pauses, or after the pause that the service asks
// for. A webhook that hangs is given up.
func TestTries(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []func(context.Context) (*http.Response, error)
		at      []time.Duration
		want    string
	}{
		{"arrives", []func(context.Context) (*http.Response, error){status(204, "")}, []time.Duration{0}, ""},
		{"too often, for 5.5 s", []func(context.Context) (*http.Response, error){status(429, "5.5"), status(204, "")},
			[]time.Duration{0, 5500 * time.Millisecond}, ""},
		{"too often, for less", []func(context.Context) (*http.Response, error){status(429, "0.1"), status(204, "")},
			[]time.Duration{0, 2 * time.Second}, ""},
		{"too often, for nonsense", []func(context.Context) (*http.Response, error){status(429, "soon"),
			status(204, "")}, []time.Duration{0, 2 * time.Second}, ""},
		{"in trouble", []func(context.Context) (*http.Response, error){status(503, "")},
			[]time.Duration{0, 2 * time.Second, 12 * time.Second, 57 * time.Second},
			"Discord is having trouble (503): Muster tries again with the next announcement"},
		{"hangs", []func(context.Context) (*http.Response, error){hangs},
			[]time.Duration{0, 12 * time.Second, 32 * time.Second, 87 * time.Second},
			"Discord doesn't answer: Muster tries again with the next announcement"},
		{"gone", []func(context.Context) (*http.Response, error){status(404, "")}, []time.Duration{0},
			"Discord refused the webhook (404): make a new one in the channel's settings"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := &inTime{answers: c.answers}
				p := &Poster{strangers: service, owner: service}
				defer p.Close()
				began := time.Now()
				if err := posted(p, discordHook, choice); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
					t.Errorf("told %v, want %q", err, c.want)
				}
				var at []time.Duration
				for _, when := range service.at {
					at = append(at, when.Sub(began))
				}
				if fmt.Sprint(at) != fmt.Sprint(c.at) {
					t.Errorf("tried at %v, want %v", at, c.at)
				}
			})
		})
	}
}

// TestQueue checks a hanging webhook. Nobody waits for it, a room has one POST at a time, the newest of each kind
// waits, other rooms continue, and Close cancels everything.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &inTime{answers: []func(context.Context) (*http.Response, error){hangs, status(204, "")}}
		p := &Poster{strangers: service, owner: service}
		var arrived []string
		post := func(room, text string, kind wire.Announced) {
			a := choice
			a.Text, a.Kind = text, kind
			p.Post(Post{Room: room, URL: discordHook, Announcement: a, Told: func(err error) {
				if err != nil {
					t.Error(err)
				}
				arrived = append(arrived, text)
			}})
		}
		began := time.Now()
		post("a", "first", wire.AnnouncedOpen)
		synctest.Wait()
		for i := range 1000 {
			post("a", fmt.Sprint("choice ", i), wire.AnnouncedChoice)
			post("a", fmt.Sprint("seats ", i), wire.AnnouncedSeats)
		}
		if time.Since(began) > 0 {
			t.Error("a room waits for its webhook")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := fmt.Sprint(arrived); got != "[first choice 999 seats 999]" {
			t.Errorf("arrived %s", got)
		}
		service.answers = []func(context.Context) (*http.Response, error){hangs}
		p.Post(Post{Room: "a", URL: discordHook, Announcement: choice, Told: func(error) { t.Error("told although the host has ended") }})
		synctest.Wait()
		p.Close()
		p.Post(Post{Room: "a", URL: discordHook, Announcement: choice})
	})
}

// TestReplacedWebhook checks an organiser who replaces a wrong webhook. The right one does not wait for the wrong one's
// tries, and the organiser hears no more of it.
func TestReplacedWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &inTime{answers: []func(context.Context) (*http.Response, error){hangs, status(204, "")}}
		p := &Poster{strangers: service, owner: service}
		defer p.Close()
		for _, kind := range []wire.Announced{wire.AnnouncedOpen, wire.AnnouncedChoice} {
			a := choice
			a.Kind = kind
			p.Post(Post{
				Room:         "a room",
				URL:          "https://wrong.example/",
				Announcement: a,
				Told:         func(err error) { t.Errorf("told of the wrong one: %v", err) },
			})
		}
		time.Sleep(5 * time.Second)
		began := time.Now()
		if err := posted(p, discordHook, choice); err != nil || time.Since(began) > 0 || len(service.at) != 2 {
			t.Errorf("told %v after %v, in %d tries", err, time.Since(began), len(service.at))
		}
	})
}

// TestPostsAnHour checks the bounds of a room, and of a network with all its rooms.
func TestPostsAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &inTime{answers: []func(context.Context) (*http.Response, error){status(204, "")}}
		p := &Poster{strangers: service, owner: service}
		defer p.Close()
		opener := netip.MustParseAddr("198.51.100.7")
		arrive := func(rooms, each int) {
			for room := range rooms {
				for range each {
					told := make(chan error, 1)
					p.Post(Post{Room: fmt.Sprint(room), Opener: opener, URL: discordHook, Announcement: choice, Told: func(err error) { told <- err }})
					<-told
				}
			}
		}
		arrive(1, 100)
		if n := len(service.at); n != roomPosts {
			t.Errorf("a room posted %d times", n)
		}
		arrive(10, 100)
		if n := len(service.at); n != openerPosts {
			t.Errorf("a network's rooms posted %d times", n)
		}
		time.Sleep(time.Hour)
		arrive(1, 1)
		if n := len(service.at); n != openerPosts+1 {
			t.Errorf("an hour later they posted %d times", n)
		}
	})
}

// TestForgets checks that rooms and networks that have not posted for an hour are forgotten, however many there were.
func TestForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &inTime{answers: []func(context.Context) (*http.Response, error){status(204, "")}}
		p := &Poster{strangers: service, owner: service}
		defer p.Close()
		arrive := func(room int) {
			told := make(chan error, 1)
			opener := netip.AddrFrom4([4]byte{198, 51, byte(room >> 8), byte(room)})
			p.Post(Post{Room: fmt.Sprint(room), Opener: opener, URL: discordHook, Announcement: choice, Told: func(err error) { told <- err }})
			if err := <-told; err != nil {
				t.Error(err)
			}
		}
		const rooms = 600
		for room := range rooms {
			arrive(room)
		}
		if n := len(p.posted); n != 2*rooms { // one entry for each room and each network
			t.Errorf("within the hour %d are remembered, want %d", n, 2*rooms)
		}
		time.Sleep(time.Hour)
		arrive(rooms)
		if n := len(p.posted); n != 2 {
			t.Errorf("an hour later %d are remembered, want 2", n)
		}
	})
}

// TestDiscord checks that names have no effect in the channel.
func TestDiscord(t *testing.T) {
	a := choice
	a.Server = &wire.AnnouncedServer{
		Name:   "@everyone **free** https://evil.example <@1> [x](https://evil.example)\n`",
		Map:    "||oa||",
		MeanMS: 20,
		MaxMS:  30,
	}
	a.Players = []wire.AnnouncedPlayer{{Name: "@here", PingMS: 10}, {Name: "# bob_x_"}}
	d := discordOf(a)
	if want := `We play OpenArena on \@everyone \*\*free\*\* https\:\/\/evil\.example \<\@1\> \[x\]\(https\:\/\/evil\.example\) \` + "`" + `, map \|\|oa\|\|: 20 ms on average, 30 at worst.`; d.Embeds[0].Description != want {
		t.Errorf("%s\nwant %s", d.Embeds[0].Description, want)
	}
	if want := `\@here 10 ms, \# bob\_x\_`; d.Embeds[0].Fields[0].Value != want {
		t.Errorf("%s, want %s", d.Embeds[0].Fields[0].Value, want)
	}
	data, _ := json.Marshal(d)
	if !strings.Contains(string(data), `"allowed_mentions":{"parse":[]}`) || d.Embeds[0].URL != a.Link || a.Server.Map != "||oa||" {
		t.Errorf("posted %s", data)
	}
	a = wire.Announcement{Kind: wire.AnnouncedReminder, Game: "OpenArena", Next: time.Unix(1800000000, 0)}
	if got := discordOf(a).Embeds[0].Description; got != "We play OpenArena on <t:1800000000:F>." {
		t.Error(got)
	}
	for range 64 {
		a.Players = append(a.Players, wire.AnnouncedPlayer{Name: strings.Repeat("*", 500), PingMS: 1})
	}
	if field := discordOf(a).Embeds[0].Fields[0]; len([]rune(field.Value)) > maxField || !strings.HasSuffix(field.Value, "more") {
		t.Errorf("%d letters: %s", len([]rune(field.Value)), field.Value)
	}
}

// FuzzDiscord checks that Discord accepts the message whatever people call themselves, and that Markdown interprets
// none of their letters.
func FuzzDiscord(f *testing.F) {
	f.Add("@everyone", "**", "https://evil.example")
	f.Add("\u202e", strings.Repeat("_", 9999), "\x00\xff")
	f.Fuzz(func(t *testing.T, server, name, game string) {
		d := discordOf(wire.Announcement{
			Kind:    wire.AnnouncedChoice,
			Game:    game,
			Server:  &wire.AnnouncedServer{Name: server, Map: name},
			Players: []wire.AnnouncedPlayer{{Name: name}, {Name: game}},
		})
		if n := len([]rune(d.Embeds[0].Description)); n > maxDescription {
			t.Errorf("a description of %d letters", n)
		}
		for _, text := range []string{escape(server), escape(name)} {
			for i := 0; i < len(text); i++ {
				if c := rune(text[i]); c == '\\' {
					i++
				} else if c > ' ' && c < 128 && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
					t.Errorf("%q has a %q", text, c)
				}
			}
		}
		for _, field := range d.Embeds[0].Fields {
			if len([]rune(field.Value)) > maxField {
				t.Errorf("a field of %d letters", len(field.Value))
			}
		}
	})
}

// FuzzEscape checks that nothing of a stranger's text is Markdown, a mention or a link.
func FuzzEscape(f *testing.F) {
	for _, text := range []string{"@everyone", "<@&1> **x** [y](https://z)", "\u202eabc", "`", strings.Repeat("_", 9999), "\x00\xff\n# x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		escaped := escape(text)
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
