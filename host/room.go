// Package host holds rooms: it gathers the players, fetches the server list
// once for all of them, merges what they measure, chooses the server and sends
// everyone there.
//
// A [Room] is a value. Its methods take what happened and the time, change the
// room, and return what is to be done about it; they open no socket and read no
// clock. A [Host] is the shell: it owns the connections, the clock, the list
// fetcher and the store, and gives each room a goroutine of its own.
//
//	gathering ─▶ listing ─▶ measuring ─▶ chosen ─▶ launching ─▶ (next round)
//	                │      or refining      │
//	                │            │          │
//	                └────────────┴──────────┴──▶ failed ─▶ (next round)
//
// Between chosen and launching people may vote: see [Agreement].
package host

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/anomaly"
)

// How long a room waits, and why that long.
const (
	// goneAfter is how long a player may be away before the others go on, or the
	// place is given to someone else: long enough to start the program again.
	goneAfter = 30 * time.Second
	// stalledAfter is how long a connected player may report nothing: several
	// times the longest silence of a plan that waits for lost servers.
	stalledAfter = 20 * time.Second
	// slowestRate is the slowest probing, in servers a second, that a room
	// waits for.
	slowestRate = 100
	// measuringGrace comes on top of the time that the list itself takes.
	measuringGrace = time.Minute
	// verifyingTime is ample for the samples of a few servers.
	verifyingTime = 15 * time.Second
	// keepRooms is how long a room without anyone in it is kept: an evening and
	// the morning after.
	keepRooms = 24 * time.Hour
)

// Settings are what the organiser decides.
type Settings struct {
	Name string         `json:"name"`
	Game string         `json:"game"`
	By   selection.Rule `json:"by"`
	// Players is how many the group waits for and needs seats for; 0 leaves
	// both to the organiser's go.
	Players int `json:"players"`
	// Limits are the RTTs nobody may be over, strictest first.
	Limits   []time.Duration `json:"limits,omitempty"`
	Map      string          `json:"map,omitempty"`
	Mode     string          `json:"mode,omitempty"`
	Strategy string          `json:"strategy"`
	// Password is the game server's, given to players for the launch.
	Password string `json:"password,omitempty"`
	// Agree: before the launch people vote, veto and say that they are ready.
	Agree bool `json:"agree,omitempty"`
	// Open: joining needs no code, as long as the host has no other open room.
	Open bool `json:"open,omitempty"`
}

// Room is one group's gathering, whole: it can be saved and restored.
type Room struct {
	Code string `json:"code"`
	// Secret is the organiser's key to the room.
	Secret   string     `json:"secret"`
	Opened   time.Time  `json:"opened"`
	Settings Settings   `json:"settings"`
	Stage    wire.Stage `json:"stage"`
	// Since is when the stage began.
	Since   time.Time   `json:"since"`
	Round   int         `json:"round"`
	Members []*Member   `json:"members"`
	Log     []wire.Note `json:"log"`
	// Final is the second look at the best few, while it goes on.
	Final *Final `json:"final,omitempty"`
	// Selection is the newest choice, nil before there is one.
	Selection *selection.Selection `json:"selection,omitempty"`
	Launch    *wire.Launch         `json:"launch,omitempty"`
	// Previous is the server of the round before: the group stays there unless
	// another is worth the move.
	Previous netip.AddrPort `json:"previous,omitzero"`
	// Closed: the organiser has no more use for the room.
	Closed bool `json:"closed,omitempty"`
	// Neighbours are the servers of the list that are on the host's own networks.
	Neighbours []Neighbour `json:"neighbours,omitempty"`
	Together

	// Servers is the round's list, and Infos what the servers say of
	// themselves, nil where nobody heard. Both are saved in compact form.
	Servers []discovery.Server `json:"-"`
	Infos   []*discovery.Info  `json:"-"`

	// search and crews are what is under way, and made anew when they are not
	// there.
	search *search
	crews  []*crew
}

// Member is one player of a room.
type Member struct {
	Name      string `json:"name"`
	Token     string `json:"token"`
	Organiser bool   `json:"organiser,omitempty"`
	Connected bool   `json:"connected"`
	// Heard is when the member last came, left, or got on with the work.
	Heard    time.Time `json:"heard"`
	Probed   int       `json:"probed"`
	Answered int       `json:"answered"`
	Done     bool      `json:"done"`
	// LeftOut: the round goes on without this player.
	LeftOut bool `json:"left_out,omitempty"`
	// Doubt is why the numbers do not count in this round, if they do not;
	// Trusted is the organiser's word that they always do.
	Doubt   *anomaly.Anomaly `json:"doubt,omitempty"`
	Trusted bool             `json:"trusted,omitempty"`
	Launch  wire.LaunchState `json:"launch,omitempty"`
	Detail  string           `json:"detail,omitempty"`

	// Origin is where the player's probes come from, shown to nobody. Apart: what
	// its site found does not hold for this player. Shares: it measures its part
	// of the round's list, and the site's others the rest.
	Origin Origin `json:"origin,omitzero"`
	Apart  bool   `json:"apart,omitempty"`
	Shares bool   `json:"shares,omitempty"`

	// Quality is what the second looks showed of the ways to the finalists.
	Quality map[int]selection.Quality `json:"quality,omitempty"`

	// Results are what the member measured, by server.
	Results []discovery.Result `json:"-"`
	// Probes tell how the round's discovery went.
	Probes []discovery.Result `json:"-"`
}

// effect is something the shell is to do for a room.
type effect interface{ isEffect() }

// send goes to one member, or to all that are connected if the name is empty.
type send struct {
	to      string
	message wire.Message
}

// fetch gets the server list and calls Room.Listed.
type fetch struct{ game string }

func (send) isEffect()  {}
func (fetch) isEffect() {}

// NewRoom opens a room.
func NewRoom(code, secret string, settings Settings, now time.Time) *Room {
	r := &Room{Code: code, Secret: secret, Opened: now, Settings: settings, Stage: wire.Gathering, Since: now, Round: 1}
	r.note(now, "room %s opened for %s", code, settings.Game)
	return r
}

// Go is the organiser's word: start with who is here, choose from what there
// is, or begin the next round. While the list is fetched or the finalists are
// looked at, it changes nothing: both are short.
func (r *Room) Go(now time.Time) []effect {
	switch r.Stage {
	case wire.Gathering:
		if len(r.Members) == 0 {
			r.note(now, "nobody is here yet")
			return nil
		}
		return r.list(now)
	case wire.Measuring, wire.Refining:
		return r.chooseEarly(now)
	case wire.Chosen:
		if r.Agreement != nil {
			return r.goAgreeing(now)
		}
	case wire.Launching, wire.Failed:
		return r.again(now)
	}
	return nil
}

// Tick lets time pass: it gives up on who takes too long. Call it a few times a
// second.
func (r *Room) Tick(now time.Time) []effect {
	r.tickGuests(now)
	switch r.Stage {
	case wire.Gathering:
		r.tickGathering(now)
	case wire.Measuring:
		return r.tickMeasuring(now)
	case wire.Refining:
		return r.tickRefining(now)
	case wire.Chosen:
		if r.Agreement != nil {
			return r.tickAgreeing(now)
		}
		return r.tickVerifying(now)
	}
	return nil
}

// again starts the next round with the same members.
func (r *Room) again(now time.Time) []effect {
	r.Round++
	if r.Selection != nil && r.Selection.Chosen != nil {
		r.Previous = r.Selection.Chosen.Addr
	}
	r.Servers, r.Infos, r.Neighbours, r.Selection, r.Final, r.Launch = nil, nil, nil, nil, nil, nil
	for _, m := range r.Members {
		m.reset(0, now)
	}
	r.anew()
	r.note(now, "round %d", r.Round)
	return r.list(now)
}

func (m *Member) reset(servers int, now time.Time) {
	m.Results = make([]discovery.Result, servers)
	m.Probes = nil
	m.Quality = nil
	m.Probed, m.Answered, m.Done, m.LeftOut, m.Shares = 0, 0, false, false, false
	m.Launch, m.Detail, m.Doubt = "", "", nil
	m.Heard = now
}

// list asks the shell for the server list.
func (r *Room) list(now time.Time) []effect {
	r.enter(wire.Listing, now)
	return []effect{fetch{game: r.Settings.Game}}
}

func (r *Room) enter(stage wire.Stage, now time.Time) { r.Stage, r.Since = stage, now }

func (r *Room) fail(now time.Time, format string, args ...any) []effect {
	r.enter(wire.Failed, now)
	r.note(now, format, args...)
	return nil
}

// maxLog is how many notes a room keeps: an evening's worth.
const maxLog = 200

func (r *Room) note(now time.Time, format string, args ...any) {
	r.Log = append(r.Log, wire.Note{At: now, Text: fmt.Sprintf(format, args...)})
	if len(r.Log) > maxLog {
		r.Log = r.Log[len(r.Log)-maxLog:]
	}
}

// Over tells a room that was closed, or that nobody is in any more.
func (r *Room) Over(now time.Time) bool {
	if r.Closed {
		return true
	}
	last := r.Opened
	for _, m := range r.Members {
		if m.Connected {
			return false
		}
		last = later(last, m.Heard)
	}
	return now.Sub(last) > keepRooms
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Returned notes that the host was away and has the room again. What it was
// waiting for starts over, and nobody is blamed for the time between.
func (r *Room) Returned(now time.Time) []effect {
	r.note(now, "the host was restarted")
	r.Since = now
	for _, m := range r.Members {
		m.Connected, m.Heard = false, now
	}
	if r.Stage == wire.Listing {
		return []effect{fetch{game: r.Settings.Game}}
	}
	return nil
}

// member is who has the name, letter case apart: Ann and ann would be mistaken
// for each other.
func (r *Room) member(name string) *Member {
	for _, m := range r.Members {
		if strings.EqualFold(m.Name, name) {
			return m
		}
	}
	return nil
}

// active are the members whom the round counts on.
func (r *Room) active() []*Member { return r.activeWho(func(*Member) bool { return true }) }

func (r *Room) activeWho(are func(*Member) bool) []*Member {
	var active []*Member
	for _, m := range r.Members {
		if !m.LeftOut && are(m) {
			active = append(active, m)
		}
	}
	return active
}

func (r *Room) allActive(are func(*Member) bool) bool {
	return len(r.activeWho(are)) == len(r.active())
}
