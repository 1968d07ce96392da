package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/report"
	"muster/host/wire"
	"muster/internal/rpc/jsonrpc"
)

// format names this interface, and version is its version. A new method, parameter or member of a
// result keeps the version; anything that would break a launcher raises it.
const (
	format  = "muster.rpc/1"
	version = 1
)

// method is something that a launcher can ask for.
type method struct {
	summary        string
	params, result reflect.Type
	// begin works on a call, and answers it now or later.
	begin func(c *call, params json.RawMessage)
}

// at returns a method that takes a moment.
func at[P, R any](summary string, do func(c *call, p *P) (R, error)) method {
	return later[P, R](summary, func(c *call, p *P) { c.reply(do(c, p)) })
}

// aside returns a method that waits for something. Other calls go on meanwhile.
func aside[P, R any](summary string, do func(c *call, p *P) (R, error)) method {
	return later[P, R](summary, func(c *call, p *P) {
		c.start(func() {
			select {
			case c.asides <- struct{}{}:
				defer func() { <-c.asides }()
				c.reply(do(c, p))
			case <-c.ctx.Done():
				c.reply(nil, c.ctx.Err())
			}
		})
	})
}

// later returns a method that answers its call itself.
func later[P, R any](summary string, do func(c *call, p *P)) method {
	return method{summary, reflect.TypeFor[P](), reflect.TypeFor[R](), func(c *call, params json.RawMessage) {
		p := new(P)
		if why := decode(params, p); why != nil {
			c.reply(nil, why)
			return
		}
		do(c, p)
	}}
}

// ordering returns a method that sends an action to a room's host.
func ordering[P interface{ number() int }](summary string, of func(c *call, r *room, p *P) (action string, with any, err error)) method {
	return later[P, struct{}](summary, func(c *call, p *P) {
		r, err := c.room((*p).number())
		if err != nil {
			c.reply(nil, err)
			return
		}
		before, done := r.turn()
		c.start(func() {
			defer done()
			select {
			case <-before:
			case <-c.ctx.Done():
				c.reply(nil, c.ctx.Err())
				return
			}
			action, with, err := of(c, r, p)
			if err == nil {
				err = r.order(c.ctx, action, with)
			}
			c.reply(struct{}{}, err)
		})
	})
}

func methods() map[string]method {
	return map[string]method{
		"hello": at("Says what this program can do. A launcher calls it first, and names the version of this "+
			"interface that it knows.", hello),
		"discover": later[Discover, report.Report]("Finds servers near this machine, alone, as muster discover does. found "+
			"tells of the servers meanwhile. Those that pass the filters have a rank in the result.", discover),
		"games": aside("Lists the games that Muster knows: the document muster.games/1, as muster games --json prints it.", games),
		"host": later[Host, Entered]("Opens a room, as muster host does, and plays in it. The answer comes once the person "+
			"is in.", host),
		"join": later[Join, Entered]("Joins a room, as muster join does. The answer comes once the person is in.", join),
		"state": at("Returns the newest state of a room with everything that pages see: sections in PROTOCOL.md.",
			func(c *call, p *InRoom) (*wire.Snapshot, error) {
				r, err := c.room(p.Room)
				if err != nil {
					return nil, err
				}
				return r.state(), nil
			}),
		"rooms": at("Lists the rooms that this program is in.", rooms),
		"vote": ordering("Votes for a server of the ballot, by its number or address. Without either the vote is taken back.",
			func(_ *call, r *room, p *Candidate) (string, any, error) {
				addr, err := p.addr(r)
				return "vote", map[string]any{"addr": addr}, err
			}),
		"veto": ordering("Vetoes a server of the ballot, by its number or address, or a map.",
			func(_ *call, r *room, p *Veto) (string, any, error) {
				addr, err := p.addr(r)
				return "veto", map[string]any{"addr": addr, "map": p.Map}, err
			}),
		"ready": ordering("Says that the person is ready to go, or not any more.",
			func(_ *call, _ *room, p *Ready) (string, any, error) {
				return "ready", map[string]any{"ready": p.Ready == nil || *p.Ready}, nil
			}),
		"move": ordering("Bans or picks, for the captain of a match whose turn it is.",
			func(_ *call, r *room, p *Move) (string, any, error) {
				number := 0
				if s := r.state(); s != nil && s.Match != nil && s.Match.Turn != nil {
					number = s.Match.Turn.Number
				}
				return "move", map[string]any{"number": number, "what": p.What}, nil
			}),
		"start": ordering("Begins the room's round, or ends a stage early: what Enter does at the organiser's terminal.",
			func(_ *call, r *room, _ *InRoom) (string, any, error) {
				with := map[string]any{}
				if s := r.state(); s != nil {
					with["stage"] = s.Room.Stage
				}
				return "go", with, nil
			}),
		"order": ordering("Does anything else that pages can ask of a room: the actions in PROTOCOL.md.",
			func(_ *call, _ *room, p *Order) (string, any, error) {
				if strings.ContainsFunc(p.Action, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' }) {
					return "", nil, wrong("action", "an action is one word of small letters")
				}
				return p.Action, p.With, nil
			}),
		"end": ordering("Ends the session for everybody, for the organiser.",
			func(*call, *room, *InRoom) (string, any, error) { return "end", nil, nil }),
		"confirm": at("Says what has become of a launch. Muster starts nothing, unless the state is muster.",
			func(c *call, p *Confirm) (struct{}, error) {
				r, err := c.room(p.Room)
				if err == nil {
					err = r.confirm(*p)
				}
				return struct{}{}, err
			}),
		"leave": aside("Leaves a room. A room that this program hosts ends here, and host with resume goes on with it; a room "+
			"on a public host stays.", leave),
		"shutdown": later[struct{}, struct{}]("Ends this program, and all its rooms. The end of standard input does the same.",
			func(c *call, _ *struct{}) {
				c.reply(struct{}{}, nil)
				c.quit()
			}),
		cancelMethod: at("Cancels a call that is not answered yet. It is a notification, and the call is answered with an error.",
			func(c *call, p *Cancel) (struct{}, error) {
				c.mu.Lock()
				cancel := c.running[string(p.ID)]
				c.mu.Unlock()
				if cancel != nil {
					cancel()
				}
				return struct{}{}, nil
			}),
	}
}

// cancelMethod is named as in the Language Server Protocol, whose libraries know it.
const cancelMethod = "$/cancelRequest"

// notifications returns the notifications that a launcher gets, by their names.
func notifications() map[string]method {
	of := func(summary string, params reflect.Type) method { return method{summary: summary, params: params} }
	return map[string]method{
		"room":       of("The room has changed. A state that nobody has read is replaced by the next.", reflect.TypeFor[Room]()),
		"launch":     of("Everyone goes to a server now. The launcher starts the game, and calls confirm.", reflect.TypeFor[Launch]()),
		"progress":   of("The player's own measuring goes on.", reflect.TypeFor[Progress]()),
		"connection": of("The connection to the room's host is lost, or there again.", reflect.TypeFor[Connection]()),
		"say":        of("What a terminal would print, for people. It may come before the answer to host or join.", reflect.TypeFor[Say]()),
		"closed":     of("This program is in the room no more.", reflect.TypeFor[Closed]()),
		"found":      of("Servers that discover has asked.", reflect.TypeFor[Found]()),
	}
}

// Hello introduces a launcher.
type Hello struct {
	Client   string `json:"client" doc:"the launcher's name and version, for the log"`
	Version  int    `json:"version" doc:"the version of this interface that the launcher knows; this one is 1"`
	Language string `json:"language" doc:"the tag of the language for people, such as de; errors about parameters stay English"`
}

// Capabilities say what this program can do.
type Capabilities struct {
	Format        string   `json:"format" doc:"muster.rpc/1"`
	Version       int      `json:"version" doc:"the version of this interface"`
	Muster        string   `json:"muster" doc:"the program's release"`
	Language      string   `json:"language" doc:"the language for people"`
	Methods       []string `json:"methods" doc:"the methods that there are"`
	Notifications []string `json:"notifications" doc:"the notifications that may come"`
	Limits        Limits   `json:"limits" doc:"what bounds the calls"`
}

// Limits bound what a launcher may ask.
type Limits struct {
	Line      int `json:"line" doc:"the longest line, in bytes"`
	Batch     int `json:"batch" doc:"the most calls in a batch"`
	Rooms     int `json:"rooms" doc:"the most rooms at once"`
	Discovers int `json:"discovers" doc:"the most calls of discover at once"`
}

func hello(c *call, p *Hello) (Capabilities, error) {
	if p.Version != 0 && p.Version != version {
		return Capabilities{}, wrong("version", "this program speaks version %d of this interface", version)
	}
	if p.Language != "" {
		l := languageOf(p.Language)
		c.mu.Lock()
		c.language = l
		c.mu.Unlock()
	}
	c.config.Logger.Info("a launcher is here", "client", discovery.CleanText(p.Client))
	return Capabilities{
		Format: format, Version: version, Muster: c.config.Version, Language: c.speaks().Tag(),
		Methods: slices.Sorted(maps.Keys(c.methods)), Notifications: slices.Sorted(maps.Keys(notifications())),
		Limits: Limits{jsonrpc.MaxLine, jsonrpc.MaxBatch, maxRooms, maxLooks},
	}, nil
}

// Playing says how a player takes part in a room.
type Playing struct {
	Name        string `json:"name" flag:"name" doc:"the player's name in the room"`
	CanHost     bool   `json:"can_host" flag:"can-host" doc:"let the others measure how a server on this machine would do"`
	ShareLists  string `json:"share_lists" flag:"share-lists" enum:"always,never" doc:"whether the room gets the favourites; never by default"`
	GameVersion string `json:"game_version" flag:"game-version" doc:"the player's version of the game"`
	Memory      *bool  `json:"memory" flag:"memory" doc:"whether to use and keep what rooms measured from this machine; true by default"`
	Measures    bool   `json:"measure_places" flag:"yes" doc:"providers' machines may see the player's address in a room that looks for a place; false by default"`
	LAN         string `json:"lan" flag:"lan" enum:"auto,on,off" doc:"whether to look for servers on the local network"`
	Asking
}

// args returns the arguments for a player. The command asks the player nothing later.
func (p Playing) args() []argument {
	p.ShareLists = cmp.Or(p.ShareLists, "never")
	return append(argsOf(p), setting("launch", "auto", "")) // it is asked for with confirm, and only then
}

// Join joins a room.
type Join struct {
	Link      string `json:"link" need:"true" doc:"a link, HOST[:PORT], or with at a code"`
	Code      string `json:"code" flag:"code" doc:"the room's code, if it is not in the link"`
	At        string `json:"at" flag:"at" doc:"the public host that has the room of the code"`
	Side      string `json:"side" flag:"side" enum:"a,b" doc:"the side in a match"`
	Somewhere bool   `json:"somewhere" flag:"somewhere" doc:"do not tell the others which country this is"`
	Playing
}

func join(c *call, p *Join) {
	playing := p.Playing
	p.Playing = Playing{}
	args := append(append(argsOf(p), playing.args()...), argument{text: "--"}, argument{p.Link, "link"})
	c.enter("join", args, true, false)
}

// Host opens a room.
type Host struct {
	Game    string `json:"game" flag:"game" doc:"the game's ID; games lists them. A room that seeks a place needs none"`
	At      string `json:"at" flag:"at" doc:"the public host for the room; without it the room is on this machine"`
	Listen  string `json:"listen" flag:"listen" doc:"the address for a room on this machine; :7777 by default"`
	NoPlay  bool   `json:"no_play" flag:"no-play" doc:"only host, and do not play"`
	NoMDNS  bool   `json:"no_mdns" flag:"no-mdns" doc:"do not announce the room on the local network"`
	PortMap *bool  `json:"port_map" flag:"port-map" doc:"have the router let friends in from the internet; false by default"`
	TLS     bool   `json:"tls" flag:"tls" doc:"encrypt, with the host's own certificate"`
	Resume  bool   `json:"resume" doc:"go on with this person's room from before, if there is one"`
	// Settings have the names of POST /api/rooms.
	Settings map[string]json.RawMessage `json:"settings" doc:"what the group wants, by the keys of GET /api/form"`
	Lists
	Playing
}

func host(c *call, p *Host) {
	playing, settings := p.Playing, p.Settings
	p.Playing, p.Settings = Playing{}, nil
	if no := false; p.PortMap == nil && p.At == "" {
		p.PortMap = &no // else it would ask
	}
	args := append(argsOf(p), playing.args()...)
	if p.At == "" {
		args = append(args, setting("here", "true", "at"))
	}
	if !p.Resume {
		args = append(args, setting("new", "true", "resume"))
	}
	more, why := settingArgs(settings)
	if why != nil {
		c.reply(nil, why)
		return
	}
	match := strings.Trim(string(settings["match"]), `"`)
	c.enter("host", append(args, more...), !p.NoPlay, match != "" && match != "null")
}

// Rooms are the rooms that the person is in.
type Rooms struct {
	Rooms []Entered `json:"rooms" doc:"the rooms, the oldest first"`
}

func rooms(c *call, _ *struct{}) (Rooms, error) {
	all := Rooms{Rooms: []Entered{}}
	open := c.everyRoom()
	for _, number := range slices.Sorted(maps.Keys(open)) {
		r := open[number]
		r.mu.Lock()
		if r.isIn {
			all.Rooms = append(all.Rooms, r.entry())
		}
		r.mu.Unlock()
	}
	return all, nil
}

// InRoom names a room.
type InRoom struct {
	Room int `json:"room" need:"true" doc:"the room's number"`
}

func (p InRoom) number() int { return p.Room }

// Candidate names a server of the ballot.
type Candidate struct {
	InRoom
	Addr   string `json:"addr" doc:"the server's address"`
	Number int    `json:"number" doc:"or its number on the ballot"`
}

func (p Candidate) addr(r *room) (string, error) {
	if p.Number == 0 {
		return p.Addr, nil
	}
	if s := r.state(); s != nil {
		for i, addr := range s.Voting.Ballot {
			if s.Voting.Number(i) == p.Number {
				return addr, nil
			}
		}
	}
	return "", wrong("number", "there is no server with the number %d on the ballot", p.Number)
}

// Veto vetoes a server or a map.
type Veto struct {
	Candidate
	Map string `json:"map" doc:"the map that is vetoed, instead of a server"`
}

// Ready says whether the person is ready.
type Ready struct {
	InRoom
	Ready *bool `json:"ready" doc:"false takes it back; true by default"`
}

// Move is a captain's ban or pick.
type Move struct {
	InRoom
	What string `json:"what" need:"true" doc:"the server's address, or the map"`
}

// Order is an action of pages.
type Order struct {
	InRoom
	Action string          `json:"action" need:"true" doc:"the action's name in PROTOCOL.md, such as react"`
	With   json.RawMessage `json:"with" doc:"its parameters"`
}

// Two of the states that a launcher gives a launch. The others are in confirmed.
const (
	confirmAsking = "asking"
	confirmMuster = "muster"
)

// confirmed maps a launcher's states of a launch to the room's.
var confirmed = map[string]wire.LaunchState{
	"started": wire.LaunchStarted, "refused": wire.LaunchDeclined, "by_hand": wire.LaunchByHand, "failed": wire.LaunchFailed,
}

// Confirm says what has become of a launch.
type Confirm struct {
	InRoom
	Launch int    `json:"launch" need:"true" doc:"the launch's number"`
	State  string `json:"state" need:"true" enum:"asking,started,refused,by_hand,failed,muster" doc:"asking: the player is being asked; started: the game runs; refused: the player does not want to; by_hand: the player starts it; failed: it did not start; muster: Muster shall start it, by its own table of games"`
	Why    string `json:"why" doc:"why it failed, for the others in the room"`
}

// Cancel names a call.
type Cancel struct {
	ID json.RawMessage `json:"id" need:"true" doc:"the id of the call, as it was given"`
}

func leave(c *call, p *InRoom) (struct{}, error) {
	r, err := c.room(p.Room)
	if err != nil {
		return struct{}{}, err
	}
	r.mu.Lock()
	hasPlayer := r.page != ""
	r.mu.Unlock()
	if hasPlayer {
		ctx, cancel := context.WithTimeout(c.ctx, leaveWithin)
		defer cancel()
		if err := r.order(ctx, "leave", nil); err != nil {
			c.config.Logger.Debug("the place in the room is not free at once", "error", err)
		}
	}
	r.cancel()
	select {
	case <-r.done:
	case <-c.ctx.Done():
	}
	return struct{}{}, c.ctx.Err()
}

// leaveWithin is how long the room's host may take to free the place of a player who leaves.
const leaveWithin = 2 * time.Second
