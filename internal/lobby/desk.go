package lobby

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"muster/discovery/sentence"
	"muster/host/access"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/home"
	"muster/internal/netinfo"
	"muster/internal/term"
)

// Desk is what a person works at: a terminal, or Home's page instead of one.
type Desk struct {
	In     io.Reader
	Out    term.Terminal
	Screen *term.Screen // standard error
	// Page is Home's page; nil at a terminal.
	Page *home.Terminal
	// Front shows rooms in place of a terminal, together with a page; nil without such a program.
	Front  *Front
	Logger *slog.Logger
	env    func(string) string
	// Typing interprets what the person types unasked.
	Typing *Typing
}

// NewDesk returns a desk at a terminal, or at Home's page if that is not nil. env looks up
// environment variables.
func NewDesk(in io.Reader, out term.Terminal, screen *term.Screen, page *home.Terminal, env func(string) string,
	log *slog.Logger) *Desk {
	return &Desk{In: in, Out: out, Screen: screen, Page: page, Logger: log, env: env, Typing: &Typing{screen: screen}}
}

// Warn prints warnings about what could not be read or fetched. The rest goes on without it.
func (d *Desk) Warn(warnings ...error) {
	for _, line := range hint.Warnings(d.Screen.Language, warnings...) {
		d.Screen.Say("%s", line)
	}
}

// Console asks the person questions, at the terminal or on Home's page. alone is called when the
// input ends.
func (d *Desk) Console(in io.Reader, alone func()) *term.Console {
	c := term.NewConsole(in, d.Screen, func(line string) { d.Typing.typed(line, time.Now()) }, alone)
	if d.Page != nil {
		c.Answer = d.Page.Ask
	}
	return c
}

// hasPerson reports whether somebody can answer questions.
func (d *Desk) hasPerson() bool {
	return d.Page != nil || term.IsTerminal(d.In) && d.Screen.IsTerminal
}

// leadTo takes the link to the person's page, unless they are looking at it.
func (d *Desk) leadTo(page string) {
	if d.Page == nil {
		d.Typing.LeadTo(page)
	}
}

// keys returns the help on keys at a terminal, and nil on Home's page, which has no keys.
func (d *Desk) keys(help func(wire.Snapshot) sentence.Sentence) func(wire.Snapshot) sentence.Sentence {
	if d.Page != nil {
		return nil
	}
	return help
}

// later returns what the terminal says once the game has started.
func (d *Desk) later() string {
	if d.Page != nil {
		return ""
	}
	return d.Screen.Language.Say(afterwards)
}

// Present shows a page that belongs to one person, in a browser by a link that works once.
func (d *Desk) Present(ctx context.Context, link string) {
	switch {
	case d.Page != nil:
		d.Page.Open(link)
	case d.hasBrowser():
		d.StartBrowser(ctx, Ticket(ctx, link))
	}
}

// hasBrowser reports whether the person sits at this machine's own terminal, and a browser may be
// available.
func (d *Desk) hasBrowser() bool { return d.Screen.IsTerminal && d.HasDesktop() }

// HasDesktop reports whether this machine has a graphical desktop, and the person is not on a
// remote shell.
func (d *Desk) HasDesktop() bool {
	hasDesktop := runtime.GOOS == "windows" || runtime.GOOS == "darwin" || d.env("DISPLAY") != "" ||
		d.env("WAYLAND_DISPLAY") != ""
	return d.env("SSH_CONNECTION") == "" && hasDesktop
}

// StartBrowser opens a link in a browser, whether or not anybody sits at the terminal. If that fails,
// the link is on the screen anyway.
func (d *Desk) StartBrowser(ctx context.Context, link string) {
	wait, err := game.Start(ctx, game.Game{Launch: []string{link}}.Template(runtime.GOOS), nil)
	if err != nil {
		d.Logger.Debug("no browser", "error", err)
		return
	}
	go wait() // reaps the opener
}

// ticketTime is how long a browser may take to open the page.
const ticketTime = 5 * time.Minute

// Ticket returns a link on this machine that takes the user's first browser to a page. Every user
// here can read the browser's command line, and the page's own link holds a secret.
func Ticket(ctx context.Context, personal string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return personal[:strings.LastIndexByte(personal, '.')]
	}
	path := "/open/" + access.NewSecret()
	used := make(chan struct{})
	once := sync.OnceFunc(func() { close(used) })
	server := &http.Server{ReadTimeout: ticketTime, Handler: http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		isFirst := false
		select {
		case <-used:
		default:
			isFirst = r.URL.Path == path && r.Host == listener.Addr().String() && netinfo.IsOwnRequest(r)
		}
		if !isFirst {
			http.NotFound(w, r)
			return
		}
		once()
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, personal, http.StatusSeeOther)
	})}
	go server.Serve(listener) // until it is closed below
	go func() {
		select {
		case <-used:
			wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			server.Shutdown(wait) // lets the answer out
		case <-time.After(ticketTime):
		case <-ctx.Done():
		}
		server.Close()
	}()
	return "http://" + listener.Addr().String() + path
}
