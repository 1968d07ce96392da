package rpc

import (
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/lobby"
	"muster/internal/rpc/jsonrpc"
	"muster/selection"
)

// Party is a room as a party window shows it.
type Party struct {
	Room  int            `json:"room" doc:"the room's number in this program"`
	Code  string         `json:"code" doc:"the room's code"`
	Name  string         `json:"name" doc:"what the room is called"`
	Game  string         `json:"game" doc:"the game's ID"`
	Stage wire.Stage     `json:"stage" doc:"gathering, listing, measuring, refining, chosen, launching, waiting or failed"`
	Phase wire.Phase     `json:"phase" doc:"where the room stands: section phase in PROTOCOL.md"`
	Round int            `json:"round" doc:"the number of the round, from 1 once one has begun"`
	Wants int            `json:"players" doc:"how many players the room starts with by itself; 0: the organiser starts"`
	By    selection.Rule `json:"by" doc:"the rule of the choice"`
	// People are in the order of their arrival.
	People []Guest `json:"people" doc:"who is in the room"`
	// Search is the forecast of a search that goes on.
	Search string `json:"search,omitempty" doc:"how far the search is, in a sentence"`
	Vote   Vote   `json:"vote" doc:"the vote, and the servers that people choose between"`
	// Chosen is where the room goes.
	Chosen *GameServer `json:"chosen,omitempty" doc:"the server that was chosen"`
	Why    []string    `json:"why,omitempty" doc:"why it was chosen, or why none was, a sentence each"`
	// Connect is set once everyone is sent there.
	Connect string      `json:"connect,omitempty" doc:"the address for the game, once everyone is sent there"`
	Match   *wire.Match `json:"match,omitempty" doc:"the match, in a room of two sides: section match in PROTOCOL.md"`
	Seats   *wire.Seats `json:"seats,omitempty" doc:"the wait for free seats: section seats in PROTOCOL.md"`
	Retry   *time.Time  `json:"retry,omitempty" doc:"when a failed room tries again by itself"`
	Ended   *time.Time  `json:"ended,omitempty" doc:"when the organiser ended the session"`
	// Missed counts the states that this one has replaced before they could be written.
	Missed int `json:"missed,omitempty" doc:"how many states before this one were left out, because nobody read them"`
}

// Guest is a person in a room.
type Guest struct {
	Name      string           `json:"name" doc:"the person's name"`
	Organiser bool             `json:"organiser,omitempty" doc:"the person may steer the room"`
	Program   bool             `json:"program" doc:"the person has a program that measures"`
	Connected bool             `json:"connected" doc:"that program is connected"`
	Asked     int              `json:"asked" doc:"how many servers it has asked in this round"`
	Answered  int              `json:"answered" doc:"how many of these have answered"`
	LeftOut   bool             `json:"left_out,omitempty" doc:"the round goes on without this player"`
	Ready     bool             `json:"ready,omitempty" doc:"the person is ready to go"`
	Vote      string           `json:"vote,omitempty" doc:"the address that the person votes for"`
	Launch    wire.LaunchState `json:"launch,omitempty" doc:"how the start of the game goes: asking, launched, declined, by-hand or failed"`
	Detail    string           `json:"detail,omitempty" doc:"why it failed"`
	Side      wire.Side        `json:"side,omitempty" doc:"the person's side in a match: a or b"`
}

// Vote is what people choose between.
type Vote struct {
	Open     bool         `json:"open" doc:"people can vote now"`
	LaunchAt *time.Time   `json:"launch_at,omitempty" doc:"when everyone goes, once all are ready"`
	Servers  []GameServer `json:"servers" doc:"the candidates, the best by the room's rule first"`
}

// GameServer is a game server that people may go to.
type GameServer struct {
	Number     int                `json:"number,omitempty" doc:"the candidate's number, which stays for the round"`
	Addr       string             `json:"addr" doc:"its address"`
	Name       string             `json:"name" doc:"what it is called"`
	Map        string             `json:"map,omitempty" doc:"the map that is played"`
	Country    string             `json:"country,omitempty" doc:"the country it is in, by ISO 3166-1"`
	Players    int                `json:"players" doc:"how many play there"`
	MaxPlayers int                `json:"max_players" doc:"how many may play there"`
	Password   bool               `json:"password,omitempty" doc:"it wants a password"`
	MeanMS     float64            `json:"mean_ms" doc:"the group's average ping"`
	MaxMS      float64            `json:"max_ms" doc:"the group's worst ping"`
	RTT        map[string]float64 `json:"rtt_ms,omitempty" doc:"each player's ping"`
}

// partyOf returns a room as a party window shows it, in a language.
func partyOf(number int, s wire.Snapshot, l *catalogue.Language) Party {
	p := Party{
		Room: number, Code: s.Room.Code, Name: s.Room.Name, Game: s.Room.Game, Stage: s.Room.Stage, Phase: s.Phase, Round: s.Room.Round,
		Wants: s.Room.Players, By: s.Room.By, People: []Guest{}, Match: s.Match, Seats: s.Seats,
		Vote:  Vote{Open: s.Voting.Open, LaunchAt: unlessZero(s.Voting.LaunchAt), Servers: []GameServer{}},
		Retry: unlessZero(s.Room.Retry), Ended: unlessZero(s.Room.Ended),
	}
	if s.Room.Search != nil {
		p.Search = l.Say(s.Room.Forecast)
	}
	for _, one := range s.People {
		p.People = append(p.People, Guest{
			Name: one.Name, Organiser: one.Organiser, Program: one.Peer, Connected: one.Connected, Asked: one.Probed,
			Answered: one.Answered, LeftOut: one.LeftOut, Ready: one.Ready, Vote: one.Vote, Launch: one.Launch,
			Detail: l.Say(one.Detail), Side: one.Side,
		})
	}
	for _, c := range lobby.Candidates(s) {
		p.Vote.Servers = append(p.Vote.Servers, serverOf(c.Number, c.Ranked, c.Card, c.Name))
	}
	if s.Choice == nil {
		return p
	}
	p.Why = l.SayAll(s.Choice.Explain)
	if chosen := s.Choice.Selection.Chosen; chosen != nil {
		addr := chosen.Addr.String()
		card := s.Choice.Servers[addr]
		one := serverOf(0, *chosen, card, discovery.CleanText(card.Name))
		p.Chosen = &one
	}
	if s.Way != nil {
		p.Connect = s.Way.Connect
	}
	return p
}

func serverOf(number int, r selection.Ranked, card wire.ServerCard, name string) GameServer {
	return GameServer{
		Number: number, Addr: r.Addr.String(), Name: name, Map: card.Map, Country: card.Country, Players: card.Players,
		MaxPlayers: card.MaxPlayers, Password: card.Password, MeanMS: r.MeanMS, MaxMS: r.MaxMS, RTT: r.RTT,
	}
}

// unlessZero returns nil for the zero time.
func unlessZero(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// After counts the states that nobody has read.
func (p Party) After(older jsonrpc.News) jsonrpc.News {
	p.Missed += older.(Party).Missed + 1
	return p
}
