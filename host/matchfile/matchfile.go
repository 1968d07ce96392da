// Package matchfile writes a match in the forms that plugins and managers of game servers load, so
// that nobody types teams, maps and passwords by hand, and reads the pings that such servers list.
//
//	                ┌─▶ get5      splewis/get5, and plugins that read its files
//	MatchRecord ────┼─▶ MatchZy   shobhit-pathak/MatchZy, for Counter-Strike 2
//	                └─▶ TMT2      JensForstmann/tmt2, the body of its POST /api/matches
//
// All three lock players into their teams by SteamID64. Muster knows players by their names, so a
// file has those ids only if the match was opened with them.
package matchfile

import (
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"muster/host/wire"
)

// Kind is a form of match file.
type Kind string

// The forms, by the names that people ask for them.
const (
	Get5    Kind = "get5"
	MatchZy Kind = "matchzy"
	TMT2    Kind = "tmt2"
)

// Kinds returns all forms, as people ask for them.
func Kinds() []string { return []string{string(Get5), string(MatchZy), string(TMT2)} }

// ErrNoMaps says that a form needs the maps of a match, and captains decided none. ErrNoIDs says
// that it needs players' SteamID64s.
var (
	ErrNoMaps = errors.New("this file needs the maps of the match")
	ErrNoIDs  = errors.New("this file needs the players' SteamID64s")
)

// Of returns a match in a form. Its errors are [ErrNoMaps] and [ErrNoIDs].
func Of(kind Kind, m *wire.MatchRecord) ([]byte, error) {
	var file any
	switch kind {
	case Get5:
		file = get5Of(m)
	case MatchZy:
		if len(m.Maps) == 0 {
			return nil, ErrNoMaps
		}
		if !hasIDs(m) { // the plugin removes everybody whom the file does not name
			return nil, ErrNoIDs
		}
		file = matchZyOf(m)
	case TMT2:
		if len(m.Maps) == 0 {
			return nil, ErrNoMaps
		}
		file = tmt2Of(m)
	default:
		return nil, errors.New("there is no match file of the kind " + strconv.Quote(string(kind)))
	}
	return json.MarshalIndent(file, "", "  ")
}

// hasIDs reports whether every player of both sides has a SteamID64.
func hasIDs(m *wire.MatchRecord) bool {
	for _, side := range m.Sides {
		for _, p := range side.Players {
			if p.SteamID == "" {
				return false
			}
		}
	}
	return len(m.Sides[0].Players) > 0 && len(m.Sides[1].Players) > 0
}

// team is a team of get5 and MatchZy: its players' names by their SteamID64.
type team struct {
	Name    string            `json:"name"`
	Players map[string]string `json:"players"`
}

func teamOf(s wire.MatchSide) team {
	t := team{Name: s.Called(), Players: map[string]string{}}
	for _, p := range s.Players {
		if p.SteamID != "" {
			t.Players[p.SteamID] = p.Name
		}
	}
	return t
}

// spectators are get5's and MatchZy's. Muster has no ids of spectators.
type spectators struct {
	Players map[string]string `json:"players"`
}

// perTeam returns how many players a side has at most, at least one.
func perTeam(m *wire.MatchRecord) int {
	return max(1, len(m.Sides[0].Players), len(m.Sides[1].Players))
}

// get5 is a match of get5, by its documentation/docs/match_schema.md.
type get5 struct {
	ID         string            `json:"matchid"`
	Title      string            `json:"match_title"`
	NumMaps    int               `json:"num_maps"`
	Maps       []string          `json:"maplist,omitempty"`
	SkipVeto   bool              `json:"skip_veto"`
	SideType   string            `json:"side_type"`
	PerTeam    int               `json:"players_per_team"`
	Team1      team              `json:"team1"`
	Team2      team              `json:"team2"`
	Spectators spectators        `json:"spectators"`
	CVars      map[string]string `json:"cvars"`
}

func get5Of(m *wire.MatchRecord) get5 {
	f := get5{
		ID: m.ID, Title: m.Title(), NumMaps: m.BestOf, Maps: m.Maps, SkipVeto: len(m.Maps) > 0, SideType: "standard",
		PerTeam: perTeam(m), Team1: teamOf(m.Sides[0]), Team2: teamOf(m.Sides[1]), Spectators: spectators{map[string]string{}},
		CVars: cvars(m),
	}
	if len(m.Maps) > 0 {
		f.NumMaps = len(m.Maps)
	} else {
		f.Maps = m.Pool // the plugin lets captains decide
	}
	if !hasIDs(m) {
		f.CVars["get5_check_auths"] = "0" // or the plugin removes everybody
	}
	return f
}

// cvars returns the console variables of a match's server.
func cvars(m *wire.MatchRecord) map[string]string {
	vars := map[string]string{}
	if m.Password != "" {
		vars["sv_password"] = m.Password
	}
	return vars
}

// matchZy is a match of MatchZy, by its documentation/docs/match_setup.md.
type matchZy struct {
	ID         int64             `json:"matchid"`
	Team1      team              `json:"team1"`
	Team2      team              `json:"team2"`
	NumMaps    int               `json:"num_maps"`
	Maps       []string          `json:"maplist"`
	MapSides   []string          `json:"map_sides"`
	SkipVeto   bool              `json:"skip_veto"`
	Spectators spectators        `json:"spectators"`
	Clinch     bool              `json:"clinch_series"`
	PerTeam    int               `json:"players_per_team"`
	CVars      map[string]string `json:"cvars"`
}

func matchZyOf(m *wire.MatchRecord) matchZy {
	f := matchZy{
		ID:    m.At.Unix(), // the plugin takes a number of at most 31 bits
		Team1: teamOf(m.Sides[0]), Team2: teamOf(m.Sides[1]), NumMaps: len(m.Maps), Maps: m.Maps, SkipVeto: true,
		Spectators: spectators{map[string]string{}}, Clinch: true, PerTeam: perTeam(m), CVars: cvars(m),
	}
	for range m.Maps {
		f.MapSides = append(f.MapSides, "knife")
	}
	return f
}

// tmt2 is the body that opens a match of TMT2, by IMatchCreateDto of its common/types/match.ts.
type tmt2 struct {
	Passthrough   string       `json:"passthrough"`
	MapPool       []string     `json:"mapPool"`
	TeamA         tmt2Team     `json:"teamA"`
	TeamB         tmt2Team     `json:"teamB"`
	ElectionSteps []tmt2Step   `json:"electionSteps"`
	GameServer    *tmt2Server  `json:"gameServer"`
	RCON          tmt2Commands `json:"rconCommands"`
	CanClinch     bool         `json:"canClinch"`
}

type tmt2Team struct {
	Name        string   `json:"name"`
	Passthrough string   `json:"passthrough"`
	IDs         []string `json:"playerSteamIds64"`
}

// tmt2Step plays a map that the captains have already decided.
type tmt2Step struct {
	Map  tmt2Map  `json:"map"`
	Side tmt2Side `json:"side"`
}

type tmt2Map struct {
	Mode  string `json:"mode"`
	Fixed string `json:"fixed"`
}

type tmt2Side struct {
	Mode string `json:"mode"`
}

// tmt2Server is the server. Its RCON password stays empty for the operator to fill in, because
// players do not know it.
type tmt2Server struct {
	IP       string `json:"ip"`
	Port     int    `json:"port"`
	Password string `json:"rconPassword"`
}

type tmt2Commands struct {
	Init []string `json:"init"`
}

func tmt2Of(m *wire.MatchRecord) tmt2 {
	f := tmt2{
		Passthrough: m.ID, MapPool: m.Maps, TeamA: tmt2TeamOf(m.Sides[0]), TeamB: tmt2TeamOf(m.Sides[1]),
		RCON: tmt2Commands{Init: []string{}}, CanClinch: true,
	}
	for _, name := range m.Maps {
		f.ElectionSteps = append(f.ElectionSteps, tmt2Step{tmt2Map{"FIXED", name}, tmt2Side{"KNIFE"}})
	}
	at := url.URL{Host: m.Server.Connect}
	if port, err := strconv.ParseUint(at.Port(), 10, 16); err == nil {
		f.GameServer = &tmt2Server{IP: at.Hostname(), Port: int(port)}
	}
	// Source's console knows no escapes: a quotation mark would end the argument, and a new line the
	// command. The operator sets such a password by hand.
	if m.Password != "" && !strings.ContainsAny(m.Password, "\"\n\r") {
		f.RCON.Init = append(f.RCON.Init, `sv_password "`+m.Password+`"`)
	}
	return f
}

func tmt2TeamOf(s wire.MatchSide) tmt2Team {
	t := tmt2Team{Name: s.Called(), Passthrough: string(s.Side), IDs: []string{}}
	for _, p := range s.Players {
		if p.SteamID != "" {
			t.IDs = append(t.IDs, p.SteamID)
		}
	}
	return t
}
