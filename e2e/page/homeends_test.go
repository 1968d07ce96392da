package page_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"muster/internal/cli"
)

// TestHomeEndsTheNight checks that a person who opened a room on Home can end its session there. A
// friend's program says so and exits with 0, both pages say good night, and Home goes on.
func TestHomeEndsTheNight(t *testing.T) {
	h := startHome(t, 10)
	b := browseHome(t, h, wide)
	b.opensRoom(func() { b.sets("#players", "3") })
	room := h.roomPage()
	room.sees("#people", "ann")
	at, err := url.Parse(eval[string](room, "muster.live.state.you.link"))
	if err != nil {
		t.Fatal(err)
	}
	at.Host = net.JoinHostPort("127.0.0.1", at.Port()) // everything is on this machine
	link := at.String()
	friend := browse(t, link, phone)
	said := &spoken{}
	ended := make(chan int, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		ended <- cli.Run(ctx, []string{"join", link, "--name", "bob", "--launch", "never", "--no-browser"},
			cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: said})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	friend.sees("#people", "bob")

	b.insists(`#now [data-action="end-night"]`)
	b.isTold("Everyone will be told")
	select {
	case code := <-ended:
		ended <- code
		if code != 0 || !strings.Contains(said.String(), "ann has ended the night. Good night!") {
			t.Errorf("bob's program ends with %d and says\n%s", code, said.String())
		}
	case <-time.After(time.Minute):
		t.Fatalf("bob's program goes on:\n%s", said.String())
	}
	for _, page := range []*browser{room, friend} {
		page.sees("#stage h1", "Good night")
	}
	b.until("the room is over, and nothing is wrong", func() bool {
		return eval[bool](b, "!home.state().room.running && !home.state().room.error")
	})
	b.run(`location.hash = "#find"`)
	b.sees("h1", "Find a server")
}

// spoken collects a program's output.
type spoken struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *spoken) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *spoken) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestHomeInsists checks that the page says so and tries again if the browser drops its first
// requests, as browsers do when the network changes.
func TestHomeInsists(t *testing.T) {
	atNight(t)
	h := startHome(t, 10)
	b := browseHome(t, h, wide)
	drops := page.AddScriptToEvaluateOnNewDocumentParams{Source: `{
		const asks = fetch;
		window.dropped = { words: 0, api: 0 };
		window.dropping = true;
		window.fetch = (...what) => {
			const kind = String(what[0]).startsWith("/api/") ? "api" : "words";
			if (kind === "words" ? dropped.words >= 2 : !dropping) return asks(...what);
			dropped[kind]++;
			return Promise.reject(new TypeError("Failed to fetch"));
		};
	}`}
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, drops)
		return err
	}), chromedp.Reload())
	b.run("window.muster = { live: {}, view: {} }")
	b.sees("#banner", "Muster isn’t running any more")
	b.until("it has tried again", func() bool { return eval[int](b, "dropped.api") >= 2 })
	b.run("dropping = false")
	b.sees("h1", "What shall we play tonight?")
	if banner := b.reads("#banner"); banner != "" {
		t.Errorf("it says %q after requests were answered", banner)
	}
}
