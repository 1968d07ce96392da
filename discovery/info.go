package discovery

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/netip"
	"time"
)

// Info is what a server says about itself. All text in it is cleaned for display (see
// [CleanText]) but remains a stranger's word.
type Info struct {
	Name string `json:"name,omitempty"`
	Map  string `json:"map,omitempty"`
	// Mode is the game type in the protocol's own words: "0", "ctf", "duel".
	Mode string `json:"mode,omitempty"`
	// Version is the game's version in the server's own words: "Paper 1.20.4",
	// "0.6.4, 18.1".
	Version string `json:"version,omitempty"`
	// Protocol is the newest protocol that the server speaks with players, by the
	// game's own number. OldestProtocol is the oldest if it differs. 0 is not told.
	Protocol       int `json:"protocol,omitempty"`
	OldestProtocol int `json:"protocol_min,omitempty"`
	// Mod is what players need besides or instead of the game: the game directory,
	// Luanti's game, a loader of mods.
	Mod string `json:"mod,omitempty"`
	// Tags are the server's own words for itself.
	Tags Tags `json:"tags,omitempty"`
	// Players counts taken seats, including those of bots.
	Players int `json:"players"`
	// MaxPlayers counts the seats that are open to the public.
	MaxPlayers int `json:"max_players"`
	// Bots is how many of Players are bots, if the protocol tells.
	Bots     int  `json:"bots,omitempty"`
	Password bool `json:"password,omitempty"`
	// GamePort is the port that players connect to; 0 is the queried port.
	GamePort uint16 `json:"game_port,omitempty"`
	// AppID is the Steam application, or 0.
	AppID uint64 `json:"app_id,omitempty"`
	// MinPing and MaxPing are the limits outside which the server refuses players; 0 is
	// no limit. JSON has them in milliseconds.
	MinPing time.Duration `json:"-"`
	MaxPing time.Duration `json:"-"`
	// AsListed reports whether some fields come from a list and not from the server.
	AsListed bool `json:"as_listed,omitempty"`
	// Roster lists the players, if it was asked for; see [Roll].
	Roster *Roster `json:"-"`
}

// fields is Info without its methods.
type fields Info

// infoJSON is the form of an Info in JSON.
type infoJSON struct {
	fields
	MinPing Millis `json:"min_ping_ms,omitempty"`
	MaxPing Millis `json:"max_ping_ms,omitempty"`
}

// MarshalJSON writes the limits in milliseconds.
func (i Info) MarshalJSON() ([]byte, error) {
	return json.Marshal(infoJSON{fields(i), Millis(i.MinPing), Millis(i.MaxPing)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (i *Info) UnmarshalJSON(data []byte) error {
	var read infoJSON
	err := json.Unmarshal(data, &read)
	*i = Info(read.fields)
	i.MinPing, i.MaxPing = time.Duration(read.MinPing), time.Duration(read.MaxPing)
	return err
}

// Said is what a list says about its servers. All users of the list share it, so it is
// never changed. The zero value says nothing.
type Said struct {
	// At is when the list was fetched from its keeper.
	At time.Time
	// Infos maps a server's address to its Info, which is AsListed.
	Infos map[netip.AddrPort]*Info
}

// Completed returns what a server says about itself. A list's word fills in the rest.
// Either may be nil. The result may be one of the two, which stay unchanged.
func (i *Info) Completed(listed *Info) *Info {
	switch {
	case listed == nil:
		return i
	case i == nil || *i == Info{}:
		return listed
	}
	c := *i
	c.Name, c.Map = cmp.Or(c.Name, listed.Name), cmp.Or(c.Map, listed.Map)
	c.Mode, c.Version = cmp.Or(c.Mode, listed.Mode), cmp.Or(c.Version, listed.Version)
	c.Mod, c.Tags = cmp.Or(c.Mod, listed.Mod), cmp.Or(c.Tags, listed.Tags)
	if c.Protocol == 0 {
		c.Protocol, c.OldestProtocol = listed.Protocol, listed.OldestProtocol
	}
	switch {
	case c.MaxPlayers == 0 && c.Players == 0:
		c.Players, c.MaxPlayers, c.Bots = listed.Players, listed.MaxPlayers, listed.Bots
	case c.MaxPlayers == 0 && c.Players <= listed.MaxPlayers:
		c.MaxPlayers = listed.MaxPlayers
	}
	if c == *i {
		return i
	}
	c.AsListed = true
	return &c
}

// Connect returns the address that players connect to, for a server queried at an
// address. The game's port may differ from the queried one. A nil Info is a server that
// has told nothing.
func (i *Info) Connect(queried netip.AddrPort) netip.AddrPort {
	if i == nil || i.GamePort == 0 {
		return queried
	}
	return netip.AddrPortFrom(queried.Addr(), i.GamePort)
}

// Uncounted reports whether the server does not tell its seats. Some games' servers say
// only that they are there, or who plays.
func (i *Info) Uncounted() bool { return i.MaxPlayers == 0 }

// Free returns the number of empty seats. A seat that a bot holds is not empty.
func (i *Info) Free() int { return max(0, i.MaxPlayers-i.Players) }

// Roll is a Protocol whose servers tell their players' names on request.
type Roll interface {
	Protocol
	// Roll returns the protocol that asks for them. The Info in its replies has a
	// Roster, and may have nothing else.
	Roll() Protocol
}

// Roster lists a server's players, as the server tells. Names are cleaned for display.
type Roster struct{ Players []Player }

// Player is one player of a [Roster].
type Player struct {
	Name  string
	Score int
	// Ping is what the server measured. It is 0 for a bot, or if the server does not tell.
	Ping time.Duration
}

// connecting is the ping that Quake's servers list for a player who is not in the game yet. Longer
// ones mean that, too.
const connecting = 999 * time.Millisecond

// Pings returns the players' pings by name. Players without a ping, and names that two players
// share, are left out. A nil Roster has none.
func (r *Roster) Pings() map[string]time.Duration {
	pings := map[string]time.Duration{}
	if r == nil {
		return pings
	}
	count := map[string]int{}
	for _, p := range r.Players {
		count[p.Name]++
		if p.Ping > 0 && p.Ping < connecting {
			pings[p.Name] = p.Ping
		}
	}
	maps.DeleteFunc(pings, func(name string, _ time.Duration) bool { return name == "" || count[name] > 1 })
	return pings
}
