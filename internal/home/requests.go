package home

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/regions"
	"muster/internal/hint"
)

// Request is what a page wants from a command: a [Find], [Join], [Open] or [Beacon]. The
// command takes its values as they are, so nothing from a page can be mistaken for a flag.
type Request interface {
	// check returns why the command cannot start.
	check() error
}

// Find asks for a game's servers.
type Find struct {
	Game string `json:"game"`
	// Servers is the user's own list, one server a line.
	Servers string `json:"servers"`
	// All asks every server, near or far.
	All bool `json:"all"`
	// Watches waits for a free seat on the first server, and Goes takes the player there.
	Watches bool `json:"-"`
	Goes    bool `json:"-"`
}

// serverRequest is about one server.
type serverRequest struct {
	Game string `json:"game"`
	Addr string `json:"addr"`
	Name string `json:"name"`
	// Goes connects when a watched server has a seat; otherwise the watch only reports it.
	Goes bool `json:"goes"`
}

// Self is what this computer adds to a room that its player enters.
type Self struct {
	// Name is the player's; empty leaves that to config.toml.
	Name string `json:"name"`
	// Auto starts the game unasked; nil leaves that to config.toml.
	Auto *bool `json:"auto"`
	// CanHost says that this computer may host the game.
	CanHost bool `json:"can_host"`
	// Regions is what the game printed about its regions, if it measures them itself.
	Regions string `json:"regions"`
}

// Join enters a room.
type Join struct {
	Self
	// Link is what was pasted: a link, an address, or a code.
	Link string `json:"link"`
	// Near is the ID of a room on the local network, which stands for its link.
	Near string `json:"near"`
	Code string `json:"code"`
}

// Open opens a room.
type Open struct {
	Self
	// Room is the document that POST /api/rooms takes: the room's settings by their keys, and servers
	// for an own list. The names of places are looked up.
	Room map[string]json.RawMessage `json:"room"`
	// At is the public host for the room. If it is empty, the room is on this machine, which listens
	// at Listen.
	At     string `json:"at"`
	Listen string `json:"-"`
	// Again continues the room of that name if there is one.
	Again bool `json:"-"`
}

// Beacon makes this computer answer measurements.
type Beacon struct {
	// Name is the name of the place. Port is where it answers; 0 is the usual port.
	Name string `json:"name"`
	Port int    `json:"port"`
	// PortMap asks the router to forward the port; nil leaves that to config.toml.
	PortMap *bool `json:"port_map,omitempty"`
}

func named(game string) error {
	if game == "" {
		return hint.Say("pick-game.no-game")
	}
	return nil
}

func (f Find) check() error { return named(f.Game) }

func (g serverRequest) check() error {
	if err := named(g.Game); err != nil {
		return err
	}
	at, err := hostport.Parse(g.Addr)
	if err != nil || at.Port() == 0 {
		return hint.Say("home.no-address", "address", discovery.CleanText(g.Addr))
	}
	return nil
}

func (s Self) check() error {
	if strings.TrimSpace(s.Regions) == "" {
		return nil
	}
	if _, err := regions.ParseDump(s.Regions); err != nil {
		return hint.Say("home.regions-wrong")
	}
	return nil
}

// cleaned returns the request without blanks, and without the command in a pasted command line.
func (j Join) cleaned() Join {
	j.Link = strings.Join(strings.Fields(j.Link), "") // people say codes in groups
	j.Link = strings.TrimPrefix(j.Link, "musterjoin")
	j.Code = strings.Join(strings.Fields(j.Code), "")
	return j
}

func (j Join) check() error {
	if j.Link == "" {
		return hint.Say("home.no-link")
	}
	return j.Self.check()
}

// isCode reports whether the link is no address, which has a dot or a colon, or is this machine.
func (j Join) isCode() bool { return !strings.ContainsAny(j.Link, ".:/") && j.Link != "localhost" }

// game returns the room's game, or an empty text.
func (o Open) game() (id string) {
	json.Unmarshal(o.Room["game"], &id) // a value that is not a text names no game
	return id
}

func (o Open) check() error {
	if err := named(o.game()); err != nil {
		return err
	}
	return o.Self.check()
}

func (b Beacon) check() error {
	if b.Port < 0 || b.Port > math.MaxUint16 {
		return hint.Say("home.no-port", "port", strconv.Itoa(b.Port), "most", strconv.Itoa(math.MaxUint16))
	}
	return nil
}
