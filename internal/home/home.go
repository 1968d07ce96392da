// Package home is Muster without a terminal: a page on loopback that does what the
// commands do. It runs the very commands, and is the terminal that they see.
//
//	browser ── /open/TICKET ──▶ guard ─▶ cookie, and the page of web/static/home
//	        ── POST /api/… ───▶ guard ─▶ command line ─▶ a command, which says, asks,
//	        ◀══ /live ═════════ state, servers ◀──────── shows and finds
//
// A second start of the user's finds the first by a file, and shows that. A muster:// link
// that the system opens is asked about on the page.
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
	"slices"
	"strings"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/lists/lan"
	"muster/discovery/report"
	"muster/internal/favourites"
	"muster/internal/hint"
)

// Terminal is what a command has in place of one.
type Terminal struct {
	// In is what the command reads, and Out takes lines for the person.
	In  io.Reader
	Out io.Writer
	// Ask puts a question; ok is false if nobody can answer any more.
	Ask func(ctx context.Context, question string) (answer string, ok bool)
	// Open shows a page that is the person's own.
	Open func(link string)
	// Listed is told how many servers there are, and Found each that was asked.
	Listed func(servers int)
	Found  func(report.Measurement)
	// Shines is told the line that friends put into their list of places, and how many
	// questions have been answered so far, by a command that answers as a beacon.
	Shines func(line string, answered int)
	// Launches is told how the start of the game goes that takes the person to a server:
	// each state of PROTOCOL.md's "launched".
	Launches func(state string)
	// Ends is closed when the person ends the night of a room that the command has opened.
	Ends <-chan struct{}
}

// Game is one that people may choose.
type Game struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Listed: somebody lists its servers. Here: it is on this computer, at Where, where By
	// has put it ("Steam", "Flatpak", "Snap"), as far as that tells.
	Listed bool   `json:"listed"`
	Here   bool   `json:"here"`
	Where  string `json:"where,omitempty"`
	By     string `json:"by_whom,omitempty"`
	// Rule is the game's own.
	Rule string `json:"by"`
	// Tells: its servers say who plays.
	Tells bool `json:"tells"`
	// Steam: a key to Steam's Web API gets its list.
	Steam bool `json:"steam,omitempty"`
	// Silent is why its servers answer nobody, and what to do instead.
	Silent string `json:"silent,omitempty"`
}

// SteamKey is what is known of the user's key to Steam's Web API, never the key.
type SteamKey struct {
	// Kept is where there is one: "environment", "file", or empty.
	Kept string `json:"kept"`
	// Trouble is why it cannot be used.
	Trouble string `json:"trouble,omitempty"`
}

// Player is somebody who plays on a server.
type Player struct {
	Name  string `json:"name"`
	Score int    `json:"score"`
	// Ping is what the server measured, in ms; 0 is a bot, or not told.
	Ping int64 `json:"ping_ms,omitempty"`
}

// Config is what Home needs of its surroundings.
type Config struct {
	// Page answers at /.
	Page http.Handler
	// IsOwnUser reports whether a connection on this machine, from one address to the
	// other, is the user's: nobody else may use a ticket. nil takes everybody for the user.
	IsOwnUser func(client, server net.Addr) bool
	// Version is the program's, Name the player's.
	Version, Name string
	// At is the public host that config.toml names for rooms, or empty.
	At string
	// Command runs a command line of muster's at a terminal, until it has ended.
	Command func(ctx context.Context, args []string, t Terminal) error
	Games   func() ([]Game, error)
	// Players asks a server who plays there.
	Players func(ctx context.Context, game string, at netip.AddrPort) ([]Player, error)
	// Rooms looks for rooms on the local network; nil finds none. Way is the link to one
	// of them, without its code.
	Rooms func(ctx context.Context) iter.Seq2[[]lan.Found, error]
	Way   func(ctx context.Context, room lan.Found) (link string, err error)
	// Standing are the user's rooms that stay; nil knows none.
	Standing func() ([]Standing, error)
	// Computer is what this machine can do, as a document.
	Computer func(ctx context.Context) (any, error)
	// Settings are what the user has commands take for granted, by their keys; Settle
	// changes some of them, and an empty text unsets one.
	Settings func() (map[string]string, error)
	Settle   func(changes map[string]string) error
	SteamKey func() SteamKey
	// Favourites is the file that keeps them, and Kept the one that keeps the settings.
	Favourites, Kept string
	Logger           *slog.Logger
	// Stays: Home does not end by itself.
	Stays bool
}

// Home is the page's server, and what runs for it.
type Home struct {
	config Config
	door   *door
	ctx    context.Context // Home's own life
	quit   context.CancelFunc
	work   sync.WaitGroup // whatever runs

	audience audience
	found    finding

	starting sync.Mutex // one command is put in another's place at a time

	mu      sync.Mutex // guards following
	state   state
	room    task
	finder  task
	goer    task // takes the player to a server
	watcher task
	shiner  task   // answers as a beacon
	link    string // the player's own page in the room
	asked   map[int]chan string
	last    int // question or invitation
	rooms   []lan.Found
}

// state is what pages are shown.
type state struct {
	Version string `json:"version"`
	Name    string `json:"name"`
	At      string `json:"at,omitempty"`
	// Kept is the file that keeps the settings, and Launch what that says of who starts
	// games: "ask", "auto" or "never", or empty.
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
	Trouble string `json:"trouble,omitempty"`
}

// taskState is how far a command is.
type taskState struct {
	Running bool `json:"running"`
	// What it is about: "join", "host"; a server's address.
	What  string   `json:"what,omitempty"`
	Game  string   `json:"game,omitempty"`
	Lines []string `json:"lines"`
	// Open: there is a page to go to, at /room.
	Open  bool     `json:"open,omitempty"`
	Error []string `json:"error,omitempty"`
	// Launch is how the start of the game goes, where the command goes to a server:
	// "asking", "launched", "declined", "by-hand" or "failed".
	Launch string `json:"launch,omitempty"`
}

type findState struct {
	taskState
	// ID counts the findings: rows of another are of no use any more.
	ID     int `json:"id"`
	Listed int `json:"listed"`
	Asked  int `json:"asked"`
	// Answered are those of Asked that did.
	Answered int `json:"answered"`
}

type roomState struct {
	taskState
	// ID counts the rooms that were gone into.
	ID int `json:"id"`
}

type watchState struct {
	taskState
	Name string `json:"name,omitempty"`
	// Free is how many seats are, once a look has told.
	Free int `json:"free"`
	// Looks counts them.
	Looks int  `json:"looks"`
	Goes  bool `json:"goes"`
}

// beaconState is how far it is that this computer answers measurements.
type beaconState struct {
	taskState
	// Line is what friends put into their list of places.
	Line     string `json:"line,omitempty"`
	Answered int    `json:"answered"`
}

// question is what a command asks the person.
type question struct {
	ID int `json:"id"`
	// Of is the task: "room", "go", "watch" or "beacon".
	Of   string `json:"of"`
	Text string `json:"text"`
}

// roomNear is a room on the local network.
type roomNear struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Game      string `json:"game"`
	Organiser string `json:"organiser"`
	Players   int    `json:"players"`
	Seats     int    `json:"seats"`
	Open      bool   `json:"open"`
}

// New is a Home that answers at an address.
func New(ctx context.Context, at net.Addr, config Config) *Home {
	port := at.(*net.TCPAddr).Port
	h := &Home{
		config: config, asked: map[int]chan string{},
		door: &door{isOwn: config.IsOwnUser, tickets: map[string]time.Time{}, guard: guard{key: rand.Text(),
			cookie: fmt.Sprintf("muster-home-%d", port), names: []string{fmt.Sprintf("127.0.0.1:%d", port),
				fmt.Sprintf("localhost:%d", port)}}},
	}
	h.ctx, h.quit = context.WithCancel(ctx)
	h.state = state{Version: config.Version, Name: config.Name, At: config.At, Kept: config.Kept,
		Questions: []question{}, Invitations: []invitation{}, Rooms: []roomNear{}}
	for _, t := range []*taskState{&h.state.Find.taskState, &h.state.Room.taskState, &h.state.Go,
		&h.state.Watch.taskState, &h.state.Beacon.taskState} {
		t.Lines = []string{}
	}
	h.look(&h.state)
	return h
}

// look reads what the user's files say, or what is wrong with them.
func (h *Home) look(s *state) {
	settings, errSettings := h.config.Settings()
	kept, errKept := favourites.Read(h.config.Favourites)
	s.Trouble = ""
	if errSettings != nil {
		s.Trouble = hint.Plain(errSettings.Error()) + ": repair or remove that file. Until then nothing can be started"
	} else {
		s.Launch = settings["launch"]
	}
	if errKept != nil {
		s.Trouble = strings.TrimLeft(s.Trouble+". "+hint.Plain(unkept(errKept).Error())+": "+hint.Of(unkept(errKept)), ". ")
	} else {
		s.Favourites = kept
	}
}

// unkept says what to do about a file of favourites that cannot be read.
func unkept(err error) error {
	return hint.With(err, "repair or remove that file. Until then no favourite is kept")
}

// Running is how another start finds this one.
func (h *Home) Running() Running { return Running{URL: "http://" + h.door.names[0], Key: h.door.key} }

// Ticket returns a path that lets the first who comes into Home.
func (h *Home) Ticket() string { return h.door.ticket(time.Now()) }

// headerWithin is how long a request may take to begin.
const headerWithin = 10 * time.Second

// Serve answers until ctx ends, somebody presses Quit, or nobody needs Home any more,
// and waits for all that it has begun.
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
			pages, _ := h.audience.size()
			running := 0
			h.mu.Lock()
			for _, t := range []*taskState{&h.state.Room.taskState, &h.state.Watch.taskState, &h.state.Beacon.taskState} {
				if t.Running {
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

// browse keeps the list of rooms on the local network while a page is open: nobody else
// reads it.
func (h *Home) browse() {
	for h.ctx.Err() == nil {
		if !h.audience.await(h.ctx, true) {
			return
		}
		ctx, cancel := context.WithCancel(h.ctx)
		var watching sync.WaitGroup
		watching.Go(func() {
			h.audience.await(ctx, false)
			cancel()
		})
		for found := range h.config.Rooms(ctx) {
			h.change(func(s *state) {
				h.rooms, s.Rooms = found, []roomNear{}
				for _, f := range found {
					s.Rooms = append(s.Rooms, roomNear{f.ID, f.Name, f.Game, f.Organiser, f.Players, f.Seats, f.Open})
				}
			})
		}
		if ctx.Err() == nil { // there is no network to look at
			<-ctx.Done()
		}
		cancel()
		watching.Wait()
	}
}

// change changes what pages are shown, and wakes them.
func (h *Home) change(how func(*state)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	how(&h.state)
	h.audience.wake()
}

// snapshot is the state as JSON.
func (h *Home) snapshot() ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return json.Marshal(struct {
		Kind string `json:"kind"`
		state
	}{"state", h.state})
}

// ask has the person answer a command's question on the page.
func (h *Home) ask(of string) func(context.Context, string) (string, bool) {
	return func(ctx context.Context, text string) (string, bool) {
		answers := make(chan string, 1)
		id := 0
		h.change(func(s *state) {
			h.last++
			id = h.last
			h.asked[id] = answers
			s.Questions = append(s.Questions, question{id, of, discovery.CleanText(text)})
		})
		defer h.change(func(s *state) {
			delete(h.asked, id)
			s.Questions = slices.DeleteFunc(slices.Clone(s.Questions), func(q question) bool { return q.ID == id })
		})
		select {
		case answer := <-answers:
			return answer, true
		case <-ctx.Done():
			return "", false
		case <-h.ctx.Done():
			return "", false
		}
	}
}
