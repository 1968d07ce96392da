package home

import (
	"math"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/internal/hint"
)

// Requests from pages. Each becomes a command line. Every text in it is the value of a flag or
// follows
// --, so that nothing from a page is taken for a flag.

// findRequest asks for a game's servers.
type findRequest struct {
	Game string `json:"game"`
	// Servers is the user's own list, one server a line.
	Servers string `json:"servers"`
	// All asks every server, near or far.
	All bool `json:"all"`
}

func (f findRequest) args(file string) ([]string, error) {
	if err := named(f.Game); err != nil {
		return nil, err
	}
	args := []string{"discover", "--game=" + f.Game, "--top=1"}
	if f.All {
		args = append(args, "--auto-stop=off")
	}
	return own(args, file), nil
}

// own adds the user's own list.
func own(args []string, file string) []string {
	if file != "" {
		args = append(args, "--servers="+file)
	}
	return args
}

var errNoGame = hint.Say("home.no-game")

func named(game string) error {
	if game == "" {
		return errNoGame
	}
	return nil
}

// joinRequest joins a room.
type joinRequest struct {
	// Link is what was pasted: a link, an address, or a code.
	Link string `json:"link"`
	// Room is the ID of a room on the local network.
	Room string `json:"room"`
	Code string `json:"code"`
	Name string `json:"name"`
	// Auto starts the game unasked.
	Auto bool `json:"auto"`
	// CanHost says that this computer may host.
	CanHost bool `json:"can_host"`
	// Regions is what the game printed about its regions, if it measures them itself.
	Regions string `json:"regions"`
}

func (j joinRequest) args(link, at, launch string) ([]string, error) {
	args := append([]string{"join"}, player(j.Name, j.Auto, launch, j.CanHost)...)
	link = strings.Join(strings.Fields(link), "") // people say codes in groups
	link = strings.TrimPrefix(link, "musterjoin") // from a whole command line that was pasted
	if link == "" {
		return nil, hint.Say("home.no-link")
	}
	if j.Code != "" {
		args = append(args, "--code="+strings.Join(strings.Fields(j.Code), ""))
	}
	if at == "" && looksLikeCode(link) {
		return nil, hint.Say("home.code-alone")
	}
	return append(args, "--", link), nil
}

// looksLikeCode reports whether a text cannot be an address. An address has a dot or a colon, or is
// this machine.
func looksLikeCode(text string) bool {
	return !strings.ContainsAny(text, ".:/") && text != "localhost"
}

// player returns the flags for the player's name, for starting the game and for hosting it. launch is
// config.toml's setting for starting the game.
func player(name string, auto bool, launch string, canHost bool) (args []string) {
	if name != "" {
		args = append(args, "--name="+name)
	}
	switch {
	case auto:
		args = append(args, "--launch=auto")
	case launch == "auto":
		args = append(args, "--launch=ask")
	}
	if canHost {
		args = append(args, "--can-host")
	}
	return args
}

// hostRequest opens a room.
type hostRequest struct {
	Game    string    `json:"game"`
	By      string    `json:"by"`
	Limits  []float64 `json:"limits_ms"`
	Players int       `json:"players"`
	Map     string    `json:"map"`
	Mode    string    `json:"mode"`
	Title   string    `json:"title"`
	Every   string    `json:"every"`
	Name    string    `json:"name"`
	Servers string    `json:"servers"`
	// Places are where the group could run a server of its own, one a line.
	Places string `json:"places"`
	// At is the public host for the room; empty is this machine.
	At string `json:"at"`
	// Vote says whether people vote; nil leaves that to the default.
	Vote *bool `json:"vote"`
	// Wait is how many minutes the room waits for seats; 0 leaves that to the organiser.
	Wait int  `json:"wait"`
	Open bool `json:"open"`
	Auto bool `json:"auto"`
	// CanHost says that this computer may host the game.
	CanHost bool `json:"can_host"`
	// Regions is what the game printed about its regions, if it measures them itself.
	Regions string `json:"regions"`
	// Match makes the room a match of two sides, with the captains' moves over servers, its maps and
	// the sides' names; empty is no match.
	Match string `json:"match"`
	Order string `json:"order"`
	Maps  string `json:"maps"`
	SideA string `json:"side_a"`
	SideB string `json:"side_b"`
}

// args returns the command's arguments. quiet hides the room from the local network.
func (w hostRequest) args(file, listen, launch string, quiet bool) ([]string, error) {
	if err := named(w.Game); err != nil {
		return nil, err
	}
	args := append([]string{"host", "--game=" + w.Game, "--new"}, player(w.Name, w.Auto, launch, w.CanHost)...)
	for _, text := range []struct{ flag, value string }{{"by", w.By}, {"map", w.Map}, {"mode", w.Mode},
		{"room", w.Title}, {"every", w.Every}, {"match", w.Match}, {"order", w.Order}, {"maps", w.Maps},
		{"side-a", w.SideA}, {"side-b", w.SideB}} {
		if text.value != "" {
			args = append(args, "--"+text.flag+"="+text.value)
		}
	}
	if len(w.Limits) > 0 {
		var limits []string
		for _, ms := range w.Limits {
			limits = append(limits, strconv.FormatFloat(ms, 'f', -1, 64)+"ms")
		}
		args = append(args, "--max-rtt="+strings.Join(limits, ","))
	}
	if w.Players > 0 {
		args = append(args, "--players="+strconv.Itoa(w.Players))
	}
	if w.Vote != nil {
		args = append(args, "--vote="+strconv.FormatBool(*w.Vote))
	}
	if w.Wait > 0 {
		args = append(args, "--wait-for-seats="+strconv.Itoa(w.Wait)+"m")
	}
	switch {
	case w.At != "":
		args = append(args, "--at="+w.At)
	default:
		args = append(args, "--here", "--listen="+listen)
		if quiet {
			args = append(args, "--no-mdns")
		}
		if w.Open {
			args = append(args, "--open")
		}
	}
	return own(args, file), nil
}

// beaconRequest makes this computer answer measurements.
type beaconRequest struct {
	// Name is the name of the place. Port is where it answers; 0 is the usual port.
	Name string `json:"name"`
	Port int    `json:"port"`
	// PortMap asks the router to forward the port; nil leaves that to config.toml.
	PortMap *bool `json:"port_map,omitempty"`
}

func (b beaconRequest) args() ([]string, error) {
	args := []string{"beacon", "--name=" + b.Name}
	if b.Port < 0 || b.Port > math.MaxUint16 {
		return nil, hint.Say("home.no-port", "port", strconv.Itoa(b.Port), "most", strconv.Itoa(math.MaxUint16))
	}
	if b.Port > 0 {
		args = append(args, "--listen=:"+strconv.Itoa(b.Port))
	}
	if b.PortMap != nil {
		args = append(args, "--port-map="+strconv.FormatBool(*b.PortMap))
	}
	return args, nil
}

// goRequest is about one server.
type goRequest struct {
	Game string `json:"game"`
	Addr string `json:"addr"`
	Name string `json:"name"`
	// Auto starts the game unasked.
	Auto bool `json:"auto"`
	// Goes connects when a watched server has a seat; otherwise the watch only reports it.
	Goes bool `json:"goes"`
}

func (g goRequest) check() error {
	if err := named(g.Game); err != nil {
		return err
	}
	at, err := hostport.Parse(g.Addr)
	if err != nil || at.Port() == 0 {
		return hint.Say("home.no-address", "address", discovery.CleanText(g.Addr))
	}
	return nil
}

// args returns the command's arguments. file holds the one server.
func (g goRequest) args(file string, watch bool) []string {
	args := []string{"discover", "--game=" + g.Game, "--top=1", "--auto-stop=off", "--servers=" + file}
	if watch {
		args = append(args, "--watch")
	}
	if !watch || g.Goes {
		args = append(args, "--connect=1")
	}
	if g.Auto {
		args = append(args, "--launch=auto")
	}
	return args
}
