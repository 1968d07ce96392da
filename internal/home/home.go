// Package home is Muster without a terminal: a page on loopback that does what the commands do. It
// runs these commands itself, and acts as their terminal.
//
//	browser ── /open/TICKET ──▶ guard ─▶ cookie, and the page of web/static/home
//	        ── POST /api/… ───▶ guard ─▶ request ─▶ a command, which says, asks,
//	        ◀══ /live ═════════ state, servers ◀─── shows and finds
//
// A second start finds the first by a file, and opens the first one's page. If the system opens a
// muster:// link, the page asks the person about it.
package home

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"muster/discovery/lists/lan"
	"muster/discovery/report"
	"muster/discovery/sentence"
	"muster/internal/favourites"
	"muster/internal/hint"
)

// Terminal stands in for a command's terminal.
type Terminal struct {
	// In is the command's input. Out receives lines for the person.
	In  io.Reader
	Out io.Writer
	// Language is the tag of the language of the person's page. Empty means the system's language.
	Language string
	// Ask asks a question; ok is false if nobody can answer any more.
	Ask func(ctx context.Context, question string) (answer string, ok bool)
	// Open shows a page that belongs to the person.
	Open func(link string)
	// Listed receives the number of servers, Found each server that was asked.
	Listed func(servers int)
	Found  func(report.Measurement)
	// Shines receives news from a command that answers as a beacon: the line that friends add to
	// their list of places, and the number of questions answered so far.
	Shines func(line string, answered int)
	// Launches receives how the start of the game goes when a command connects the person to a
	// server: each state of "launched" in PROTOCOL.md.
	Launches func(state string)
	// Ends is closed when the person ends the session of a room that the command has opened.
	Ends <-chan struct{}
}

// Quiet returns the terminal of a command that nobody watches.
func Quiet() Terminal {
	return Terminal{
		In: strings.NewReader(""), Out: io.Discard, Ask: func(context.Context, string) (string, bool) { return "", false },
		Open: func(string) {}, Listed: func(int) {}, Found: func(report.Measurement) {}, Shines: func(string, int) {},
		Launches: func(string) {},
	}
}

// Game is a game that people may choose.
type Game struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Aliases are what else people call it.
	Aliases []string `json:"aliases,omitempty"`
	// Listed says that a list of its servers exists. Here says that it is installed on this
	// computer, at Where. By is what installed it, if known: "Steam", "Flatpak", "Snap".
	Listed bool   `json:"listed"`
	Here   bool   `json:"here"`
	Where  string `json:"where,omitempty"`
	By     string `json:"by_whom,omitempty"`
	// Rule is the game's own rule.
	Rule string `json:"by"`
	// Tells says that the game's servers report who plays.
	Tells bool `json:"tells"`
	// Steam says that the list needs a key to Steam's Web API.
	Steam bool `json:"steam,omitempty"`
	// Silent is why its servers answer nobody, and what to do instead.
	Silent sentence.Sentence `json:"silent,omitzero"`
	// Dump is the console command whose output players paste, in a game that measures its regions
	// itself.
	Dump string `json:"dump,omitempty"`
}

// Player is somebody who plays on a server.
type Player struct {
	Name  string `json:"name"`
	Score int    `json:"score"`
	// Ping is what the server measured, in ms; 0 is a bot, or unknown.
	Ping int64 `json:"ping_ms,omitempty"`
}

// Config is what Home needs from its surroundings.
type Config struct {
	// Page answers at /.
	Page http.Handler
	// Version is the program's, Name the player's.
	Version, Name string
	// At is the public host for rooms in config.toml, or empty.
	At string
	// Run runs the command for a request at a terminal until it ends.
	Run   func(ctx context.Context, request Request, t Terminal) error
	Games func() ([]Game, error)
	// Form is what people may set in a room, as a host tells it at GET /api/form.
	Form any
	// Players asks a server who plays there.
	Players func(ctx context.Context, game string, at netip.AddrPort) ([]Player, error)
	// Rooms searches the local network for rooms; nil finds none. Way returns the link to one of
	// them, without its code.
	Rooms func(ctx context.Context) iter.Seq2[[]lan.Found, error]
	Way   func(ctx context.Context, room lan.Found) (link string, err error)
	// Standing returns the user's standing rooms; nil knows none.
	Standing func() ([]Standing, error)
	// Computer is what this machine can do, as a document.
	Computer func(ctx context.Context) (any, error)
	// Settings returns the user's defaults for commands, by their keys. Settle changes some of
	// them; an empty text removes one.
	Settings func() (map[string]string, error)
	Settle   func(changes map[string]string) error
	// SteamKey is what is known about the user's key to Steam's Web API, never the key itself.
	// KeepSteamKey stores it, and ForgetSteamKey removes it.
	SteamKey       func() any
	KeepSteamKey   func(key string) error
	ForgetSteamKey func() error
	// Import adds a text in any form to a list of the user's, and says what it added. Export returns
	// the list in a form.
	Import func(to List, text string) (said string, err error)
	Export func(of List, as favourites.As) (text string, err error)
	// Favourites is the file of favourites, Kept the file of settings.
	Favourites, Kept string
	Logger           *slog.Logger
	// Stays keeps Home running when nobody uses it.
	Stays bool
}

// Home is the page's server and the commands that it runs.
type Home struct {
	config Config
	door   *door
	ctx    context.Context // ends with Home
	quit   context.CancelFunc
	work   sync.WaitGroup // everything that runs

	starting sync.Mutex // held while one command replaces another

	mu    sync.Mutex // guards what follows
	state state
	// changed is closed, and replaced, when the state or the rows change.
	changed chan struct{}
	pages   int // that are open
	tasks   map[kind]task
	rows    []report.Measurement // what answered to the newest search, and newer results
	near    []lan.Found          // the rooms on the local network
	// lastID is the ID of the newest question or invitation.
	lastID int
	link   string // the player's own page in the room
	// language is the tag of the language of the page that asked last: commands speak it. It is empty
	// before any page has asked.
	language string
}

// state is what pages show.
type state struct {
	Version string `json:"version"`
	Name    string `json:"name"`
	At      string `json:"at,omitempty"`
	// Kept is the file of settings. Launch is its setting for who starts games: "ask", "auto",
	// "never" or empty.
	Kept      string      `json:"kept"`
	Launch    string      `json:"launch,omitempty"`
	Find      findState   `json:"find"`
	Room      roomState   `json:"room"`
	Go        taskState   `json:"go"`
	Watch     watchState  `json:"watch"`
	Beacon    beaconState `json:"beacon"`
	Questions []question  `json:"questions"`
	// Invitations wait for an answer, the oldest first.
	Invitations []invitation       `json:"invitations"`
	Rooms       []roomNear         `json:"rooms"`
	Favourites  favourites.Servers `json:"servers"`
	// Trouble is what Home itself cannot do.
	Trouble []sentence.Sentence `json:"trouble,omitempty"`
}

// kind is a kind of command, of which one runs at a time.
type kind string

const (
	finds   kind = "find"
	plays   kind = "room"
	goes    kind = "go"
	watches kind = "watch"
	answers kind = "beacon"
)

// task returns the progress of a kind of command, nil for an unknown kind.
func (s *state) task(of kind) *taskState {
	return map[kind]*taskState{finds: &s.Find.taskState, plays: &s.Room.taskState, goes: &s.Go, watches: &s.Watch.taskState,
		answers: &s.Beacon.taskState}[of]
}

// taskState is the progress of a command.
type taskState struct {
	Running bool `json:"running"`
	// What names the task: "join" or "host", or a server's address.
	What  string   `json:"what,omitempty"`
	Game  string   `json:"game,omitempty"`
	Lines []string `json:"lines"`
	// Open says that there is a page, at /room.
	Open bool `json:"open,omitempty"`
	// Error is what went wrong and, if known, what to do about it.
	Error []sentence.Sentence `json:"error,omitempty"`
	// Launch is how the start of the game goes if the command connects to a server: "asking",
	// "launched", "declined", "by-hand" or "failed".
	Launch string `json:"launch,omitempty"`
}

type findState struct {
	taskState
	// ID numbers the finding; rows of an earlier one are obsolete.
	ID     int `json:"id"`
	Listed int `json:"listed"`
	Asked  int `json:"asked"`
	// Answered is how many of Asked answered.
	Answered int `json:"answered"`
}

type roomState struct {
	taskState
	// ID numbers the rooms that the person entered.
	ID int `json:"id"`
}

type watchState struct {
	taskState
	Name string `json:"name,omitempty"`
	// Free is the number of free seats, once a look has shown it.
	Free int `json:"free"`
	// Looks counts the looks.
	Looks int  `json:"looks"`
	Goes  bool `json:"goes"`
}

// beaconState is the progress of the command that answers measurements.
type beaconState struct {
	taskState
	// Line is what friends add to their list of places.
	Line     string `json:"line,omitempty"`
	Answered int    `json:"answered"`
}

// New returns a Home that answers at an address.
func New(ctx context.Context, at net.Addr, config Config) *Home {
	port := at.(*net.TCPAddr).Port
	h := &Home{
		config: config, tasks: map[kind]task{}, changed: make(chan struct{}),
		door: &door{tickets: map[string]time.Time{}, guard: guard{key: rand.Text(),
			cookie: fmt.Sprintf("muster-home-%d", port), names: []string{fmt.Sprintf("127.0.0.1:%d", port),
				fmt.Sprintf("localhost:%d", port)}}},
	}
	h.ctx, h.quit = context.WithCancel(ctx)
	h.state = state{
		Version: config.Version, Name: config.Name, At: config.At, Kept: config.Kept,
		Questions: []question{}, Invitations: []invitation{}, Rooms: []roomNear{},
	}
	for _, of := range []kind{finds, plays, goes, watches, answers} {
		h.state.task(of).Lines = []string{}
	}
	h.look(&h.state)
	return h
}

// look reads the user's files, or reports what is wrong with them.
func (h *Home) look(s *state) {
	settings, errSettings := h.config.Settings()
	kept, errKept := favourites.Read(h.config.Favourites)
	s.Trouble = nil
	if errSettings != nil {
		s.Trouble = append(s.Trouble, hint.Sentence(hint.Say("home.settings-damaged", "why", errSettings)))
	} else {
		s.Launch = settings["launch"]
	}
	if errKept != nil {
		s.Trouble = append(s.Trouble, hint.Sentence(unkept(errKept)))
	} else {
		s.Favourites = kept
	}
}

// unkept adds what to do about a file of favourites that cannot be read.
func unkept(err error) error { return hint.Say("favourites.damaged", "why", err) }

// Running returns what the user's next start needs to find this Home.
func (h *Home) Running() Running { return Running{URL: "http://" + h.door.names[0], Key: h.door.key} }

// Ticket returns a path that lets its first visitor into Home.
func (h *Home) Ticket() string { return h.door.ticket(time.Now()) }

// headerWithin limits how long the headers of a request may take.
const headerWithin = 10 * time.Second

// Serve answers until ctx ends, somebody presses Quit, or nobody needs Home any more. It waits for
// everything that it has started.
func (h *Home) Serve(listener net.Listener) error {
	server := &http.Server{Handler: h.Handler(), ReadHeaderTimeout: headerWithin,
		ErrorLog: slog.NewLogLogger(h.config.Logger.Handler(), slog.LevelDebug)}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	h.work.Go(h.watchIdle)
	if h.config.Rooms != nil {
		h.work.Go(h.browse)
	}
	var err error
	select {
	case <-h.ctx.Done():
	case err = <-failed:
	}
	h.quit()
	closing, cancel := context.WithTimeout(context.Background(), time.Second) // lets the answer to Quit out
	defer cancel()
	if server.Shutdown(closing) != nil {
		server.Close()
	}
	h.work.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// watchIdle ends Home when nobody needs it any more.
func (h *Home) watchIdle() {
	var idle idleness
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case now := <-tick.C:
			running := 0
			h.mu.Lock()
			pages := h.pages
			for _, of := range []kind{plays, watches, answers} {
				if h.state.task(of).Running {
					running++
				}
			}
			h.mu.Unlock()
			if !h.config.Stays && idle.over(pages, running, now) {
				h.quit()
			}
		}
	}
}

// change changes the state, and wakes pages and tabs.
func (h *Home) change(how func(*state)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	how(&h.state)
	close(h.changed)
	h.changed = make(chan struct{})
}

// snapshot returns the state as JSON, and a channel that is closed once it changes.
func (h *Home) snapshot() (frame []byte, changed <-chan struct{}, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	frame, err = json.Marshal(struct {
		Kind string `json:"kind"`
		state
	}{"state", h.state})
	return frame, h.changed, err
}

// quietFor is how long Home waits without an open page and a running command before it ends. A
// browser that starts or reloads a page is back within this time.
const quietFor = 2 * time.Minute

// idleness is the time since which nobody has needed Home.
type idleness struct{ since time.Time }

// over reports whether Home may end: no page has been open for a while, and nothing runs that
// somebody waits for.
func (i *idleness) over(pages, running int, now time.Time) bool {
	switch {
	case pages > 0 || running > 0:
		i.since = time.Time{}
	case i.since.IsZero():
		i.since = now
	}
	return !i.since.IsZero() && now.Sub(i.since) >= quietFor
}
