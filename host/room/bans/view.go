package bans

import (
	"fmt"
	"slices"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// View fills in the moves of a match as people see it. Cards describe the finalists, in their
// order; captains are the sides' captains, a's first.
func (s *Series) View(m *wire.Match, cards []wire.MatchServer, captains [2]people.ID, now roomtime.Clocks, names *people.Names) {
	m.Moves, m.Servers, m.Maps = []wire.Move{}, slices.Clone(cards), []wire.MatchMap{}
	for _, name := range s.state.Maps {
		m.Maps = append(m.Maps, wire.MatchMap{Name: name})
	}
	for i, made := range s.state.Moves {
		at := s.state.Steps[i]
		shown := wire.Move{Number: i + 1, Kind: at.Kind, Of: at.Of, Side: at.Side, By: names.Of(made.By), What: made.Map, At: made.At}
		if at.Of == wire.OfServer {
			card := &m.Servers[slices.Index(s.state.Servers, made.Server)]
			if shown.What = card.Addr; at.Kind == wire.Ban {
				card.Gone = i + 1
			}
		} else if card := &m.Maps[slices.Index(s.state.Maps, made.Map)]; at.Kind == wire.Ban {
			card.Gone = i + 1
		} else {
			card.Picked = i + 1
		}
		m.Moves = append(m.Moves, shown)
	}
	if t, is := s.Turn(); is {
		m.Turn = &wire.Turn{
			Number: t.Number, Kind: t.Kind, Of: t.Of, Side: t.Side, Nth: t.Nth, Total: t.Total, Until: now.Of(t.Until),
			Captain: names.Of(captains[0]),
		}
		if t.Side == wire.SideB {
			m.Turn.Captain = names.Of(captains[1])
		}
	}
	if m.Decided, m.Play = s.IsOver(), s.Maps(); s.state.Server >= 0 && s.HasBegun() {
		m.Server = cards[slices.Index(s.state.Servers, s.state.Server)].Addr
	}
}

// maxSaved bounds the finalists and the maps of a saved series. No room has as many.
const maxSaved = 1000

// Validate returns the first fault of a saved series, or nil. Listed is the length of the list.
func (s State) Validate(listed int) error {
	if len(s.Servers) == 0 && len(s.Steps) == 0 && len(s.Moves) == 0 {
		return nil
	}
	again := Series{s}
	again.state.Moves, again.state.Server = nil, -1
	if err := again.check(listed); err != nil {
		return err
	}
	for _, m := range s.Moves {
		if err := again.replay(m); err != nil {
			return err
		}
	}
	decided := s.Fallen
	if len(s.Moves) >= again.serverSteps() {
		decided = append(slices.Clip(decided), s.Server)
	} else if s.Server >= 0 {
		return fmt.Errorf("server %d after %d moves", s.Server, len(s.Moves))
	}
	for _, server := range decided {
		if !slices.Contains(s.Servers, server) {
			return fmt.Errorf("server %d is no finalist", server)
		}
	}
	return nil
}

// check returns an error if no series can begin like this one.
func (s *Series) check(listed int) error {
	if len(s.state.Servers) > maxSaved || len(s.state.Maps) > maxSaved || s.state.Clock <= 0 || s.state.Clock > time.Hour {
		return fmt.Errorf("%d servers, %d maps, %v for a move", len(s.state.Servers), len(s.state.Maps), s.state.Clock)
	}
	for i, server := range s.state.Servers {
		if server < 0 || server >= listed || slices.Contains(s.state.Servers[:i], server) {
			return fmt.Errorf("finalist %d of %d", server, listed)
		}
	}
	for i, name := range s.state.Maps {
		if name == "" || slices.Contains(s.state.Maps[:i], name) {
			return fmt.Errorf("map %d is %q", i, name)
		}
	}
	var order []string
	for _, step := range s.state.Steps {
		if step.Of == wire.OfServer {
			if step.Kind != wire.Ban && step.Kind != wire.Pick {
				return fmt.Errorf("a move %q", step.Kind)
			}
			order = append(order, step.Kind)
		}
	}
	var steps []step
	if len(order) > 0 {
		steps, _ = serverSteps(order, len(s.state.Servers))
	}
	if steps = append(steps, mapSteps(s.state.BestOf, len(s.state.Maps))...); !slices.Equal(steps, s.state.Steps) {
		return fmt.Errorf("an order of %d moves where there are %d", len(s.state.Steps), len(steps))
	}
	return nil
}

// replay makes a saved move again.
func (s *Series) replay(m move) error {
	if len(s.state.Moves) == len(s.state.Steps) {
		return fmt.Errorf("more than %d moves", len(s.state.Steps))
	}
	isServer := s.state.Steps[len(s.state.Moves)].Of == wire.OfServer
	if isServer && !slices.Contains(s.serversLeft(), m.Server) || !isServer && !slices.Contains(s.mapsLeft(), m.Map) {
		return fmt.Errorf("move %d is about server %d or map %q, which is not left", len(s.state.Moves)+1, m.Server, m.Map)
	}
	s.state.Moves = append(s.state.Moves, m)
	return nil
}
