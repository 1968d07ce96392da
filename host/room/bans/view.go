package bans

import (
	"fmt"
	"slices"
	"time"

	"muster/host/room/roomtime"
	"muster/host/wire"
)

// View fills in the moves of a match as people see it. Cards describe the finalists, in their
// order; Captains are the sides' captains, a's first.
func (s *Series) View(m *wire.Match, cards []wire.MatchServer, captains [2]string, now roomtime.Face) {
	m.Moves, m.Servers, m.Maps = []wire.Move{}, slices.Clone(cards), []wire.MatchMap{}
	for _, name := range s.maps {
		m.Maps = append(m.Maps, wire.MatchMap{Name: name})
	}
	for i, made := range s.moves {
		at := s.steps[i]
		shown := wire.Move{Number: i + 1, Kind: at.Kind, Of: at.Of, Side: at.Side, By: made.By, What: made.Map, At: made.At}
		if at.Of == wire.OfServer {
			card := &m.Servers[slices.Index(s.servers, made.Server)]
			if shown.What = card.Addr; at.Kind == wire.Ban {
				card.Gone = i + 1
			}
		} else if card := &m.Maps[slices.Index(s.maps, made.Map)]; at.Kind == wire.Ban {
			card.Gone = i + 1
		} else {
			card.Picked = i + 1
		}
		m.Moves = append(m.Moves, shown)
	}
	if t, is := s.Turn(); is {
		m.Turn = &wire.Turn{
			Number: t.Number, Kind: t.Kind, Of: t.Of, Side: t.Side, Nth: t.Nth, Total: t.Total, Until: now.Of(t.Until),
			Captain: captains[0],
		}
		if t.Side == wire.SideB {
			m.Turn.Captain = captains[1]
		}
	}
	if m.Decided, m.Play = s.IsOver(), s.Maps(); s.server >= 0 && s.HasBegun() {
		m.Server = cards[slices.Index(s.servers, s.server)].Addr
	}
}

// Saved is a series at rest.
type Saved struct {
	Servers []int         `json:"servers,omitempty"`
	Maps    []string      `json:"maps,omitempty"`
	BestOf  int           `json:"best_of,omitempty"`
	Steps   []step        `json:"steps,omitempty"`
	Moves   []move        `json:"moves,omitempty"`
	ClockMS int64         `json:"clock_ms,omitempty"`
	Since   roomtime.Time `json:"since,omitzero"`
	// Server is the decided server, nil before that.
	Server *int  `json:"server,omitempty"`
	Fallen []int `json:"fallen,omitempty"`
}

// Save returns the series for [Restore].
func (s *Series) Save() Saved {
	if !s.HasBegun() {
		return Saved{}
	}
	saved := Saved{
		Servers: s.servers, Maps: s.maps, BestOf: s.bestOf, Steps: s.steps, Moves: s.moves,
		ClockMS: s.clock.Milliseconds(), Since: s.since, Fallen: s.fallen,
	}
	if server := s.server; server >= 0 {
		saved.Server = &server
	}
	return saved
}

// mostSaved bounds what a series decides about; no room lists as many finalists or maps.
const mostSaved = 1000

// Restore returns the series that was saved, in a round with so many servers. Any values are safe:
// a series that could not have come about is an error.
func Restore(saved Saved, listed int) (s Series, err error) {
	if len(saved.Servers) == 0 {
		return Series{}, nil
	}
	s = Series{
		servers: saved.Servers, maps: saved.Maps, bestOf: saved.BestOf, steps: saved.Steps,
		clock: time.Duration(saved.ClockMS) * time.Millisecond, since: saved.Since, server: -1,
	}
	if err := s.check(listed); err != nil {
		return Series{}, err
	}
	for _, m := range saved.Moves {
		if err := s.replay(m); err != nil {
			return Series{}, err
		}
	}
	isDecided := len(s.moves) >= s.serverSteps()
	if isDecided != (saved.Server != nil) {
		return Series{}, fmt.Errorf("%d moves, and a server: %v", len(s.moves), saved.Server != nil)
	}
	for _, server := range append(slices.Clone(saved.Fallen), at(saved.Server)...) {
		if !slices.Contains(s.servers, server) {
			return Series{}, fmt.Errorf("server %d is no finalist", server)
		}
	}
	s.fallen = saved.Fallen
	if saved.Server != nil {
		s.server = *saved.Server
	}
	return s, nil
}

func at(server *int) []int {
	if server == nil {
		return nil
	}
	return []int{*server}
}

// check returns an error if the series could not have begun so.
func (s *Series) check(listed int) error {
	if len(s.servers) > mostSaved || len(s.maps) > mostSaved || s.clock <= 0 || s.clock > time.Hour {
		return fmt.Errorf("%d servers, %d maps, %v for a move", len(s.servers), len(s.maps), s.clock)
	}
	for i, server := range s.servers {
		if server < 0 || server >= listed || slices.Contains(s.servers[:i], server) {
			return fmt.Errorf("finalist %d of %d", server, listed)
		}
	}
	for i, name := range s.maps {
		if name == "" || slices.Contains(s.maps[:i], name) {
			return fmt.Errorf("map %d is %q", i, name)
		}
	}
	var order []string
	for _, step := range s.steps {
		if step.Of == wire.OfServer {
			if step.Kind != wire.Ban && step.Kind != wire.Pick {
				return fmt.Errorf("a move %q", step.Kind)
			}
			order = append(order, step.Kind)
		}
	}
	var steps []step
	if len(order) > 0 {
		steps, _ = serverSteps(order, len(s.servers))
	}
	if steps = append(steps, mapSteps(s.bestOf, len(s.maps))...); !slices.Equal(steps, s.steps) {
		return fmt.Errorf("an order of %d moves where there are %d", len(s.steps), len(steps))
	}
	return nil
}

// replay makes a saved move again.
func (s *Series) replay(m move) error {
	if len(s.moves) == len(s.steps) {
		return fmt.Errorf("more than %d moves", len(s.steps))
	}
	isServer := s.steps[len(s.moves)].Of == wire.OfServer
	if isServer && !slices.Contains(s.serversLeft(), m.Server) || !isServer && !slices.Contains(s.mapsLeft(), m.Map) {
		return fmt.Errorf("move %d is about server %d or map %q, which is not left", len(s.moves)+1, m.Server, m.Map)
	}
	s.moves = append(s.moves, m)
	return nil
}
