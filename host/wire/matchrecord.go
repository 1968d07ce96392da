package wire

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/internal/catalogue"
	"muster/selection/excess"
)

// MatchFormat names the form of a [MatchRecord].
const MatchFormat = "muster.match/1"

// MatchesFormat names the form of [Matches].
const MatchesFormat = "muster.matches/1"

// Matches are the matches that a room has played, the oldest first.
type Matches struct {
	Format  string         `json:"format"`
	Matches []*MatchRecord `json:"matches"`
}

// MatchRecord is a match as leagues keep it: who played where, and the pings that were measured
// when everyone was sent there. The texts in it are names that strangers chose.
type MatchRecord struct {
	Format string `json:"format"`
	// ID identifies the match among all matches of all rooms, and Round among those of its room.
	ID    string    `json:"id"`
	Round int       `json:"round"`
	Room  string    `json:"room,omitempty"`
	Game  string    `json:"game"`
	At    time.Time `json:"at"`
	// BestOf is how many maps the match has at most. Maps are those that captains decided on, in
	// their order; there are none if they decided none, or not yet. Pool are the maps to decide
	// between.
	BestOf int        `json:"best_of"`
	Maps   []string   `json:"maps"`
	Pool   []string   `json:"pool,omitempty"`
	Server MatchPlace `json:"server"`
	// Venues are the servers of the maps, in their order, if a law has them on two. Law is the league's
	// law, and what Server breaks of it; who has objected stands in Moves.
	Venues []MatchPlace `json:"venues,omitempty"`
	Law    *MatchLaw    `json:"law,omitempty"`
	Sides  [2]MatchSide `json:"sides"`
	// Others played, or watched, on neither side.
	Others []MatchPlayer `json:"others,omitempty"`
	Moves  []Move        `json:"moves"`
	// Password is the server's. It is set only for players of the room.
	Password string `json:"password,omitempty"`
	// Spectate is what a spectator types in the game's console, or the address if the game has no
	// such line.
	Spectate string `json:"spectate,omitempty"`
}

// MatchPlace is the server of a match. Connect is the address that players connect to.
type MatchPlace struct {
	Name    string `json:"name"`
	Connect string `json:"connect"`
	Country string `json:"country,omitempty"`
	Map     string `json:"map,omitempty"`
}

// MatchSide is one side of a match, with the average of its players' pings in ms.
type MatchSide struct {
	Side    Side          `json:"side"`
	Name    string        `json:"name"`
	Captain string        `json:"captain,omitempty"`
	MeanMS  float64       `json:"mean_ms,omitempty"`
	Players []MatchPlayer `json:"players"`
}

// MatchPlayer is a player of a match. PingMS is 0 if it is unknown. SteamID is the player's SteamID64, if the
// match was opened with it.
type MatchPlayer struct {
	Name    string  `json:"name"`
	PingMS  float64 `json:"ping_ms,omitempty"`
	SteamID string  `json:"steam_id,omitempty"`
	// ExcessMS is by how much PingMS exceeds what the player's line and earlier evenings suggest.
	ExcessMS float64 `json:"excess_ms,omitempty"`
	// GamePingMS is the ping that the game's server listed, and BelowMS is by how much the player plays
	// below PingMS, compared with the others; both are 0 if unknown.
	GamePingMS float64 `json:"game_ping_ms,omitempty"`
	BelowMS    float64 `json:"below_ms,omitempty"`
}

// Title names a match by its sides.
func (r *MatchRecord) Title() string { return r.Sides[0].Called() + " – " + r.Sides[1].Called() }

// Called returns the side's name, or an English word for it, because game servers show it to people
// of many languages.
func (s MatchSide) Called() string {
	if s.Name != "" {
		return s.Name
	}
	return catalogue.InEnglish().Say(sentence.Of("match.side." + string(s.Side)))
}

// RecordOf returns the record of a match that a room played, or nil if it played none then. id
// identifies the room, and room is its name.
func RecordOf(id, room string, p Played) *MatchRecord {
	if p.Match == nil {
		return nil
	}
	r := &MatchRecord{
		Format: MatchFormat, Round: p.Round, Room: room, Game: p.Game, At: p.At, BestOf: p.Match.BestOf,
		Maps: append([]string{}, p.Match.Play...), Moves: append([]Move{}, p.Match.Moves...),
		Server: MatchPlace{Name: p.Server, Connect: p.Connect, Country: p.Country, Map: p.Map}, Venues: p.Match.Venues,
	}
	if p.Match.Law != nil {
		l := *p.Match.Law
		l.Said, r.Law = nil, &l // figures say the same to programs
	}
	for _, m := range p.Match.Maps {
		r.Pool = append(r.Pool, m.Name)
	}
	r.SetID(id)
	onSide := map[string]bool{}
	for i, camp := range p.Match.Camps {
		side := MatchSide{Side: camp.Side, Name: camp.Name, Captain: camp.Captain, Players: []MatchPlayer{}}
		sum, known := 0.0, 0
		for _, name := range camp.Players {
			onSide[name] = true
			side.Players = append(side.Players, MatchPlayer{Name: name, PingMS: p.RTT[name], ExcessMS: p.Excess[name]})
			if p.RTT[name] > 0 {
				sum, known = sum+p.RTT[name], known+1
			}
		}
		if known > 0 {
			side.MeanMS = sum / float64(known)
		}
		r.Sides[i] = side
	}
	for _, name := range p.Players {
		if !onSide[name] {
			r.Others = append(r.Others, MatchPlayer{Name: name, PingMS: p.RTT[name]})
		}
	}
	listed := map[string]time.Duration{}
	for name, ms := range p.GamePings {
		listed[name] = time.Duration(ms * float64(time.Millisecond))
	}
	r.Compare(listed)
	return r
}

// SetID names the match by the id of its room, and its round.
func (r *MatchRecord) SetID(id string) { r.ID = id + "-" + strconv.Itoa(r.Round) }

// Compare notes the pings that the game's server lists, by exact name or else by SteamID64, and who
// plays well below the measured ping: see [excess.Below].
func (r *MatchRecord) Compare(listed map[string]time.Duration) {
	measured, over, played := map[string]float64{}, map[string]float64{}, map[string]float64{}
	all := func(do func(*MatchPlayer)) {
		for i := range r.Sides {
			for j := range r.Sides[i].Players {
				do(&r.Sides[i].Players[j])
			}
		}
	}
	all(func(p *MatchPlayer) {
		ping, is := listed[p.Name]
		if !is && p.SteamID != "" {
			ping = listed[p.SteamID]
		}
		p.GamePingMS = ping.Seconds() * 1000
		measured[p.Name], over[p.Name], played[p.Name] = p.PingMS, p.ExcessMS, p.GamePingMS
	})
	below := excess.Below(measured, over, played)
	all(func(p *MatchPlayer) { p.BelowMS = below[p.Name] })
}

// SteamIDs are players' SteamID64s, by their side in a match and their name.
type SteamIDs map[Side]map[string]string

// UnmarshalJSON refuses texts that are no SteamID64: that of an account of a person is 7656119 and
// ten more digits.
func (ids *SteamIDs) UnmarshalJSON(data []byte) error {
	var given map[Side]map[string]string
	if err := json.Unmarshal(data, &given); err != nil {
		return noSteamIDs()
	}
	for side, players := range given {
		if side.Other() == "" || len(players) > MaxPlayers {
			return noSteamIDs()
		}
		for name, id := range players {
			if len(name) > maxSteamName || len(id) != 17 || !strings.HasPrefix(id, "7656119") || strings.Trim(id, "0123456789") != "" {
				return noSteamIDs()
			}
		}
	}
	*ids = given
	return nil
}

func noSteamIDs() error {
	return impossible("refused.steam-ids", "example", `{"a":{"ann":"76561197990682262"}}`)
}

// maxSteamName is more bytes than a name in a room has.
const maxSteamName = 256

// Identify adds the SteamID64s that a match was opened with.
func (r *MatchRecord) Identify(ids SteamIDs) {
	for i := range r.Sides {
		for j := range r.Sides[i].Players {
			p := &r.Sides[i].Players[j]
			p.SteamID = ids[r.Sides[i].Side][p.Name]
		}
	}
}

// MatchesCSV writes matches as a table, a line for each player.
func MatchesCSV(to io.Writer, matches []*MatchRecord) error {
	w := csv.NewWriter(to)
	// Flush reports the errors of these writes.
	w.Write([]string{"id", "at", "room", "game", "best_of", "maps", "server", "connect", "country", "side", "side_name",
		"side_mean_ms", "captain", "player", "ping_ms", "law", "law_breaks"})
	for _, m := range matches {
		law, breaks := m.Law.cells()
		match := []string{escapeFormula(m.ID), m.At.UTC().Format(time.RFC3339), escapeFormula(m.Room), escapeFormula(m.Game), strconv.Itoa(m.BestOf),
			escapeFormula(strings.Join(m.Maps, " ")), escapeFormula(m.Server.Name), escapeFormula(m.Server.Connect), escapeFormula(m.Server.Country)}
		sides := append(slices.Clone(m.Sides[:]), MatchSide{Players: m.Others})
		for _, side := range sides {
			for _, p := range side.Players {
				isCaptain := strconv.FormatBool(side.Side != "" && p.Name == side.Captain)
				w.Write(append(slices.Clone(match), string(side.Side), escapeFormula(side.Name), tenths(side.MeanMS), isCaptain,
					escapeFormula(p.Name), tenths(p.PingMS), escapeFormula(law), breaks))
			}
		}
	}
	w.Flush()
	return w.Error()
}

// cells returns the law's name, and what the server breaks: "means 50.0 > 30.0".
func (l *MatchLaw) cells() (name, breaks string) {
	if l == nil {
		return "", ""
	}
	var all []string
	for _, b := range l.Breaks {
		all = append(all, fmt.Sprintf("%s %.1f > %.1f", b.Of, discovery.MS(time.Duration(b.Value)), discovery.MS(time.Duration(b.Limit))))
	}
	return l.Name, strings.Join(all, ", ")
}

// tenths returns a ping with one decimal, nothing if it is unknown.
func tenths(ms float64) string {
	if ms <= 0 {
		return ""
	}
	return strconv.FormatFloat(ms, 'f', 1, 64)
}
