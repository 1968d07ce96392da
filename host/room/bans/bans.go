// Package bans brings a match's two sides to one server, and to its maps: their captains ban and
// pick in turn.
//
//	finalists, order, maps ─▶ Begin ─▶ Series ─▶ Turn: whose move it is, and until when
//	a captain's move ─────▶ Move ─────┤
//	time ─────────────────▶ Tick ─────┴─▶ Server, Maps
//
// A [Series] belongs to one round. It always ends: if a captain does not move in time, the series
// moves by the room's rule. It knows servers by their index in the list, and captains by their IDs.
package bans

import (
	"slices"
	"strings"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// Setup has the servers and maps that captains decide about, and the rules.
type Setup struct {
	// Servers are the finalists, the best by the room's rule first.
	Servers []int
	// Order are the moves over the servers, each [wire.Ban] or [wire.Pick]. Without an order,
	// captains ban until one server is left.
	Order []string
	// Maps is the pool, empty if captains decide no maps. BestOf is how many of them are played at
	// most.
	Maps   []string
	BestOf int
	// Clock is how long a captain may take for a move.
	Clock time.Duration
}

// Series is the bans and picks of a match. Its zero value has not begun.
type Series struct{ state State }

// State is the saved state of a series.
type State struct {
	Servers []int         `json:"servers,omitempty"`
	Maps    []string      `json:"maps,omitempty"`
	BestOf  int           `json:"best_of,omitempty"`
	Steps   []step        `json:"steps,omitempty"`
	Moves   []move        `json:"moves,omitempty"`
	Clock   time.Duration `json:"clock,omitempty"`
	// Since is when the turn began.
	Since roomtime.Time `json:"since,omitzero"`
	// Server is the server that the moves have decided, -1 before.
	Server int `json:"server,omitempty"`
	// Fallen are the servers that the match could not go to after all.
	Fallen []int `json:"fallen,omitempty"`
}

// State returns the state, to save or restore it.
func (s *Series) State() *State { return &s.state }

// step is a move to come: its kind, its object, and its side.
type step struct {
	Kind string    `json:"kind"`
	Of   string    `json:"of"`
	Side wire.Side `json:"side"`
}

// move is a move that was made. A move about a map has its name, and no server.
type move struct {
	// By is the captain who moved, or empty if the clock ran out.
	By     people.ID `json:"by,omitempty"`
	Server int       `json:"server"`
	Map    string    `json:"map,omitempty"`
	At     time.Time `json:"at"`
}

// Begin begins the moves over a setup with at least one server. Cut is how many moves of the order
// are dropped because there are too few servers for them.
func Begin(s Setup, now roomtime.Time) (series Series, cut int) {
	steps, cut := serverSteps(s.Order, len(s.Servers))
	series = Series{State{
		Servers: slices.Clone(s.Servers), Maps: slices.Clone(s.Maps), BestOf: s.BestOf,
		Steps: append(steps, mapSteps(s.BestOf, len(s.Maps))...),
		Clock: s.Clock, Since: now, Server: -1,
	}}
	series.settle(s.Servers)
	return series, cut
}

// serverSteps returns the moves over a number of servers, and how many of the order are dropped.
// Side a begins. Bans leave one server, and a pick ends the order. The last server needs no pick.
func serverSteps(order []string, servers int) (steps []step, cut int) {
	if len(order) == 0 {
		order = slices.Repeat([]string{wire.Ban}, max(0, servers-1))
	}
	left := servers
	for i, kind := range order {
		if left <= 1 {
			for _, dropped := range order[i:] {
				if dropped == wire.Ban {
					cut++
				}
			}
			break
		}
		steps = append(steps, step{kind, wire.OfServer, turnOf(wire.SideA, i)})
		if kind == wire.Pick {
			break
		}
		left--
	}
	return steps, cut
}

// bansFirst is how many maps captains ban before they pick.
const bansFirst = 2

// mapSteps returns the moves over a pool of maps. Side b begins, because it was second with the
// servers. All maps of the match but the last are picked; the last is the one that is left:
//
//	best of 1   ban … ban                          the last one left
//	best of 3   ban ban  pick pick  ban … ban      the last one left
//	best of 5   ban ban  pick pick pick pick  ban … ban      the last one left
//
// In a small pool there are fewer bans.
func mapSteps(bestOf, maps int) (steps []step) {
	picks := max(0, min(bestOf, maps)-1)
	bans := max(0, maps-picks-1)
	add := func(kind string, n int) {
		for range n {
			steps = append(steps, step{kind, wire.OfMap, turnOf(wire.SideB, len(steps))})
		}
	}
	first := 0
	if picks > 0 {
		first = min(bans, bansFirst)
	}
	add(wire.Ban, first)
	add(wire.Pick, picks)
	add(wire.Ban, bans-first)
	return steps
}

// turnOf returns the side of the nth move, from 0, if first begins.
func turnOf(first wire.Side, n int) wire.Side {
	if n%2 == 1 {
		return first.Other()
	}
	return first
}

// HasBegun reports whether the series has something to decide, or has decided it.
func (s *Series) HasBegun() bool { return len(s.state.Servers) > 0 }

// HasMoved reports whether anything is banned or picked already.
func (s *Series) HasMoved() bool { return len(s.state.Moves) > 0 }

// IsOver reports whether all moves are made.
func (s *Series) IsOver() bool { return s.HasBegun() && len(s.state.Moves) == len(s.state.Steps) }

// Server returns the server that the match goes to, or -1 before that is decided.
func (s *Series) Server() int {
	if !s.HasBegun() {
		return -1
	}
	return s.state.Server
}

// Maps returns the maps in the order in which they are played, once all moves are made: the picked
// ones, and last the one that is left.
func (s *Series) Maps() (play []string) {
	if !s.IsOver() {
		return nil
	}
	for i, m := range s.state.Moves {
		if at := s.state.Steps[i]; at.Kind == wire.Pick && at.Of == wire.OfMap {
			play = append(play, m.Map)
		}
	}
	return append(play, s.mapsLeft()...)
}

// serversLeft returns the servers that nobody has banned or picked, the best first.
func (s *Series) serversLeft() []int {
	return slices.DeleteFunc(slices.Clone(s.state.Servers), func(server int) bool {
		for i, m := range s.state.Moves {
			if s.state.Steps[i].Of == wire.OfServer && m.Server == server {
				return true
			}
		}
		return false
	})
}

// mapsLeft returns the maps that nobody has banned or picked, in the order of the pool.
func (s *Series) mapsLeft() []string {
	return slices.DeleteFunc(slices.Clone(s.state.Maps), func(name string) bool {
		for i, m := range s.state.Moves {
			if s.state.Steps[i].Of == wire.OfMap && m.Map == name {
				return true
			}
		}
		return false
	})
}

// Turn is the move that the series waits for.
type Turn struct {
	// Number is the move's place among all moves, from 1.
	Number   int
	Kind, Of string
	Side     wire.Side
	// Nth is the move's place among the moves of its kind about the same thing, from 1. Total is the
	// number of these moves.
	Nth, Total int
	// Until is when the series moves by itself.
	Until roomtime.Time
}

// Turn returns the move that the series waits for, if any.
func (s *Series) Turn() (t Turn, is bool) {
	if !s.HasBegun() || s.IsOver() {
		return t, false
	}
	at := s.state.Steps[len(s.state.Moves)]
	t = Turn{Number: len(s.state.Moves) + 1, Kind: at.Kind, Of: at.Of, Side: at.Side, Until: s.state.Since.Add(s.state.Clock)}
	for i, other := range s.state.Steps {
		if other.Kind == at.Kind && other.Of == at.Of {
			if t.Total++; i <= len(s.state.Moves) {
				t.Nth++
			}
		}
	}
	return t, true
}

// Attempt is a person's move.
type Attempt struct {
	// Number is the number of the turn that the person saw.
	Number int
	By     people.ID
	// Server is the server's index, or -1; Map is the map's name.
	Server int
	Map    string
}

// The refusals of moves.
var (
	errNoTurn     = wire.Refuse(wire.ReasonAction, "refused.no-turn")
	errTurnOver   = wire.Refuse(wire.ReasonAction, "refused.turn-over")
	errNoFinalist = wire.Refuse(wire.ReasonAction, "refused.no-finalist")
	errNoMap      = wire.Refuse(wire.ReasonAction, "refused.no-map")
)

// Move makes a person's move, if they are the captain whose turn it is. Rule are servers, the best
// by the room's rule first.
func (s *Series) Move(a Attempt, captain people.ID, rule []int, now roomtime.Clocks) (MadeMove, error) {
	turn, is := s.Turn()
	switch {
	case !is:
		return MadeMove{}, errNoTurn
	case a.Number != turn.Number:
		return MadeMove{}, errTurnOver
	case captain == "" || a.By != captain:
		return MadeMove{}, notYours(captain)
	case !now.Room.Before(turn.Until): // the series moves with the next tick
		return MadeMove{}, errTurnOver
	case turn.Of == wire.OfServer && !slices.Contains(s.serversLeft(), a.Server):
		return MadeMove{}, errNoFinalist
	}
	m := move{By: a.By, Server: a.Server, At: now.Wall}
	if turn.Of == wire.OfMap {
		at := slices.IndexFunc(s.mapsLeft(), func(name string) bool { return strings.EqualFold(name, a.Map) })
		if at < 0 {
			return MadeMove{}, errNoMap
		}
		m.Server, m.Map = -1, s.mapsLeft()[at]
	}
	return s.make(m, rule, now.Room), nil
}

func notYours(captain people.ID) error {
	if captain == "" {
		return wire.Refuse(wire.ReasonAction, "refused.no-captain")
	}
	return wire.Refuse(wire.ReasonAction, "refused.not-captain", "player", captain)
}

// Tick moves by itself if nobody has moved in time, and reports whether it has. The next turn gets
// its whole time, even if this tick comes late.
func (s *Series) Tick(rule []int, now roomtime.Clocks) (made MadeMove, has bool) {
	turn, is := s.Turn()
	if !is || now.Room.Before(turn.Until) {
		return MadeMove{}, false
	}
	return s.make(s.byRule(turn, rule, now), rule, now.Room), true
}

// byRule returns the room's move: it bans the worst server by its rule, and picks the best. It bans
// the last map of the pool, and picks the first.
func (s *Series) byRule(t Turn, rule []int, now roomtime.Clocks) move {
	if t.Of == wire.OfMap {
		left := s.mapsLeft()
		if t.Kind == wire.Pick {
			return move{Server: -1, Map: left[0], At: now.Wall}
		}
		return move{Server: -1, Map: left[len(left)-1], At: now.Wall}
	}
	left := ranked(s.serversLeft(), rule)
	if t.Kind == wire.Pick {
		return move{Server: left[0], At: now.Wall}
	}
	return move{Server: left[len(left)-1], At: now.Wall}
}

// ranked returns servers in the order of a rule. Servers that the rule does not rank come last.
func ranked(servers, rule []int) []int {
	place := func(server int) int {
		if at := slices.Index(rule, server); at >= 0 {
			return at
		}
		return len(rule)
	}
	sorted := slices.Clone(servers)
	slices.SortStableFunc(sorted, func(a, b int) int { return place(a) - place(b) })
	return sorted
}

// MadeMove is a move that was made.
type MadeMove struct {
	Kind, Of string
	Side     wire.Side
	// By is the captain who moved, or empty if the clock ran out.
	By people.ID
	// Server is the server's index, or -1; Map is the map's name.
	Server int
	Map    string
	// Decides says that the move was the last about servers.
	Decides bool
}

// make notes a move, and begins the next turn.
func (s *Series) make(m move, rule []int, now roomtime.Time) MadeMove {
	at, before := s.state.Steps[len(s.state.Moves)], s.state.Server
	s.state.Moves = append(slices.Clip(s.state.Moves), m) // views share the old ones
	s.state.Since = now
	s.settle(rule)
	return MadeMove{
		Kind: at.Kind, Of: at.Of, Side: at.Side, By: m.By, Server: m.Server, Map: m.Map,
		Decides: before < 0 && s.state.Server >= 0,
	}
}

// settle decides the server once all moves about servers are made. It is the picked server, the
// last server left, or the best one left by the rule.
func (s *Series) settle(rule []int) {
	n := s.serverSteps()
	if s.state.Server >= 0 || len(s.state.Moves) < n || !s.HasBegun() {
		return
	}
	if n > 0 && s.state.Steps[n-1].Kind == wire.Pick {
		s.state.Server = s.state.Moves[n-1].Server
		return
	}
	s.state.Server = ranked(s.serversLeft(), rule)[0]
}

// serverSteps returns how many moves are about servers.
func (s *Series) serverSteps() (n int) {
	for _, step := range s.state.Steps {
		if step.Of == wire.OfServer {
			n++
		}
	}
	return n
}

// DropServer gives up the server that the moves led to, because it has no seats any more, or is
// gone. The next best server left takes its place. If none is left, the server that was banned last
// comes back. It reports false if there is no other. Then the server stays.
func (s *Series) DropServer(rule []int) bool {
	if s.state.Server < 0 || !s.HasBegun() {
		return false
	}
	fallen := append(slices.Clip(s.state.Fallen), s.state.Server)
	next := ranked(s.serversLeft(), rule)
	for i := s.serverSteps() - 1; i >= 0; i-- {
		if s.state.Steps[i].Kind == wire.Ban {
			next = append(next, s.state.Moves[i].Server)
		}
	}
	next = slices.DeleteFunc(next, func(server int) bool { return slices.Contains(fallen, server) })
	if len(next) == 0 {
		return false
	}
	s.state.Server, s.state.Fallen = next[0], fallen
	return true
}

// Servers returns the finalists in their order. They must not be changed.
func (s *Series) Servers() []int { return s.state.Servers }

// Fallbacks returns the servers that the match would go to, one after the other.
func (s *Series) Fallbacks(rule []int) (servers []int) {
	trial := *s
	for is := trial.state.Server >= 0 && trial.HasBegun(); is; is = trial.DropServer(rule) {
		servers = append(servers, trial.state.Server)
	}
	return servers
}

// IsBanned reports whether a captain, or the clock, has banned a server.
func (s *Series) IsBanned(server int) bool {
	for i, m := range s.state.Moves {
		if at := s.state.Steps[i]; at.Of == wire.OfServer && at.Kind == wire.Ban && m.Server == server {
			return true
		}
	}
	return false
}

// Restart gives the turn its whole time, because the room was away.
func (s *Series) Restart(now roomtime.Time) {
	if s.HasBegun() {
		s.state.Since = now
	}
}
