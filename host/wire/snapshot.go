package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"muster/discovery"
	"muster/selection"
	"muster/selection/rules"
)

// Snapshot is what everyone may see of a room, in sections that change apart from
// each other: no token, no secret, no address of a player. It is never changed
// once it is made.
type Snapshot struct {
	Room Head `json:"room"`
	// Games are those that the organiser may choose, and the room's own if its name is
	// known: apart from the room, which changes five times a second during a search, as
	// they are by far the longest.
	Games   []Game   `json:"games"`
	People  []Person `json:"people"`
	Log     []Note   `json:"log"`
	Choice  *Choice  `json:"choice"`
	WhatIf  *Choice  `json:"whatif"`
	Voting  Voting   `json:"agreement"`
	Way     *Way     `json:"way"`
	History []Played `json:"evening"`
	// Lists are the group's own servers, and those that it never wants to see.
	Lists Lists `json:"lists"`
	// Look is how far a long look at the finalists is; nil without one.
	Look *LongLook `json:"look"`
	// Form is how the organiser changes the settings.
	Form []Field `json:"form"`
	// Standing is who leads, and where everything is; nil before anybody has measured
	// anything while a page was open.
	Standing *Standing `json:"standing"`
	// Meeting is what a standing room shows of its evenings; nil of others.
	Meeting *Meeting `json:"meeting"`
	// Sites is what servers at candidate places would be like; nil before anybody was asked.
	Sites *Sites `json:"sites"`
	// Seats is a wait for seats; nil without one.
	Seats *Seats `json:"seats"`
}

// LongLook is how far a long look is.
type LongLook struct {
	// Until is when it is over.
	Until     time.Time  `json:"until"`
	Finalists []LookedAt `json:"finalists"`
}

// LookedAt is what players have seen of a finalist so far, by name.
type LookedAt struct {
	Addr  string          `json:"addr"`
	Name  string          `json:"name,omitempty"`
	Lines map[string]Line `json:"lines"`
}

// Line is what so many samples showed of the way between a player and a server: its ping,
// the share of packets that got lost, the mean difference between successive pings, and
// the ping that 95 of 100 kept.
type Line struct {
	Sent     int     `json:"sent"`
	RTT      float64 `json:"rtt_ms"`
	Loss     float64 `json:"loss"`
	JitterMS float64 `json:"jitter_ms"`
	WorstMS  float64 `json:"worst_ms"`
}

// Lists are what people have brought into a room, for its game.
type Lists struct {
	Favourites []Brought `json:"favourites"`
	Hidden     []Brought `json:"hidden"`
}

// Standing is who leads while a round's search goes on, and where its servers are by the
// table of countries. It says no address.
type Standing struct {
	Round int `json:"round"`
	// Leaders are the best so far, up to three; first those that everybody has measured.
	Leaders []Leader `json:"leaders"`
	// Answered is how many servers have answered somebody.
	Answered int     `json:"answered"`
	Places   []Place `json:"places"`
}

// Leader is one of the best servers so far. Its figures, in ms, are of those who have
// measured it.
type Leader struct {
	// ID tells it from the round's other servers.
	ID int `json:"id"`
	ServerCard
	// Complete: all who count have measured it.
	Complete bool    `json:"complete"`
	MeanMS   float64 `json:"mean_ms"`
	MaxMS    float64 `json:"max_ms"`
	StdevMS  float64 `json:"stdev_ms"`
	// FigureMS is what the rule makes of the pings.
	FigureMS float64 `json:"figure_ms"`
	// ExtraMS is by how much, at most, anybody's ping is over their own best, where that
	// decides and all have measured it.
	ExtraMS *float64           `json:"extra_ms,omitempty"`
	RTT     map[string]float64 `json:"rtt_ms"`
	// Predicted are the pings, in ms, that the search expects of players who have not
	// measured it: none where it knows nothing of the server's neighbours. No figure counts
	// them.
	Predicted map[string]float64 `json:"predicted_ms,omitempty"`
}

// Place is how many servers a country has: listed, and of these such as answered
// somebody, and of these such as could still win.
type Place struct {
	// Country is an ISO 3166-1 alpha-2 code, empty if it is not known.
	Country  string `json:"country,omitempty"`
	Listed   int    `json:"listed"`
	Answered int    `json:"answered,omitempty"`
	Open     int    `json:"open,omitempty"`
}

// Room is what is new of a room: the sections of its [Snapshot] that have changed,
// by their names. The first that a peer is sent has them all.
type Room map[string]json.RawMessage

// Merge takes over the sections that are new. Its error wraps [ErrMalformed].
func (s *Snapshot) Merge(news Room) error {
	sections := reflect.ValueOf(s).Elem()
	for i := range sections.NumField() {
		data, is := news[sections.Type().Field(i).Tag.Get("json")]
		if !is {
			continue
		}
		section := reflect.New(sections.Field(i).Type())
		if err := json.Unmarshal(data, section.Interface()); err != nil {
			return fmt.Errorf("%w: room: %v", ErrMalformed, err)
		}
		cleanTexts(section)
		sections.Field(i).Set(section.Elem())
	}
	return nil
}

// Players are the people who have a program running, or had.
func (s *Snapshot) Players() []Person {
	return slices.DeleteFunc(slices.Clone(s.People), func(p Person) bool { return !p.Peer })
}

// Head is where a room stands, and what the organiser wants.
type Head struct {
	Code string `json:"code"`
	Settings
	Stage Stage `json:"stage"`
	// Since is when the stage began, Began when the round's measuring did.
	Since  time.Time `json:"since"`
	Began  time.Time `json:"began,omitzero"`
	Round  int       `json:"round"`
	Locked bool      `json:"locked"`
	// Own is how long the organiser's own list is, 0 if the game's is taken.
	Own int `json:"own,omitempty"`
	// Candidates are the names of the places where a server could be.
	Candidates []string `json:"candidates,omitempty"`
	Listed     int      `json:"listed"`
	// MostAsked is how many servers of the list each player's program is asked to ask in the
	// round at most, 0 for all of them.
	MostAsked int `json:"most_asked,omitempty"`
	// Said is from when the word of the list is on servers that say little themselves.
	Said time.Time `json:"said,omitzero"`
	// Paused: most players fell silent together, and the room waits for them. Retry is
	// when a room that failed tries again by itself, if it does.
	Paused bool      `json:"paused,omitempty"`
	Retry  time.Time `json:"retry,omitzero"`
	// Ended is when the night ended: this is the last that is shown, unless the room is a
	// standing one, which sleeps.
	Ended time.Time `json:"ended,omitzero"`
	// Held is what everything waits for while the host cannot keep what happens, in a
	// sentence.
	Held string `json:"held,omitempty"`
	// Posts is how the room's announcements fare; nil without a webhook.
	Posts *Posts `json:"posts,omitempty"`
	// Search is how far a coordinated search is, while it goes on, and Outlook the
	// same in a sentence.
	Search  *Search `json:"search,omitempty"`
	Outlook string  `json:"outlook,omitempty"`
}

// Search is how far a coordinated search is.
type Search struct {
	Rounds int `json:"rounds"`
	// Found: a server that suits everyone was measured by all. The best so far has
	// these RTTs in ms.
	Found   bool    `json:"found"`
	MeanMS  float64 `json:"mean_ms"`
	MaxMS   float64 `json:"max_ms"`
	StdevMS float64 `json:"stdev_ms"`
	// FigureMS is what the rule makes of them.
	FigureMS float64 `json:"figure_ms,omitempty"`
	// ExtraMS is by how much, at most, anybody's ping is over their own best, where that
	// decides. OwnMS is how much more that may truly be, as a nearer server of somebody's
	// was not found, as far as the host can tell.
	ExtraMS *float64 `json:"extra_ms,omitempty"`
	OwnMS   float64  `json:"own_ms,omitempty"`
	// GainMS is how much better a server may yet be found, as far as the host can
	// tell; nil before it can.
	GainMS *float64 `json:"gain_ms,omitempty"`
	// ReachMS is a limit stricter than what the best so far keeps that a server may yet
	// be found to keep for everybody; 0 if none is likely. GainMS is of servers that do
	// not.
	ReachMS float64 `json:"reach_ms,omitempty"`
}

// Sentence is the search in a room with such a rule, in words.
func (s *Search) Sentence(by selection.Rule) string {
	if !s.Found {
		return "no server suits everyone so far"
	}
	best := rules.Of(by).Words.SoFar(rules.Figures{Mean: s.MeanMS, Worst: s.MaxMS, Figure: s.FigureMS})
	if s.OwnMS > 0 {
		best += fmt.Sprintf(", or %.0f if somebody has a nearer one yet", math.Ceil(s.FigureMS+s.OwnMS))
	}
	if s.GainMS == nil {
		return "best so far, " + best
	}
	return "best so far, " + best + "; " + s.outlook()
}

// GoesOn is what may come of a search that goes on although the choice stands, in words;
// empty before that can be told.
func (s *Search) GoesOn() string {
	if s.GainMS == nil {
		return ""
	}
	return "the search goes on: " + s.outlook()
}

// outlook is what could yet be found, in words.
func (s *Search) outlook() string {
	gain := fmt.Sprintf("at most %.0f ms better could be found", math.Ceil(*s.GainMS))
	if s.ReachMS > 0 {
		gain += fmt.Sprintf(", or a server within %.0f ms for everyone", s.ReachMS)
	}
	return gain
}

// Game is a game that the organiser may choose.
type Game struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Silent is why its servers answer nobody, and what players can do instead, in
	// sentences; empty of games that can be measured.
	Silent string `json:"silent,omitempty"`
}

// Person is a player, a guest with the page, or both.
type Person struct {
	Name string `json:"name"`
	// Arrival is the person's place in the order of arrival, from 0: nobody else in the
	// room has it, and it stays for the evening, whoever comes or leaves.
	Arrival   int  `json:"arrival,omitempty"`
	Organiser bool `json:"organiser,omitempty"`
	// Guest: has only the page, and has shown nothing but a nickname.
	Guest bool `json:"guest,omitempty"`
	// Peer: has a program running, or had; Connected: it is connected. Page: has the
	// page open.
	Peer      bool `json:"peer"`
	Connected bool `json:"connected"`
	Page      bool `json:"page"`
	Probed    int  `json:"probed"`
	Answered  int  `json:"answered"`
	Done      bool `json:"done,omitempty"`
	// LeftOut: the round goes on without this player. Doubt is why the player's
	// numbers do not count.
	LeftOut bool        `json:"left_out,omitempty"`
	Doubt   string      `json:"doubt,omitempty"`
	Launch  LaunchState `json:"launch,omitempty"`
	Detail  string      `json:"detail,omitempty"`
	Ready   bool        `json:"ready,omitempty"`
	Vetoed  bool        `json:"vetoed,omitempty"`
	Vote    string      `json:"vote,omitempty"`
	// NoSay: another guest on the same network has the network's say in this choice.
	NoSay bool `json:"no_say,omitempty"`
	// Asked: is asked to vote at the terminal, too.
	Asked bool `json:"asked,omitempty"`
	// Version is what the player has of the room's game, as far as they say.
	Version string `json:"version,omitempty"`
	// Estimate is how one without a program may be counted in; nil of a player.
	Estimate *Estimate `json:"estimate,omitempty"`
	// Able: the player's machine can start the game; Unable is why not. Both are empty
	// before it has said so.
	Able   bool   `json:"able,omitempty"`
	Unable string `json:"unable,omitempty"`
	// TypesPassword: the player types a server's password in the game, as the program says.
	TypesPassword bool `json:"types_password,omitempty"`
	// Country is about where a player is, by the address that the host sees; empty if that
	// is not known, or the player does not want it told. Of a guest it is nobody's business.
	Country string `json:"country,omitempty"`
	// Somewhere: the person does not want it told.
	Somewhere bool `json:"somewhere,omitempty"`
}

// Estimate is what the host can tell of the pings of somebody who does not measure them,
// by where their address is and what players nearby measure.
type Estimate struct {
	// Counted: the choice counts them, as the organiser has agreed.
	Counted bool `json:"counted,omitempty"`
	// ErrorMS is by how much such an estimate is usually off; 0 if there is none, and Why
	// says why not.
	ErrorMS float64 `json:"error_ms,omitempty"`
	Why     string  `json:"why,omitempty"`
}

// Choice is a ranking with what people ask about it.
type Choice struct {
	Selection selection.Selection `json:"selection"`
	Explain   []string            `json:"explain"`
	// Decided is what decided, which may be people's votes; see [selection.Decided].
	Decided *selection.Decided `json:"decided,omitempty"`
	// Miss is what came nearest where nothing suits everyone, and Advice what the organiser
	// can do.
	Miss   *Miss    `json:"miss,omitempty"`
	Advice []Advice `json:"advice,omitempty"`
	// Servers says what is known of the servers that are named, by address.
	Servers map[string]ServerCard `json:"servers"`
	// Player is who asked, for a what-if.
	Player string `json:"player,omitempty"`
	// Target is where people go: the first of the ranking, or who has most votes.
	Target string `json:"target,omitempty"`
}

// Miss is the server that only a higher limit would let in, with the least of those.
type Miss struct {
	Addr string `json:"addr"`
	// LimitMS is the room's limit, and RTT what players measured, in ms.
	LimitMS float64            `json:"limit_ms"`
	RTT     map[string]float64 `json:"rtt_ms"`
}

// Advice is a way out, which only the organiser can take.
type Advice struct {
	// Text is what a button for it says, such as "allow 185 ms".
	Text string `json:"text"`
	// Action is what the page orders then, with the argument as it is.
	Action   string   `json:"action"`
	Argument Argument `json:"argument"`
	// Servers is how many would suit then, and Addr the best of them.
	Servers int    `json:"servers,omitempty"`
	Addr    string `json:"addr,omitempty"`
}

// Argument is the order that goes with an advice: the new limit, or who has no say, or how
// many servers more are to be asked.
type Argument struct {
	LimitMS int    `json:"limit_ms,omitempty"`
	Name    string `json:"name,omitempty"`
	Servers int    `json:"servers,omitempty"`
}

// ServerCard is what people see of a game server.
type ServerCard struct {
	Name string `json:"name"`
	Map  string `json:"map,omitempty"`
	Mode string `json:"mode,omitempty"`
	// Version is what the server says of it, or its protocols; Mod what players need.
	Version string `json:"version,omitempty"`
	Mod     string `json:"mod,omitempty"`
	// Other are the players who have another version, as far as they say, and Shut those
	// of them whom the server does not let in with it.
	Other      []string `json:"other_version,omitempty"`
	Shut       []string `json:"shut_out,omitempty"`
	Players    int      `json:"players"`
	MaxPlayers int      `json:"max_players"`
	Password   bool     `json:"password,omitempty"`
	Country    string   `json:"country,omitempty"`
	// AsListed: some of it is what the list says (see [Head.Said]), and not the server.
	AsListed bool `json:"as_listed,omitempty"`
}

// CardOf returns what people see of a server that says of itself what info has, if anything.
func CardOf(server discovery.Server, info *discovery.Info) ServerCard {
	card := ServerCard{Country: server.Country}
	if info != nil {
		card.Name, card.Map, card.Mode, card.AsListed = info.Name, info.Map, info.Mode, info.AsListed
		card.Version, card.Mod = info.VersionText(), info.Mod
		card.Players, card.MaxPlayers, card.Password = info.Players, info.MaxPlayers, info.Password
	}
	return card
}

// Mark says which of some players have another version than a server.
func (card *ServerCard) Mark(info *discovery.Info, players []selection.Edition) {
	if info == nil {
		return
	}
	for _, e := range players {
		switch info.Fit(e.Edition) {
		case discovery.Differs:
			card.Other = append(card.Other, e.Player)
		case discovery.Shuts:
			card.Other, card.Shut = append(card.Other, e.Player), append(card.Shut, e.Player)
		}
	}
}

// MostVotes is how votes decide. See [Voting.Numbers].
const MostVotes = "most votes win; a tie goes to the lower number"

// Voting is what people may say of the choice, and have said.
type Voting struct {
	Open bool `json:"open"`
	// Rule is how votes decide, in a sentence.
	Rule     string    `json:"rule,omitempty"`
	LaunchAt time.Time `json:"launch_at,omitzero"`
	Vetoes   []string  `json:"vetoes"`
	// Ballot are the candidates, the best by the room's rule first.
	Ballot []string `json:"ballot"`
	// Numbers are what the candidates are called, in the order of the ballot. A candidate
	// keeps its number for the round, whoever is vetoed or turns up.
	Numbers []int `json:"numbers,omitempty"`
}

// Number returns what the candidate in a place of the ballot is called. A host of an
// earlier release numbers none, and its candidates are called by their places.
func (v *Voting) Number(place int) int {
	if place < len(v.Numbers) {
		return v.Numbers[place]
	}
	return place + 1
}

// Way is where everyone is sent.
type Way struct {
	Connect string `json:"connect"`
	// QueryPort is where the server is asked, if that is another port than players connect to.
	QueryPort uint16 `json:"query_port,omitempty"`
	Server    string `json:"server"`
	// Link takes a browser there, if the game has such links.
	Link string `json:"link,omitempty"`
}

// Played is a server that the room went to.
type Played struct {
	Round   int            `json:"round"`
	At      time.Time      `json:"at"`
	Game    string         `json:"game"`
	Server  string         `json:"server"`
	Connect string         `json:"connect"`
	Map     string         `json:"map,omitempty"`
	By      selection.Rule `json:"by"`
	MeanMS  float64        `json:"mean_ms"`
	MaxMS   float64        `json:"max_ms"`
	Players []string       `json:"players"`
}

// CulledServers is who was culled for one cause: the first few, and how many in all.
type CulledServers struct {
	Cause   string         `json:"cause"`
	Total   int            `json:"total"`
	Servers []CulledServer `json:"servers"`
}

// CulledServer is a server that is no use to the group.
type CulledServer struct {
	Addr string `json:"addr"`
	ServerCard
	// Players are those on whose account.
	Players []string           `json:"on,omitempty"`
	RTT     map[string]float64 `json:"rtt_ms"`
}
