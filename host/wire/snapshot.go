package wire

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/internal/catalogue"
	"muster/selection"
)

// Snapshot is what everyone may see of a room: no token, no secret, no player's address. Its
// sections change independently. A snapshot never changes once it is made.
type Snapshot struct {
	Room Head `json:"room"`
	// Phase says where the room stands. It is a section of its own, because its times always change.
	Phase Phase `json:"phase"`
	// Games are the games that the organiser may choose, and the room's own if its name is known.
	// They are by far the longest section. So they are separate from the room, which changes five
	// times a second during a search.
	Games   []Game   `json:"games"`
	People  []Person `json:"people"`
	Log     []Note   `json:"log"`
	Choice  *Choice  `json:"choice"`
	WhatIf  *Choice  `json:"whatif"`
	Voting  Voting   `json:"agreement"`
	Way     *Way     `json:"way"`
	History []Played `json:"evening"`
	// Lists are the group's own servers, and the servers that it never wants to see.
	Lists Lists `json:"lists"`
	// Look is the progress of a long look at the finalists; nil without one.
	Look *LongLook `json:"look"`
	// Standing says which servers lead, and where all servers are. It is nil until a player has
	// measured something while a page was open.
	Standing *Standing `json:"standing"`
	// Meeting is a standing room's dates and history; nil in other rooms.
	Meeting *Meeting `json:"meeting"`
	// Places are the candidate places of a round that looks for a place; nil in a round of servers.
	Places *Places `json:"places"`
	// Seats is a wait for seats; nil without one.
	Seats *Seats `json:"seats"`
	// Reactions are the signs that people have sent each other in the last two seconds. They are
	// not saved.
	Reactions []Reaction `json:"reactions"`
	// Match is the state of a match of two sides; nil in other rooms.
	Match *Match `json:"match"`
	// Moving is what becomes of the people since the launch: a proposal to move on, and where people
	// are; nil if there is nothing to say.
	Moving *Moving `json:"moving"`
	// Own are the reader's own pings in a match, where nobody sees another player's. The host adds
	// them for each reader; everyone else's are missing.
	Own Own `json:"own"`
}

// Phase says where a room stands. Its stage is a function of it; see [PhaseName.Stage].
type Phase struct {
	// Name tells the phase from the others.
	Name PhaseName `json:"name"`
	// SinceMS is how long the phase has gone on, in ms of the room's own time, which stands still
	// while the room pauses. LeftMS is how long it still goes on, 0 if that follows from what people
	// do.
	SinceMS int64 `json:"since_ms"`
	LeftMS  int64 `json:"left_ms,omitempty"`
	// Turn is the number of the captains' turn, 0 if they have none.
	Turn int `json:"turn,omitempty"`
}

// PhaseName names a phase, finer than a [Stage].
type PhaseName string

// The phases, in the order of a session.
const (
	PhaseGathering PhaseName = "gathering" // the players come in
	PhaseListing   PhaseName = "listing"   // the host gets the server list
	PhaseMeasuring PhaseName = "measuring" // each player measures the list
	// The host asks the players for servers that could still win.
	PhaseCoordinating PhaseName = "coordinating"
	PhaseVerifying    PhaseName = "verifying" // everyone looks at the best few again
	PhaseVoting       PhaseName = "voting"    // people vote
	PhaseBanning      PhaseName = "banning"   // a match's captains ban and pick
	PhaseReveal       PhaseName = "reveal"    // pages say where people meet
	PhaseCountdown    PhaseName = "countdown" // the last seconds before the launch
	PhaseLaunching    PhaseName = "launching" // everyone is sent to the server
	PhaseWaiting      PhaseName = "waiting"   // the room waits for seats
	PhaseFailed       PhaseName = "failed"    // no server suits everybody
)

// Stage returns the stage of a phase: what programs read that know no phases.
func (n PhaseName) Stage() Stage {
	switch n {
	case PhaseCoordinating:
		return Refining
	case PhaseVerifying, PhaseVoting, PhaseBanning, PhaseReveal, PhaseCountdown:
		return Chosen
	}
	return Stage(n)
}

// Reaction is a sign that a person sends the others while they wait.
type Reaction struct {
	Name string `json:"name"`
	// Sign is hello, yes, heart, go, moment or drink.
	Sign string    `json:"sign"`
	At   time.Time `json:"at"`
}

// LongLook is the progress of a long look.
type LongLook struct {
	// Until is when the look ends.
	Until     time.Time  `json:"until"`
	Finalists []LookedAt `json:"finalists"`
}

// LookedAt is what players have seen of a finalist so far, by name.
type LookedAt struct {
	Addr  string          `json:"addr"`
	Name  string          `json:"name,omitempty"`
	Lines map[string]Line `json:"lines"`
}

// Line describes the path between a player and a server, from the given number of samples: its
// ping, the share of lost packets, the mean difference between successive pings, and the 95th
// percentile of the pings.
type Line struct {
	Sent     int     `json:"sent"`
	RTT      float64 `json:"rtt_ms"`
	Loss     float64 `json:"loss"`
	JitterMS float64 `json:"jitter_ms"`
	WorstMS  float64 `json:"worst_ms"`
}

// Lists are what people have brought into a room for its game.
type Lists struct {
	Favourites []Brought `json:"favourites"`
	Hidden     []Brought `json:"hidden"`
}

// Standing says which servers lead while a round's search goes on, and how many servers each
// country has. It contains no address.
type Standing struct {
	Round int `json:"round"`
	// Leaders are the best servers so far, up to three. Those that everybody has measured come
	// first.
	Leaders []Leader `json:"leaders"`
	// Answered is how many servers have answered any player.
	Answered int     `json:"answered"`
	Places   []Place `json:"places"`
}

// Leader is one of the best servers so far. Its figures, in ms, come from the players who have
// measured it.
type Leader struct {
	// ID tells it from the round's other servers.
	ID int `json:"id"`
	ServerCard
	// Complete says that all players who count have measured it.
	Complete bool    `json:"complete"`
	MeanMS   float64 `json:"mean_ms"`
	MaxMS    float64 `json:"max_ms"`
	StdevMS  float64 `json:"stdev_ms"`
	// FigureMS is the rule's result for the pings.
	FigureMS float64 `json:"figure_ms"`
	// ExtraMS is how far, at most, a player's ping exceeds their own best. It is set if that
	// decides and all have measured the server.
	ExtraMS *float64           `json:"extra_ms,omitempty"`
	RTT     map[string]float64 `json:"rtt_ms"`
	// Predicted are the pings, in ms, that the search expects of players who have not measured the
	// server. It has none if the search knows nothing of the server's neighbours. No figure
	// includes them.
	Predicted map[string]float64 `json:"predicted_ms,omitempty"`
}

// Place counts a country's servers: the listed ones, those of them that have answered a player, and
// those of these that could still win.
type Place struct {
	// Country is an ISO 3166-1 alpha-2 code, empty if it is unknown.
	Country  string `json:"country,omitempty"`
	Listed   int    `json:"listed"`
	Answered int    `json:"answered,omitempty"`
	Open     int    `json:"open,omitempty"`
}

// Room is an update of a room: the sections of its [Snapshot] that have changed, by name. The first
// update that a peer gets has all of them.
type Room map[string]json.RawMessage

// Merge takes over the changed sections. Its error wraps [ErrMalformed].
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

// Players returns the people who have a program running, or had one.
func (s *Snapshot) Players() []Person {
	return slices.DeleteFunc(slices.Clone(s.People), func(p Person) bool { return !p.Peer })
}

// Game is a game that the organiser may choose.
type Game struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Silence says why the game's servers answer nobody, and what players can do instead. It is zero
	// for games that can be measured. Silent is the same in English.
	Silence sentence.Sentence `json:"silence,omitzero"`
	Silent  string            `json:"silent,omitempty"`
}

// Person is a player, a guest with the page, or both.
type Person struct {
	Name string `json:"name"`
	// Arrival is the person's place in the order of arrival, from 0. It is unique in the room and
	// stays for the session, whoever comes or leaves.
	Arrival   int  `json:"arrival,omitempty"`
	Organiser bool `json:"organiser,omitempty"`
	// Guest says that the person has only the page, and has shown only a nickname.
	Guest bool `json:"guest,omitempty"`
	// Peer says that the person has a program running, or had one, and Connected that it is
	// connected. Page says that the person has the page open.
	// Browser says that the page itself measures places: it is the player's program, and starts no game.
	Peer      bool `json:"peer"`
	Browser   bool `json:"browser,omitempty"`
	Connected bool `json:"connected"`
	Page      bool `json:"page"`
	Probed    int  `json:"probed"`
	Answered  int  `json:"answered"`
	Done      bool `json:"done,omitempty"`
	// LeftOut says that the round goes on without this player. Doubt is why the player's
	// measurements do not count.
	LeftOut bool              `json:"left_out,omitempty"`
	Doubt   sentence.Sentence `json:"doubt,omitzero"`
	Launch  LaunchState       `json:"launch,omitempty"`
	Detail  sentence.Sentence `json:"detail,omitzero"`
	Ready   bool              `json:"ready,omitempty"`
	Vetoed  bool              `json:"vetoed,omitempty"`
	Vote    string            `json:"vote,omitempty"`
	// NoSay says that another guest on the same network has the network's vote in this choice.
	NoSay bool `json:"no_say,omitempty"`
	// Asked says that the person is asked to vote at the terminal, too.
	Asked bool `json:"asked,omitempty"`
	// Version is the player's version of the room's game, if they say.
	Version string `json:"version,omitempty"`
	// Estimate says how the choice may count a person without a program; nil for a player.
	Estimate *Estimate `json:"estimate,omitempty"`
	// Able says that the player's machine can start the game, and Unable why it cannot. Both are
	// empty until it has said so.
	Able   bool              `json:"able,omitempty"`
	Unable sentence.Sentence `json:"unable,omitzero"`
	// TypesPassword says that the player has to type the server's password in the game, according
	// to their program.
	TypesPassword bool `json:"types_password,omitempty"`
	// Delays says that the player's program can hold the game's packets; see [Evened].
	Delays bool `json:"delays,omitempty"`
	// Country is roughly where a player is, by the address that the host sees. It is empty if that
	// is unknown, or if the player does not want it shown. It is always empty for a guest.
	Country string `json:"country,omitempty"`
	// Somewhere says that the person does not want their country shown.
	Somewhere bool `json:"somewhere,omitempty"`
	// Side is the person's side in a match.
	Side Side `json:"side,omitempty"`
}

// Estimate is the host's estimate of the pings of a person who does not measure. It uses the place
// of their address, the measurements of players nearby, and what the browser has measured.
type Estimate struct {
	// Counted says that the choice counts the estimate, because the organiser has agreed.
	Counted bool `json:"counted,omitempty"`
	// Measured says that the person's browser has measured places, which the estimate uses.
	Measured bool `json:"measured,omitempty"`
	// ErrorMS is the usual error of such an estimate; 0 if there is none, and then Why says why.
	ErrorMS float64           `json:"error_ms,omitempty"`
	Why     sentence.Sentence `json:"why,omitzero"`
}

// Choice is a ranking, with answers to what people ask about it.
type Choice struct {
	Selection selection.Selection `json:"selection"`
	// Explain says why. A server in it is an argument: its address, or server.at with its name.
	Explain []sentence.Sentence `json:"explain"`
	// Decided says what decided, which may be people's votes; see [selection.Decided].
	Decided *selection.Decided `json:"decided,omitempty"`
	// Miss is the server that came nearest if none suits everyone, and Advice what the organiser
	// can do.
	Miss   *Miss    `json:"miss,omitempty"`
	Advice []Advice `json:"advice,omitempty"`
	// Over is the target if the limit leaves players out of the choice, with their pings. While the
	// organiser can take them along, Advice has a higher limit, and each of them to go without.
	Over *Miss `json:"over,omitempty"`
	// Servers describes the servers that are named, by address.
	Servers map[string]ServerCard `json:"servers"`
	// Player is the player who asked, for a what-if.
	Player string `json:"player,omitempty"`
	// Target is where people go: the first of the ranking, or the server with the most votes.
	Target string `json:"target,omitempty"`
}

// Miss is a server over the limit: as [Choice.Miss] the one that needs the smallest increase of it.
type Miss struct {
	Addr string `json:"addr"`
	// LimitMS is the room's limit, and RTT the players' measurements, in ms.
	LimitMS float64            `json:"limit_ms"`
	RTT     map[string]float64 `json:"rtt_ms"`
}

// Advice is a remedy that only the organiser can choose.
type Advice struct {
	// Action is the action that the page then sends, with the argument as it is. Both tell what the
	// button says, such as "Allow 185 ms".
	Action   string   `json:"action"`
	Argument Argument `json:"argument"`
	// Servers is how many servers would suit then, and Addr the best of them.
	Servers int    `json:"servers,omitempty"`
	Addr    string `json:"addr,omitempty"`
	// Seats is how many seats a wait is for. Max is the most servers that a player's program may
	// then have to ask, 0 for the whole list.
	Seats int `json:"seats,omitempty"`
	Max   int `json:"most,omitempty"`
}

// Argument is the argument of an advice's action: the new limit, the player to leave out, or how
// many more servers to ask.
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
	// Version is the server's version as it says, or its protocols. Mod is the mod that players
	// need.
	Version string `json:"version,omitempty"`
	Mod     string `json:"mod,omitempty"`
	// Other are the players who say that they have another version. Shut are those of them that the
	// server does not admit with it.
	Other      []string `json:"other_version,omitempty"`
	Shut       []string `json:"shut_out,omitempty"`
	Players    int      `json:"players"`
	MaxPlayers int      `json:"max_players"`
	Password   bool     `json:"password,omitempty"`
	Country    string   `json:"country,omitempty"`
	// AsListed says that some of it comes from the list (see [Head.Said]), and not from the server.
	AsListed bool `json:"as_listed,omitempty"`
}

// CardOf returns what people see of a server with this info, which may be nil.
func CardOf(server discovery.Server, info *discovery.Info) ServerCard {
	card := ServerCard{Country: server.Country}
	if info != nil {
		card.Name, card.Map, card.Mode, card.AsListed = info.Name, info.Map, info.Mode, info.AsListed
		card.Version, card.Mod = info.VersionText(), info.Mod
		card.Players, card.MaxPlayers, card.Password = info.Players, info.MaxPlayers, info.Password
	}
	return card
}

// Mark notes which of the players have another version than the server.
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

// MaxVotes says how votes decide. See [Voting.Numbers].
var MaxVotes = sentence.Of("vote.most-votes")

// Voting is people's choice between the candidates, and what they have said so far.
type Voting struct {
	Open bool `json:"open"`
	// Rule says how votes decide. See [Voting.Numbers].
	Rule     sentence.Sentence `json:"rule,omitzero"`
	LaunchAt time.Time         `json:"launch_at,omitzero"`
	Vetoes   []string          `json:"vetoes"`
	// Ballot are the candidates, the best by the room's rule first.
	Ballot []string `json:"ballot"`
	// Numbers are the candidates' numbers, in the order of the ballot. A candidate keeps its number
	// for the round, whichever others are vetoed or found.
	Numbers []int `json:"numbers,omitempty"`
	// Choices are the candidates that differ in a way that players feel, in an order that stays for
	// the round. The others on the ballot are much like one of them.
	Choices []Option `json:"choices,omitempty"`
}

// Option is a choice that people have seen.
type Option struct {
	selection.Alternative
	// Gone says that the server is no candidate any more, and only its place is left. Name is what it
	// is called, and By the person who has vetoed it, if somebody has.
	Gone bool   `json:"gone,omitempty"`
	Name string `json:"name,omitempty"`
	By   string `json:"by,omitempty"`
}

// Number returns the number of the candidate in a place of the ballot; the place itself if the host
// sends no numbers.
func (v *Voting) Number(place int) int {
	if place < len(v.Numbers) {
		return v.Numbers[place]
	}
	return place + 1
}

// Way says where everyone is sent.
type Way struct {
	Connect string `json:"connect"`
	// QueryPort is the server's port for queries, if it differs from the players' port.
	QueryPort uint16 `json:"query_port,omitempty"`
	Server    string `json:"server"`
	// Link opens the server from a browser, if the game has such links.
	Link string `json:"link,omitempty"`
	// Typed says where in the game players type the address, and in which form, if the host knows.
	Typed *Typed `json:"typed,omitempty"`
	// Delay is how players delay their own packets in the game, for even pings in a match; nil if the
	// game has no way that it allows in play.
	Delay *DelayCommand `json:"delay,omitempty"`
	// Transfer is what the server's operator types there to send a {player} to another server, at {host}
	// and {port}; empty if the game has no such command.
	Transfer string `json:"transfer,omitempty"`
	// Region is the region that players set in a game with regions instead of servers. It is nil
	// for a server. If it is set, nobody can play at the address in Connect.
	Region *Region `json:"region,omitempty"`
	// Place is where a server of the group's own is to be; nil for a server. If it is set, there is nothing in
	// Connect yet.
	Place *Candidate `json:"place,omitempty"`
}

// DelayCommand is what players type in a game's console to delay their own packets.
type DelayCommand struct {
	// Command has {ms} in place of the delay.
	Command string `json:"command"`
	// MaxMS is the longest delay that the game takes.
	MaxMS int `json:"most_ms"`
	// Program is the game's program that has the command, if the game has several.
	Program string `json:"program,omitempty"`
}

// Typed is what a player types in a game to get to a server.
type Typed struct {
	// Where is the place: browser, console, direct, favourites, launcher, list or steam. The sentence for it is
	// type.PLACE in the catalogue.
	Where string `json:"where"`
	// Texts has one text for each field or line.
	Texts []string `json:"texts"`
}

// Region is what players of a game with regions set to play together.
type Region struct {
	Name string `json:"name"`
	// Set is what they choose or type, and How says where.
	Set string            `json:"set"`
	How sentence.Sentence `json:"how"`
}

// InEnglish says how players set the region.
func (r *Region) InEnglish() string { return catalogue.InEnglish().Say(r.How) }

// Played is a server that the room has played on.
type Played struct {
	Round   int       `json:"round"`
	At      time.Time `json:"at"`
	Game    string    `json:"game"`
	Server  string    `json:"server"`
	Connect string    `json:"connect"`
	// IsMoved says that most people moved on to it from another server of the round.
	IsMoved bool `json:"moved,omitempty"`
	// IsPlace says that the round has found a place for a server. Connect is its address in lists, which nobody
	// can join.
	IsPlace bool `json:"place,omitempty"`
	// Country is the server's, by ISO 3166-1 alpha-2, if it is known.
	Country string         `json:"country,omitempty"`
	Map     string         `json:"map,omitempty"`
	By      selection.Rule `json:"by"`
	MeanMS  float64        `json:"mean_ms"`
	MaxMS   float64        `json:"max_ms"`
	Players []string       `json:"players"`
	// RTT holds the pings to the server that players measured, without estimates. Voted lists the
	// people who voted in the round.
	RTT   map[string]float64 `json:"rtt_ms,omitempty"`
	Voted []string           `json:"voted,omitempty"`
	// GamePings are the pings in ms that the game's server listed of a match's players.
	GamePings map[string]float64 `json:"game_pings_ms,omitempty"`
	// Excess is by how many ms RTT exceeds what a match's players' lines and earlier evenings suggest.
	Excess map[string]float64 `json:"excess_ms,omitempty"`
	// Match is the match that was played there, as its captains decided it; nil for none.
	Match *Match `json:"match,omitempty"`
}

// CulledServers are the servers culled for one cause: the first few, and how many there are.
type CulledServers struct {
	Cause   string         `json:"cause"`
	Total   int            `json:"total"`
	Servers []CulledServer `json:"servers"`
}

// CulledServer is a server that the group cannot play on.
type CulledServer struct {
	Addr string `json:"addr"`
	ServerCard
	// Players are the players who are the reason.
	Players []string           `json:"on,omitempty"`
	RTT     map[string]float64 `json:"rtt_ms"`
}
