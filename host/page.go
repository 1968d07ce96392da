package host

import (
	"fmt"
	"strings"
	"time"

	"muster/host/wire"
	"muster/selection"
)

// pageRoom is the room's head on the page.
type pageRoom struct {
	Code     string         `json:"code"`
	Name     string         `json:"name"`
	Game     string         `json:"game"`
	Games    []Choice       `json:"games"`
	Stage    wire.Stage     `json:"stage"`
	Since    time.Time      `json:"since"`
	Began    time.Time      `json:"began,omitzero"`
	Round    int            `json:"round"`
	Seats    int            `json:"players"`
	By       selection.Rule `json:"by"`
	LimitsMS []float64      `json:"limits_ms"`
	Map      string         `json:"map"`
	Mode     string         `json:"mode"`
	Strategy string         `json:"strategy"`
	Agree    bool           `json:"agree"`
	Locked   bool           `json:"locked"`
	Listed   int            `json:"listed"`
	// Outlook is how far a coordinated search is, in a sentence.
	Outlook string `json:"outlook,omitempty"`
}

// Choice is a game that the organiser may choose.
type Choice struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// pagePerson is a player, a guest, or both.
type pagePerson struct {
	Name      string `json:"name"`
	Organiser bool   `json:"organiser,omitempty"`
	Peer      bool   `json:"peer"`
	Connected bool   `json:"connected"`
	Page      bool   `json:"page"`
	Probed    int    `json:"probed"`
	Answered  int    `json:"answered"`
	Done      bool   `json:"done,omitempty"`
	LeftOut   bool   `json:"left_out,omitempty"`
	// Doubt is why the numbers do not count.
	Doubt  string           `json:"doubt,omitempty"`
	Launch wire.LaunchState `json:"launch,omitempty"`
	Detail string           `json:"detail,omitempty"`
	Ready  bool             `json:"ready,omitempty"`
	Vetoed bool             `json:"vetoed,omitempty"`
	Vote   string           `json:"vote,omitempty"`
}

// pageChoice is a ranking with what people ask about it.
type pageChoice struct {
	Selection selection.Selection `json:"selection"`
	Explain   []string            `json:"explain"`
	// Servers says what is known of the servers that are named, by address.
	Servers map[string]pageServer `json:"servers"`
	// Player is who asked, for a what-if.
	Player string `json:"player,omitempty"`
	// Target is where people go: the first of the ranking, or who has most votes.
	Target string `json:"target,omitempty"`
}

type pageServer struct {
	Name       string `json:"name"`
	Map        string `json:"map,omitempty"`
	Mode       string `json:"mode,omitempty"`
	Players    int    `json:"players"`
	MaxPlayers int    `json:"max_players"`
	Password   bool   `json:"password,omitempty"`
	Country    string `json:"country,omitempty"`
}

type pageAgreement struct {
	Open     bool      `json:"open"`
	LaunchAt time.Time `json:"launch_at,omitzero"`
	Vetoes   []string  `json:"vetoes"`
	Ballot   []string  `json:"ballot"`
}

type pageWay struct {
	Connect string `json:"connect"`
	Server  string `json:"server"`
	Link    string `json:"link,omitempty"`
}

// pageState are the values of the sections, by name.
func (r *Room) pageState(config *Config) []namedValue {
	return []namedValue{
		{"room", r.pageRoom(config.Games)},
		{"people", r.pagePeople()},
		{"log", r.Log},
		{"choice", r.pageChoice()},
		{"whatif", r.pageWhatIf()},
		{"agreement", r.pageAgreement()},
		{"way", r.pageWay(config.ConnectLink)},
		{"evening", r.Evening},
	}
}

type namedValue struct {
	name  string
	value any
}

func (r *Room) pageRoom(games []Choice) pageRoom {
	s := r.Settings
	head := pageRoom{
		Code: r.Code, Name: s.Name, Game: s.Game, Games: games, Stage: r.Stage, Since: r.Since, Began: r.Measuring, Round: r.Round,
		Seats: s.Players, By: s.By, LimitsMS: []float64{}, Map: s.Map, Mode: s.Mode, Strategy: s.Strategy,
		Agree: s.Agree, Locked: r.Locked, Listed: len(r.Servers),
	}
	if search := r.searchView(); search != nil {
		head.Outlook = search.Sentence(s.By)
	}
	for _, limit := range s.Limits {
		head.LimitsMS = append(head.LimitsMS, float64(limit)/float64(time.Millisecond))
	}
	return head
}

// pagePeople are the players first, then those with only a page.
func (r *Room) pagePeople() []pagePerson {
	people, knows := []pagePerson{}, r.progress()
	for _, m := range r.Members {
		p := pagePerson{
			Name: m.Name, Organiser: m.Organiser, Peer: true, Connected: m.Connected, Probed: knows[m].probed, Answered: knows[m].answered,
			Done: m.Done, LeftOut: m.LeftOut, Launch: m.Launch, Detail: m.Detail,
		}
		if m.Doubt != nil {
			p.Doubt = m.Doubt.String()
		}
		p.addGuest(r.guest(m.Name))
		people = append(people, p)
	}
	for _, g := range r.Guests {
		if r.member(g.Name) == nil {
			p := pagePerson{Name: g.Name}
			p.addGuest(g)
			people = append(people, p)
		}
	}
	return people
}

func (p *pagePerson) addGuest(g *Guest) {
	if g == nil {
		return
	}
	p.Page, p.Ready, p.Vetoed = g.Pages > 0, g.Ready, g.Vetoed
	p.Organiser = p.Organiser || g.Organiser
	if g.Vote.IsValid() {
		p.Vote = g.Vote.String()
	}
	if g.ByHand && p.Launch != wire.LaunchStarted {
		p.Launch, p.Detail = wire.LaunchByHand, ""
	}
}

func (r *Room) pageChoice() *pageChoice {
	if r.Selection == nil {
		return nil
	}
	c := r.choiceOf(*r.Selection)
	if r.Launch != nil {
		c.Target = r.Target.String()
	} else if r.Selection.Chosen != nil {
		c.Target = r.favourite().Addr.String()
	}
	return c
}

func (r *Room) pageWhatIf() *pageChoice {
	if r.WhatIf == nil {
		return nil
	}
	c := r.choiceOf(r.WhatIf.Selection)
	c.Player = r.WhatIf.Player
	return c
}

func (r *Room) choiceOf(s selection.Selection) *pageChoice {
	c := &pageChoice{Selection: s, Explain: s.Explain(), Servers: map[string]pageServer{}}
	c.Selection.Reasons = nil // there are whole lists of them at /culled
	for _, ranked := range s.Ranking {
		c.Servers[ranked.Addr.String()] = r.pageServer(r.placeOf(ranked))
	}
	if s.Why != nil {
		for _, rival := range s.Why.Rivals {
			c.Servers[rival.Addr.String()] = r.pageServer(r.placeOf(rival.Ranked))
		}
	}
	c.Explain = r.named(c)
	return c
}

// placeOf is where a ranked server stands in the list. It is at hand, except
// after a restart.
func (r *Room) placeOf(ranked selection.Ranked) int {
	if s := ranked.Server; s < len(r.Servers) && r.Servers[s].Addr == ranked.Addr {
		return s
	}
	return r.indexOf(ranked.Addr)
}

// named are the sentences with the servers' names in the place of addresses.
func (r *Room) named(c *pageChoice) []string {
	var pairs []string
	for addr, server := range c.Servers {
		if server.Name != "" {
			pairs = append(pairs, addr, fmt.Sprintf("%s (%s)", server.Name, addr))
		}
	}
	replacer := strings.NewReplacer(pairs...)
	sentences := make([]string, len(c.Explain))
	for i, sentence := range c.Explain {
		sentences[i] = replacer.Replace(sentence)
	}
	return sentences
}

func (r *Room) pageServer(server int) pageServer {
	if server < 0 {
		return pageServer{}
	}
	s := pageServer{Country: r.Servers[server].Country}
	if info := r.Infos[server]; info != nil {
		s.Name, s.Map, s.Mode = info.Name, info.Map, info.Mode
		s.Players, s.MaxPlayers, s.Password = info.Players, info.MaxPlayers, info.Password
	}
	return s
}

func (r *Room) pageAgreement() pageAgreement {
	a := pageAgreement{Open: r.Agreement != nil, Vetoes: []string{}, Ballot: []string{}}
	for _, veto := range r.Vetoes {
		what := veto.Map
		if what == "" {
			what = r.vetoedName(veto.Server)
		}
		a.Vetoes = append(a.Vetoes, veto.Player+": "+what)
	}
	if r.Agreement != nil {
		a.LaunchAt = r.Agreement.LaunchAt
		for _, ranked := range r.ballot() {
			a.Ballot = append(a.Ballot, ranked.Addr.String())
		}
	}
	return a
}

func (r *Room) pageWay(link func(game, address string) string) *pageWay {
	if r.Launch == nil {
		return nil
	}
	way := &pageWay{Connect: r.Launch.Address, Server: r.Launch.Name}
	if link != nil {
		way.Link = link(r.Launch.Game, r.Launch.Address)
	}
	return way
}
