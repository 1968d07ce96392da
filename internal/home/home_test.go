package home

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/discovery/report"
	"muster/discovery/sentence"
	"muster/internal/catalogue"
	"muster/internal/freeport"
)

// unserved returns a Home without a page, which runs the test's command.
func unserved(ctx context.Context, run func(context.Context, Request, Terminal) error) *Home {
	return &Home{ctx: ctx, config: Config{Run: run}, tasks: map[kind]task{}, changed: make(chan struct{})}
}

// started returns a Home on loopback that runs the test's command.
func started(t *testing.T, folder string, run func(context.Context, Request, Terminal) error) (*Home, <-chan error) {
	t.Helper()
	listener, err := Listen("0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	h := New(ctx, listener.Addr(), Config{
		Page: http.NotFoundHandler(), Run: run, Favourites: filepath.Join(folder, "servers.json"),
		Games: func() ([]Game, error) { return nil, nil }, Logger: slog.New(slog.DiscardHandler),
		Settings: func() (map[string]string, error) { // stands in for config.toml
			text, err := os.ReadFile(filepath.Join(folder, "settings.json"))
			settings := map[string]string{}
			if err == nil {
				err = json.Unmarshal(text, &settings)
			}
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return settings, err
		},
		Settle: func(map[string]string) error { return nil },
	})
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(listener); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	return h, ended
}

// TestOneHome checks that a second start finds the first, and is let in by a link that works once.
// A Home that was killed does not block the next.
func TestOneHome(t *testing.T) {
	folder := t.TempDir()
	first, other, err := Claim(t.Context(), folder)
	if err != nil || other != nil {
		t.Fatalf("the first start finds %+v, %v", other, err)
	}
	h, _ := started(t, folder, nil)
	if err := first.Publish(h.Running()); err != nil {
		t.Fatal(err)
	}
	_, running, err := Claim(t.Context(), folder)
	if err != nil || running == nil {
		t.Fatalf("the second start is another Home: %v", err)
	}
	ticket, err := running.Ticket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	noRedirect := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for i, want := range []int{http.StatusSeeOther, http.StatusForbidden} {
		answer, err := noRedirect.Get(ticket)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("visit %d by the ticket: %s", i+1, answer.Status)
		}
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "home.json"), []byte(`{"url":"http://127.0.0.1:1","key":"old"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	again, other, err := Claim(t.Context(), folder)
	if err != nil || other != nil {
		t.Fatalf("a Home that was killed is found: %+v, %v", other, err)
	}
	again.Release()
}

// visitor returns a browser with Home's cookie.
func visitor(t *testing.T, h *Home) (*http.Client, string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	base := h.Running().URL
	c := &http.Client{Jar: jar}
	answer, err := c.Get(base + h.Ticket())
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return c, base
}

func post(t *testing.T, c *http.Client, base, what, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, base+"/api/"+what, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", base)
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode == http.StatusUnprocessableEntity {
		var failed struct{ Says []sentence.Sentence }
		if err := json.Unmarshal(text, &failed); err != nil || len(failed.Says) == 0 {
			t.Errorf("%s is refused without a sentence: %s, %v", what, text, err)
		}
		return answer.StatusCode, paragraphs(catalogue.InEnglish(), failed.Says)
	}
	return answer.StatusCode, string(text)
}

// TestUnreadable checks that Home reports a damaged file, says what to do, and leaves the file
// alone. Once the file is repaired, Home goes on with it.
func TestUnreadable(t *testing.T) {
	folder := t.TempDir()
	broken := map[string]string{"servers.json": `{"format":"muster.servers/1","favourites":[`, "settings.json": "rate = many"}
	for file, text := range broken {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, _ := started(t, folder, nil)
	trouble := paragraphs(catalogue.InEnglish(), h.state.Trouble)
	for _, want := range []string{"servers.json: the JSON ends in the middle", "favourites can’t be saved", "it is no JSON", "nothing can start"} {
		if !strings.Contains(trouble, want) {
			t.Errorf("the page is not told %q: %s", want, trouble)
		}
	}
	c, base := visitor(t, h)
	const favourite = `{"kind":"favourite","is":true,"game":"xonotic","addr":"192.0.2.1:26000"}`
	if status, text := post(t, c, base, "keep", favourite); status != http.StatusUnprocessableEntity ||
		!strings.Contains(text, "fix or delete that file") {
		t.Errorf("a favourite: %d %s", status, text)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "servers.json")); err != nil || string(text) != broken["servers.json"] {
		t.Errorf("the file holds %q, %v", text, err)
	}
	for file := range broken {
		if err := os.Remove(filepath.Join(folder, file)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "settings.json"), []byte(`{"launch":"auto"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, text := post(t, c, base, "settings", `{}`); status != http.StatusOK {
		t.Errorf("settings: %d %s", status, text)
	}
	if status, text := post(t, c, base, "keep", favourite); status != http.StatusOK {
		t.Errorf("a favourite, after the repair: %d %s", status, text)
	}
	if state, _, err := h.snapshot(); err != nil || strings.Contains(string(state), "trouble") ||
		!strings.Contains(string(state), `"launch":"auto"`) || !strings.Contains(string(state), "192.0.2.1:26000") {
		t.Errorf("after the repair: %s, %v", state, err)
	}
}

// TestListen checks that Home takes another port if its own is taken, or is no number.
func TestListen(t *testing.T) {
	first, err := Listen("0")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	_, taken, _ := net.SplitHostPort(first.Addr().String())
	for _, port := range []string{taken, "99999", "no port"} {
		second, err := Listen(port)
		if err != nil {
			t.Errorf("port %s: %v", port, err)
			continue
		}
		if at := second.Addr().(*net.TCPAddr); !at.IP.IsLoopback() || second.Addr().String() == first.Addr().String() {
			t.Errorf("port %s: Home is at %v", port, at)
		}
		second.Close()
	}
}

// TestNobodyAnswers checks that a running Home that does not answer is an error.
func TestNobodyAnswers(t *testing.T) {
	if _, err := (&Running{URL: "http://" + freeport.TCP(t), Key: "k"}).Ticket(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "does not answer") {
		t.Errorf("%v", err)
	}
}

// TestIdleness checks that Home ends two minutes after its last page was closed, unless something
// runs that somebody waits for. A page that is reloaded keeps it running.
func TestIdleness(t *testing.T) {
	type second struct{ at, pages, running int }
	for name, c := range map[string]struct {
		seconds []second
		ends    int // the second in which it ends, or -1
	}{
		"never opened":    {[]second{{0, 0, 0}, {119, 0, 0}, {120, 0, 0}}, 120},
		"left alone":      {[]second{{0, 1, 0}, {36000, 1, 0}}, -1},
		"closed":          {[]second{{0, 1, 0}, {500, 0, 0}, {619, 0, 0}, {620, 0, 0}}, 620},
		"loaded anew":     {[]second{{0, 1, 0}, {10, 0, 0}, {100, 1, 0}, {101, 0, 0}, {200, 0, 0}}, -1},
		"a room goes on":  {[]second{{0, 0, 1}, {9000, 0, 1}, {9001, 0, 0}, {9121, 0, 0}}, 9121},
		"a watch goes on": {[]second{{0, 1, 1}, {10, 0, 1}, {500, 0, 1}}, -1},
	} {
		var idle idleness
		start, ended := time.Now(), -1
		for _, s := range c.seconds {
			if idle.over(s.pages, s.running, start.Add(time.Duration(s.at)*time.Second)) && ended < 0 {
				ended = s.at
			}
		}
		if ended != c.ends {
			t.Errorf("%s: it ends in second %d, want %d", name, ended, c.ends)
		}
	}
}

// TestEndOfSession checks that the organiser can end a session on Home. The command is told, and has
// a while to tell the players before it is stopped.
func TestEndOfSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, hears := range []bool{true, false} {
			h := unserved(t.Context(), func(ctx context.Context, _ Request, terminal Terminal) error {
				ends := terminal.Ends
				if !hears {
					ends = nil
				}
				select {
				case <-ends:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
			h.play("host", "openarena", Open{}, nil)
			synctest.Wait()
			began := time.Now()
			h.takeStop(t.Context(), "night")
			if took, want := time.Since(began), map[bool]time.Duration{true: 0, false: endTime}[hears]; took != want ||
				h.state.Room.Running || h.state.Room.Error != nil {
				t.Errorf("it took %v, want %v; the room is %+v", took, want, h.state.Room)
			}
			h.takeStop(t.Context(), "night") // again, as pages do
		}
	})
}

// TestCommands checks that a page's request runs as a command, which asks on the page, shows its
// servers there, and ends with Home.
func TestCommands(t *testing.T) {
	isOver := make(chan bool, 1)
	h, ended := started(t, t.TempDir(), func(ctx context.Context, _ Request, terminal Terminal) error {
		terminal.Listed(2)
		terminal.Found(report.Measurement{State: discovery.Answered, Name: "one"})
		terminal.Found(report.Measurement{State: discovery.Lost})
		io.WriteString(terminal.Out, "looking \x1b[31maround\nhalf a li")
		answer, ok := terminal.Ask(ctx, "start it now? [Y/n] ")
		if !ok || answer != "y" {
			return errors.New("nobody says yes")
		}
		<-ctx.Done()
		isOver <- true
		return ctx.Err()
	})
	c, base := visitor(t, h)
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Origin": {base}}
	for _, cookie := range c.Jar.Cookies(u) {
		header.Add("Cookie", cookie.String())
	}
	ws, _, err := websocket.DefaultDialer.Dial("ws://"+u.Host+"/live", header)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if status, text := post(t, c, base, "find", `{"game":"xonotic"}`); status != http.StatusOK {
		t.Fatalf("find: %d %s", status, text)
	}
	var heard strings.Builder
	ws.SetReadDeadline(time.Now().Add(20 * time.Second))
	for !strings.Contains(heard.String(), "start it now?") || !strings.Contains(heard.String(), `"name":"one"`) {
		_, frame, err := ws.ReadMessage()
		if err != nil {
			t.Fatalf("the stream: %v, after %s", err, heard.String())
		}
		heard.Write(frame)
	}
	for _, want := range []string{`"asked":2,"answered":1`, `"lines":["looking [31maround"]`} {
		if !strings.Contains(heard.String(), want) {
			t.Errorf("the page does not hear %s:\n%s", want, heard.String())
		}
	}
	if status, _ := post(t, c, base, "answer", `{"id":1,"answer":"y"}`); status != http.StatusOK {
		t.Errorf("the answer: %d", status)
	}
	if status, text := post(t, c, base, "answer", `{"id":1,"answer":"y"}`); status != http.StatusUnprocessableEntity ||
		!strings.Contains(text, "that question is closed") {
		t.Errorf("a second answer: %d %s", status, text)
	}
	if status, _ := post(t, c, base, "keep",
		`{"kind":"favourite","is":true,"game":"xonotic","addr":"192.0.2.1:26000"}`); status != http.StatusOK {
		t.Errorf("a favourite: %d", status)
	}
	post(t, c, base, "quit", `{}`)
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("Home ends with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Home goes on after Quit")
	}
	select {
	case <-isOver:
	default:
		t.Error("a command outlives Home")
	}
}

// TestTabWithoutRoom checks that a room's tab that finds none says why on a page of Home's look, in the tab's language.
func TestTabWithoutRoom(t *testing.T) {
	h, _ := started(t, t.TempDir(), func(context.Context, Request, Terminal) error { return errors.New("no room <b>here</b>") })
	c, base := visitor(t, h)
	h.play("join", "", Join{}, nil)
	answer, err := c.Get(base + "/room?after=0&lang=de")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusNotFound || !strings.HasPrefix(kind, "text/html") {
		t.Errorf("%d, %s", answer.StatusCode, kind)
	}
	for _, want := range []string{`<html lang="de">`, `href="/home/home.css"`, "No room &lt;b&gt;here&lt;/b&gt;", "Schließ diesen Tab."} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %s:\n%s", want, page)
		}
	}
}

// TestTabOfTheNextRoom checks that a tab for the next room never opens the room that is being left,
// in whichever order the requests arrive.
func TestTabOfTheNextRoom(t *testing.T) {
	h, _ := started(t, t.TempDir(), func(ctx context.Context, request Request, terminal Terminal) error {
		terminal.Open("http://127.0.0.1:1/#" + request.(Join).Link)
		<-ctx.Done()
		return nil
	})
	c, base := visitor(t, h)
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	tab := func(after string) string {
		answer, err := c.Get(base + "/room" + after)
		if err != nil {
			t.Error(err)
			return ""
		}
		answer.Body.Close()
		return answer.Header.Get("Location")
	}
	h.play("join", "", Join{Link: "first"}, nil)
	for _, after := range []string{"", "?after=0"} {
		if got := tab(after); !strings.HasSuffix(got, "#first") {
			t.Errorf("/room%s leads to %q, want the first room", after, got)
		}
	}
	next := make(chan string, 1)
	go func() { next <- tab("?after=1") }()
	h.play("join", "", Join{Link: "second"}, nil)
	if got := <-next; !strings.HasSuffix(got, "#second") {
		t.Errorf("the tab for the second room leads to %q", got)
	}
	synctest.Test(t, func(t *testing.T) { // a tab that waits already
		h := unserved(t.Context(), func(ctx context.Context, request Request, terminal Terminal) error {
			terminal.Open(request.(Join).Link)
			<-ctx.Done()
			return nil
		})
		h.play("join", "", Join{Link: "first"}, nil)
		go func() {
			link, _ := h.awaitRoom(t.Context(), 1)
			next <- link
		}()
		if synctest.Wait(); len(next) > 0 {
			t.Errorf("the tab that waits for the second room leads to %q", <-next)
		}
		h.play("join", "", Join{Link: "second"}, nil)
		if got := <-next; got != "second" {
			t.Errorf("the tab that has waited leads to %q", got)
		}
		h.stop(plays)
	})
}

// paragraphs returns what sentences say to a person.
func paragraphs(l *catalogue.Language, all []sentence.Sentence) string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = l.Say(s)
	}
	return strings.Join(texts, "\n\n")
}
