package wire

import (
	"slices"
	"time"

	"muster/discovery/sentence"
	"muster/internal/catalogue"
	"muster/selection"
)

// Document is the room that GET /api/rooms/CODE returns. Programs have read it since the first
// release.
type Document struct {
	Code string `json:"code"`
	Name string `json:"name"`
	Game string `json:"game"`
	// GameName is what people call the game.
	GameName string `json:"game_name,omitempty"`
	// Message says where the room stands, in a sentence. Go takes a browser to the game server once the
	// room has launched, and admits nobody to the room; only public hosts have it. The host that answers
	// fills both in.
	Message string `json:"message,omitempty"`
	Go      string `json:"go,omitempty"`
	Stage   Stage  `json:"stage"`
	// Phase says where the room stands. Stage is a function of the phase.
	Phase Phase `json:"phase"`
	Round int   `json:"round"`
	// Seats is how many players the group waits for, 0 if the organiser decides when to start.
	Seats    int            `json:"players"`
	By       selection.Rule `json:"by"`
	MaxRTTMs float64        `json:"max_rtt_ms,omitempty"`
	// Wishes are the criteria for what a server reports.
	selection.Wishes
	// Open says that joining needs no code.
	Open    bool     `json:"open,omitempty"`
	Listed  int      `json:"listed"`
	Members []Member `json:"members"`
	// Search is the progress of a coordinated search, while it goes on.
	Search *Search `json:"search,omitempty"`
	// Selection is the choice and its reasons, once there is one.
	Selection *selection.Selection `json:"selection,omitempty"`
	// Ballot has the servers that people vote on, the best by the room's rule first.
	Ballot []Nominee `json:"ballot,omitempty"`
	// Seeks is what the room looks for; see [Settings.Seeks]. Places are the candidates of a round that looks for
	// a place, and Place is the one that it has found.
	Seeks  string     `json:"seeks,omitempty"`
	Places *Places    `json:"places,omitempty"`
	Place  *Candidate `json:"place,omitempty"`
	// Lists are the servers that people have brought, if any. Look is the progress of a long look
	// at the finalists, while it goes on.
	Lists *Lists    `json:"lists,omitempty"`
	Look  *LongLook `json:"look,omitempty"`
	// Connect is the chosen server's address for the game, and Server its name, once everyone is
	// sent there. QueryPort is its port for queries, if that differs.
	Connect   string `json:"connect,omitempty"`
	QueryPort uint16 `json:"query_port,omitempty"`
	Server    string `json:"server,omitempty"`
	// Held says what everything waits for while the host cannot save the room. Another host may have the
	// room by then, and show a newer state.
	Held sentence.Sentence `json:"held,omitzero"`
	// Log has what the host decided and why, oldest first.
	Log []Note `json:"log"`
}

// Member is one player of a room.
type Member struct {
	Name      string `json:"name"`
	Organiser bool   `json:"organiser,omitempty"`
	Connected bool   `json:"connected"`
	Probed    int    `json:"probed"`
	Answered  int    `json:"answered"`
	Done      bool   `json:"done"`
	// LeftOut says that the round goes on without this player.
	LeftOut bool `json:"left_out,omitempty"`
	// Vote is the address that the player votes for, and Ready says that the player is ready to go.
	Vote   string      `json:"vote,omitempty"`
	Ready  bool        `json:"ready,omitempty"`
	Launch LaunchState `json:"launch,omitempty"`
	Detail string      `json:"detail,omitempty"`
}

// Nominee is a server on the ballot.
type Nominee struct {
	// Number is the server's number for the whole round.
	Number int `json:"number"`
	// Addr is the server's address, and Name what it is called.
	Addr string `json:"addr"`
	Name string `json:"name"`
}

// Document returns the snapshot in the form that programs read.
func (s Snapshot) Document() Document {
	room := Document{
		Code: s.Room.Code, Name: s.Room.Name, Game: s.Room.Game, Stage: s.Room.Stage, Phase: s.Phase, Round: s.Room.Round,
		Seats: s.Room.Players, By: s.Room.By, Wishes: s.Room.Wishes,
		Open: s.Room.Open, Listed: s.Room.Listed, Members: []Member{}, Search: s.Room.Search, Held: s.Room.Held, Log: s.Log,
	}
	if at := slices.IndexFunc(s.Games, func(g Game) bool { return g.ID == room.Game }); at >= 0 {
		room.GameName = s.Games[at].Name
	}
	if n := len(s.Room.Limits); n > 0 {
		room.MaxRTTMs = float64(s.Room.Limits[n-1]) / float64(time.Millisecond)
	}
	if s.Choice != nil {
		room.Selection = &s.Choice.Selection
	}
	if s.Voting.Open {
		for i, addr := range s.Voting.Ballot {
			one := Nominee{Number: s.Voting.Number(i), Addr: addr}
			if s.Choice != nil {
				one.Name = s.Choice.Servers[addr].Name
			}
			room.Ballot = append(room.Ballot, one)
		}
	}
	room.Look, room.Seeks, room.Places = s.Look, s.Room.Seeks, s.Places
	if len(s.Lists.Favourites)+len(s.Lists.Hidden) > 0 {
		room.Lists = &s.Lists
	}
	if s.Way != nil {
		room.Connect, room.QueryPort, room.Server, room.Place = s.Way.Connect, s.Way.QueryPort, s.Way.Server, s.Way.Place
	}
	for _, p := range s.Players() {
		room.Members = append(room.Members, Member{
			Name: p.Name, Organiser: p.Organiser, Connected: p.Connected, Probed: p.Probed, Answered: p.Answered,
			Done: p.Done, LeftOut: p.LeftOut, Vote: p.Vote, Ready: p.Ready, Launch: p.Launch, Detail: catalogue.InEnglish().Say(p.Detail),
		})
	}
	return room
}
