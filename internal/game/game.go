// Package game is the table of games: how their servers are asked, where they are listed, and how each game is started
// and sent to a server.
//
//	games/*.toml (built in) ─┐
//	                         ├─▶ Table ─▶ Game ─┬─▶ Queries    for discovery/lists/master
//	games.toml (user's) ─────┘                  ├─▶ Protocol   for discovery/prober
//	                                            └─▶ Command ─▶ Launch
//
// A command is a list of arguments and never goes through a shell. Words of a host or a server enter it only through
// placeholders, and only if no game's console can mistake them for a command.
package game

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/lists/master"
	"muster/discovery/names"
	"muster/discovery/protocol/a2s"
	"muster/discovery/protocol/ase"
	"muster/discovery/protocol/beacon"
	"muster/discovery/protocol/bedrock"
	"muster/discovery/protocol/doom3"
	"muster/discovery/protocol/frostbite"
	"muster/discovery/protocol/gamespy"
	"muster/discovery/protocol/jamulus"
	"muster/discovery/protocol/luanti"
	"muster/discovery/protocol/mindustry"
	"muster/discovery/protocol/minecraft"
	"muster/discovery/protocol/mumble"
	"muster/discovery/protocol/odamex"
	"muster/discovery/protocol/openttd"
	"muster/discovery/protocol/quake3"
	"muster/discovery/protocol/quakeworld"
	"muster/discovery/protocol/samp"
	"muster/discovery/protocol/satisfactory"
	"muster/discovery/protocol/sauerbraten"
	"muster/discovery/protocol/sqp"
	"muster/discovery/protocol/tcp"
	"muster/discovery/protocol/teeworlds"
	"muster/discovery/protocol/unreal2"
	"muster/discovery/protocol/zandronum"
	"muster/discovery/regions"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/hint"
	"muster/selection"
)

// Game is one entry of the table. docs/games.md explains its fields.
type Game struct {
	ID              string           `toml:"-"`
	Name            string           `toml:"name"`
	ProtocolName    string           `toml:"protocol"`
	Port            uint16           `toml:"port"`
	QueryAbove      uint16           `toml:"query_above"`
	Masters         []string         `toml:"masters"`
	MasterPort      uint16           `toml:"master_port"`
	MasterGame      string           `toml:"master_game"`
	MasterProtocols []int            `toml:"master_protocols"`
	MasterAnonymous bool             `toml:"master_anonymous"`
	Aliases         []string         `toml:"aliases"`
	QStatTypes      []string         `toml:"qstat_types"`
	AppID           uint32           `toml:"app_id"`
	SRV             string           `toml:"srv"`
	Lists           []master.WebList `toml:"lists"`
	Regions         regions.Table    `toml:"regions"`
	Unsure          []string         `toml:"unsure"`
	References      []string         `toml:"sources"`
	JoinReferences  []string         `toml:"join_sources"`
	Silent          string           `toml:"silent"`
	Rule            selection.Rule   `toml:"rule"`
	Version         string           `toml:"version"`
	Protocols       []string         `toml:"protocols"`
	Launch          []string         `toml:"launch"`
	LaunchWindows   []string         `toml:"launch_windows"`
	LaunchDarwin    []string         `toml:"launch_darwin"`
	LaunchLinux     []string         `toml:"launch_linux"`
	Type            *Typing          `toml:"type"`
	Flatpak         []string         `toml:"flatpak"`
	GapMS           int              `toml:"gap_ms"`
	BotsApart       bool             `toml:"bots_apart"`
	Delay           *Delaying        `toml:"delay"`
	DelayLine       *DelayLine       `toml:"delay_line"`
	Transfer        *Transferring    `toml:"transfer"`
}

// usualGap is the pause for servers known to answer an address several times a second. ioquake3 answers ten questions
// at once and then one a second (SVC_RateLimitAddress in its sv_main.c), Source three a second on average of 30 s
// (sv_max_queries_sec), DDNet ten a second.
const usualGap = 300 * time.Millisecond

// Gap returns how long to wait before a server of the game answers an address again, 0 if unknown.
func (g Game) Gap() time.Duration {
	const darkPlaces = 3 // its masters' protocol; its servers answer once a second
	switch {
	case g.GapMS > 0:
		return time.Duration(g.GapMS) * time.Millisecond
	case g.ProtocolName == "a2s", g.ProtocolName == "ddnet":
		return usualGap
	case g.ProtocolName == "quake3" && !slices.Contains(g.MasterProtocols, darkPlaces):
		return usualGap
	}
	return 0
}

// protocols are the names of the protocols, in order. Muster's own beacon is no game.
var protocols = []string{
	"a2s", "ase", "bedrock", "ddnet", "doom3", "frostbite", "gamespy", "gamespy2", "gamespy3", "jamulus", "luanti",
	"mindustry", "minecraft", "mohaa", "mumble", "odamex", "openttd", "quake2", "quake3", "quakeworld",
	"redeclipse", "samp", "satisfactory", "sauerbraten", "sqp", "tcp", "teeworlds", "unreal", "unreal2",
	"vcmp", "zandronum",
}

// Protocols returns the names of the protocols that servers are asked by, in order.
func Protocols() []string { return slices.Clone(protocols) }

// Names returns how the game finds a server that is listed by name.
func (g Game) Names() names.Resolver { return names.Resolver{Service: g.SRV, Port: g.Port} }

// Protocol returns how the game's servers are asked. It is nil if the table names an unknown one, which [Load] refuses.
func (g Game) Protocol() discovery.Protocol {
	switch g.ProtocolName {
	case "quake3":
		return quake3.Protocol{BotsApart: g.BotsApart}
	case "a2s":
		return a2s.Protocol{BotsApart: g.BotsApart}
	case "mohaa":
		return quake3.MOHAA{}
	case "quakeworld":
		return quakeworld.Protocol{}
	case "quake2":
		return quakeworld.Quake2{}
	case "ddnet":
		return teeworlds.DDNet{}
	case "teeworlds":
		return teeworlds.Protocol{}
	case "luanti":
		return luanti.Protocol{}
	case "bedrock":
		return bedrock.Protocol{}
	case "unreal":
		return gamespy.Protocol{Above: cmp.Or(g.QueryAbove, 1), Echo: true}
	case "gamespy":
		return gamespy.Protocol{Above: g.QueryAbove}
	case "gamespy2":
		return gamespy.Second{Above: g.QueryAbove}
	case "gamespy3":
		return gamespy.Third{Above: g.QueryAbove}
	case "unreal2":
		return unreal2.Protocol{Above: cmp.Or(g.QueryAbove, 1)}
	case "ase":
		return ase.Protocol{Above: cmp.Or(g.QueryAbove, 123)}
	case "sauerbraten":
		return sauerbraten.Protocol{}
	case "redeclipse":
		return sauerbraten.RedEclipse{}
	case "mumble":
		return mumble.Protocol{}
	case "mindustry":
		return mindustry.Protocol{}
	case "doom3":
		return doom3.Protocol{}
	case "samp":
		return samp.Protocol{}
	case "jamulus":
		return jamulus.Protocol{}
	case "odamex":
		return odamex.Protocol{}
	case "satisfactory":
		return satisfactory.Protocol{}
	case "zandronum":
		return zandronum.Protocol{}
	case "frostbite":
		return frostbite.Protocol{Above: g.QueryAbove}
	case "sqp":
		return sqp.Protocol{}
	case "vcmp":
		return samp.VCMP{}
	case "minecraft":
		return minecraft.Protocol{}
	case "openttd":
		return openttd.Protocol{}
	case "tcp":
		return tcp.Protocol{Above: g.QueryAbove}
	case "beacon":
		return beacon.Protocol{}
	}
	return nil
}

// LANPorts returns where to ask for the game's servers on a local network: the usual port, and those that further
// servers on one machine take after it. TCP needs a known address, so it has none; some servers announce themselves,
// see [discovery.Announced].
func (g Game) LANPorts() []uint16 {
	if _, ok := g.Protocol().(discovery.Stream); ok {
		return nil
	}
	n := 4 // as ioquake3 and its relatives search themselves
	if g.ProtocolName == "a2s" {
		n = 6 // as Steam's LAN tab does
	}
	var ports []uint16
	for port := int(g.Port); port < min(int(g.Port)+n, 1<<16); port++ {
		ports = append(ports, uint16(port))
	}
	return ports
}

// QStatType returns QStat's name for the game's servers, or the protocol's name if QStat has none.
func (g Game) QStatType() string {
	if len(g.QStatTypes) == 0 {
		return strings.ToUpper(g.ProtocolName)
	}
	return g.QStatTypes[0]
}

// Takes reports whether a list's entry of a QStat type may be a server of the game. Entries without a type may be any
// game's.
func (g Game) Takes(qstatType string) bool {
	return qstatType == "" || strings.EqualFold(qstatType, g.QStatType()) || slices.ContainsFunc(g.QStatTypes, func(t string) bool {
		return strings.EqualFold(t, qstatType)
	})
}

// NoMasterError says that nobody lists the game's servers.
type NoMasterError struct{ Game Game }

func (e *NoMasterError) Error() string { return e.Said().Error() }

// Hint says what a user can do about the error, in English.
func (e *NoMasterError) Hint() string { return e.Said().Hint() }

// Said returns the error as a sentence of the catalogue.
func (e *NoMasterError) Said() *hint.Said {
	const files = "--servers FILE"
	switch {
	case e.Game.OnSteam():
		return hint.Say("list.no-key", "game", e.Game.Name).Advising("list.no-key-hint",
			"page", "https://steamcommunity.com/dev/apikey", "command", "muster games --steam-key", "files", files)
	case e.Game.HasMasters():
		return hint.Say("list.unknown", "game", e.Game.Name).Advising("list.no-master-hint", "master", "--master HOST:PORT", "files", files)
	}
	return hint.Say("list.unknown", "game", e.Game.Name).Advising("list.unknown-hint", "files", files)
}

// WhySilent returns why the game's servers answer nobody, and what to do instead. The built-in table
// names a sentence of the catalogue; a player's own table has text.
func (g Game) WhySilent() sentence.Sentence {
	if strings.HasPrefix(g.Silent, "silent.") {
		return sentence.Of(g.Silent)
	}
	return sentence.Plain(g.Silent)
}

// whySilent returns the same in English.
func (g Game) whySilent() string {
	if strings.HasPrefix(g.Silent, "silent.") {
		return hint.Say(g.Silent).Error()
	}
	return g.Silent
}

// Choice returns the game as pages list it.
func (g Game) Choice() wire.Game {
	return wire.Game{ID: g.ID, Name: g.Name, Silent: g.whySilent(), Silence: g.WhySilent()}
}

// HasMasters reports whether the game's servers can have masters.
func (g Game) HasMasters() bool { return len(g.asks()) > 0 }

// OnSteam reports whether Steam lists the game's servers.
func (g Game) OnSteam() bool { return g.ProtocolName == "a2s" && g.AppID != 0 }

// These kinds of lists are not in the map lists.
const (
	kindRegions = "regions"
	kindMaster  = "master" // a server asked over UDP
	kindSteam   = "steam"
)

// Kinds returns the kinds of the game's lists, empty if only people know its servers.
func (g Game) Kinds() []string {
	kinds := []string{}
	if len(g.Masters) > 0 {
		kinds = append(kinds, kindMaster)
	}
	for _, list := range g.Lists {
		if kind := string(list.Format); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	if g.OnSteam() {
		kinds = append(kinds, kindSteam)
	}
	if !g.Regions.IsZero() {
		kinds = append(kinds, kindRegions)
	}
	return kinds
}

// URLs returns the addresses of the game's lists on the web.
func (g Game) URLs() (urls []string) {
	for _, list := range g.Lists {
		urls = append(urls, list.URLs...)
	}
	return urls
}

// User holds what the user of this machine adds to the table of games.
type User struct {
	// Steam is a key for Steam's Web API, or empty.
	Steam master.SteamKey
	// SteamURL is that API's address; empty means Steam's own.
	SteamURL string
	// SteamFiles are the files where Steam remembers servers.
	SteamFiles []string
}

// Sources returns where to get the game's list: from the given masters, or else from everything the table knows. If
// there is no source, the error is a [*NoMasterError].
func (g Game) Sources(user User, masters ...string) (sources []master.Source, err error) {
	queries, err := g.Queries(masters...)
	for _, q := range queries {
		sources = append(sources, q)
	}
	if len(masters) > 0 {
		return sources, err
	}
	for _, list := range g.Lists {
		list.Port = g.Port
		sources = append(sources, list)
	}
	if !g.Regions.IsZero() {
		sources = append(sources, master.Regions{Game: g.Name, Table: g.Regions})
	}
	if g.OnSteam() {
		if user.Steam != "" {
			sources = append(sources, master.Steam{AppID: g.AppID, Key: user.Steam, Port: g.Port, URL: user.SteamURL})
		}
		if remembered := (master.SteamFiles{Files: user.SteamFiles, AppID: g.AppID, Port: g.Port}); remembered.IsWorthAsking() {
			sources = append(sources, remembered)
		}
	}
	if len(sources) == 0 {
		return nil, &NoMasterError{Game: g}
	}
	return sources, nil
}

// Queries returns the questions about the game's servers to the given masters, or else to the game's own. If there is
// no master, the error is a [*NoMasterError].
func (g Game) Queries(masters ...string) ([]master.Query, error) {
	if len(masters) == 0 {
		masters = g.Masters
	}
	asks := g.asks()
	if len(masters) == 0 || len(asks) == 0 {
		return nil, &NoMasterError{Game: g}
	}
	queries := make([]master.Query, len(masters))
	for i, m := range masters {
		queries[i] = master.Query{Master: m, Port: g.MasterPort, Asks: asks}
	}
	return queries, nil
}

// listed is a protocol whose servers have masters that speak a kin of it.
type listed interface{ Master() discovery.Lister }

// asks returns the questions to each master. In the Quake III family there are two questions for
// each protocol version, because parts of a list get lost. The extended question covers IPv6
// servers, but old masters do not know it. The plain question works everywhere. Masters count
// players wrongly, so both questions ask for empty and full servers too.
func (g Game) asks() (asks []discovery.Lister) {
	if lister, ok := g.Protocol().(listed); ok {
		return []discovery.Lister{lister.Master()}
	}
	for _, version := range g.MasterProtocols {
		plain := quake3.MasterQuery{Game: g.MasterGame, Protocol: version, Empty: true, Full: true}
		extended := plain
		if g.MasterGame != "" {
			extended.Extended, extended.IPv4, extended.IPv6 = true, true, true
		}
		if g.MasterAnonymous {
			plain.Game = ""
		}
		asks = append(asks, extended, plain)
	}
	return asks
}
