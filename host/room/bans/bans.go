// Package bans brings a match's two sides to one server, and to its maps: their captains ban and
// pick in turn. A league's law may lay down other moves over the servers, and may let captains object
// to the one that was decided (law.go).
//
//	finalists, order or law, maps ─┐
//	moves ─────────────────────────┴─▶ Turns: whose turn, about what, until when, and what was done
//	                                        └─▶ what is left ─▶ Server, Maps
//
// A [Series] belongs to one round. It always ends: if a captain does not move in time, the series
// moves by the room's rule. It knows servers by their index in the list, maps by their place in the
// pool, and captains by their IDs.
package bans

import (
	"fmt"
	"slices"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// Setup has the servers and maps that captains decide about, and the rules.
type Setup struct {
	// Servers are the finalists, the best by the room's rule first.
	Servers []int `json:"servers,omitempty"`
	// Order are the moves over the servers: each [wire.Ban], and the last perhaps [wire.Pick].
	// Without an order, captains ban until one server is left.
	Order []string `json:"order,omitempty"`
	// Law is what a league lays down in place of an order.
	Law
	// Maps is the pool, empty if captains decide no maps. BestOf is how many of them are played at
	// most.
	Maps   []string `json:"maps,omitempty"`
	BestOf int      `json:"best_of,omitempty"`
	// Clock is how long a captain may take for a move.
	Clock time.Duration `json:"clock,omitempty"`
}

// Series is the bans and picks of a match. Its zero value has not begun.
type Series struct{ state State }

// State is the saved state of a series. Everything else about a match follows from it.
type State struct {
	Setup
	Moves []Move `json:"moves,omitempty"`
	// Sealed are the strikes of a blind veto that the other side must not see yet. Closed says that
	// the time for objections is over.
	Sealed []Move `json:"sealed,omitempty"`
	Closed bool   `json:"closed,omitempty"`
	// Since is when the turn began.
	Since roomtime.Time `json:"since,omitzero"`
	// Went are the servers of the match, the present one last: the one that the moves have decided,
	// and those that took its place.
	Went []int `json:"went,omitempty"`
}

// State returns the state, to save or restore it.
func (s *Series) State() *State { return &s.state }

// Move is what was done in a turn.
type Move struct {
	// By is the captain who moved, or empty if the clock ran out.
	By people.ID `json:"by,omitempty"`
	// What is the server's index in the list, or the map's place in the pool.
	What int       `json:"what"`
	At   time.Time `json:"at"`
	// Side is the mover's in a turn that is open to both, and Said is [wire.Object], [wire.AskDelay] or
	// [wire.Accept] if the turn was for objections.
	Side wire.Side `json:"side,omitempty"`
	Said string    `json:"said,omitempty"`
}

// Turn is a side's turn to ban or pick.
type Turn struct {
	// Number is the turn's place among all turns, from 1.
	Number   int
	Kind, Of string
	// Side is the side that moves. It is empty if both may, or if the organiser moves. Sides are those
	// that may move now; in a blind turn they do not see each other's moves.
	Side  wire.Side
	Sides []wire.Side
	Blind bool
	// Nth is the turn's place among those of its kind about the same thing, from 1. Total is the
	// number of these turns.
	Nth, Total int
	// Until is when the series moves by itself, if it waits for this turn.
	Until roomtime.Time
	// Made is what was done, if the turn is over.
	Made Move
}

// Begin begins the moves over a setup with at least one server. cut is how many bans of the order
// are dropped because there are too few servers.
func Begin(s Setup, now roomtime.Time) (series Series, cut int) {
	s.Servers, s.Maps = slices.Clone(s.Servers), slices.Clone(s.Maps)
	series = Series{State{Setup: s, Since: now}}
	series.settle(s.Servers)
	_, cut = series.state.turns()
	return series, cut
}

// turns returns the turns that an order or a law, its servers and its maps make, with objections so
// far, and how many bans are dropped. Side a begins with the servers. The last server needs no pick.
func (s *State) turns() (turns []Turn, cut int) {
	add := func(first wire.Side, n int, kind, of string) {
		side := first
		if n%2 == 1 {
			side = first.Other()
		}
		turns = append(turns, Turn{Kind: kind, Of: of, Side: side, Sides: []wire.Side{side}})
	}
	for i, kind := range s.order() {
		if i < len(s.Servers)-1 {
			add(wire.SideA, i, kind, wire.OfServer)
		} else if kind == wire.Ban {
			cut++
		}
	}
	s.fitLaw(turns)
	turns = append(turns, s.objections()...)
	for i, kind := range mapOrder(s.BestOf, len(s.Maps)) {
		add(wire.SideB, i, kind, wire.OfMap) // b was second with the servers
	}
	for i := range turns {
		turns[i].Number = i + 1
		for j, other := range turns {
			if other.Kind == turns[i].Kind && other.Of == turns[i].Of {
				if turns[i].Total++; j <= i {
					turns[i].Nth++
				}
			}
		}
	}
	return turns, cut
}

// bansFirst is how many maps captains ban before they pick.
const bansFirst = 2

// mapOrder returns the moves over a pool of maps. All maps of the match but the last are picked; the
// last is the one that is left:
//
//	best of 1   ban … ban                          the last one left
//	best of 3   ban ban  pick pick  ban … ban      the last one left
//	best of 5   ban ban  pick pick pick pick  ban … ban      the last one left
//
// In a small pool there are fewer bans.
func mapOrder(bestOf, maps int) []string {
	picks := max(0, min(bestOf, maps)-1)
	order := slices.Repeat([]string{wire.Ban}, max(0, maps-picks-1))
	return slices.Insert(order, min(len(order), bansFirst), slices.Repeat([]string{wire.Pick}, picks)...)
}

// order returns the moves over the servers. Without an order and a law that decides, captains ban
// until one server is left.
func (s *State) order() []string {
	switch {
	case s.Decides:
		return s.Law.order(len(s.Servers), s.BestOf)
	case len(s.Order) > 0:
		return s.Order
	}
	return slices.Repeat([]string{wire.Ban}, max(0, len(s.Servers)-1))
}

// HasBegun reports whether the series has something to decide, or has decided it.
func (s *Series) HasBegun() bool { return len(s.state.Servers) > 0 }

// HasMoved reports whether anything is banned, picked or decided already.
func (s *Series) HasMoved() bool {
	return len(s.state.Moves)+len(s.state.Sealed)+len(s.state.Went) > 0
}

// IsOver reports whether all moves are made.
func (s *Series) IsOver() bool { return s.HasBegun() && len(s.state.Moves) == len(s.Turns()) }

// Turns returns all turns of the match, in their order.
func (s *Series) Turns() []Turn {
	turns, _ := s.state.turns()
	for i := range turns {
		if i < len(s.state.Moves) {
			turns[i].Made = s.state.Moves[i]
		}
	}
	if next := len(s.state.Moves); next < len(turns) {
		turns[next].Until = s.state.Since.Add(s.state.Clock)
	}
	return turns
}

// Made returns the turns that are over, in their order.
func (s *Series) Made() []Turn { return s.Turns()[:len(s.state.Moves)] }

// Turn returns the turn that the series waits for, if any.
func (s *Series) Turn() (t Turn, is bool) {
	if !s.HasBegun() || s.IsOver() {
		return t, false
	}
	return s.Turns()[len(s.state.Moves)], true
}

// left returns the servers, or the maps, that nobody has banned or picked: the best server by a
// rule first, and maps in the order of the pool. Servers that the rule does not rank come last.
func (s *Series) left(of string, rule []int) (left []int) {
	if of == wire.OfServer {
		left = slices.Clone(s.state.Servers)
	} else {
		left, rule = make([]int, len(s.state.Maps)), nil
		for i := range left {
			left[i] = i
		}
	}
	for _, t := range s.Made() {
		if t.Of == of && t.Made.Said == "" {
			left = slices.DeleteFunc(left, func(what int) bool { return what == t.Made.What })
		}
	}
	place := func(what int) int {
		if at := slices.Index(rule, what); at >= 0 {
			return at
		}
		return len(rule)
	}
	slices.SortStableFunc(left, func(a, b int) int { return place(a) - place(b) })
	return left
}

// Servers returns the finalists in their order. They must not be changed.
func (s *Series) Servers() []int { return s.state.Servers }

// Pool returns the maps to decide between. They must not be changed.
func (s *Series) Pool() []string { return s.state.Maps }

// Server returns the server that the match goes to, or -1 before that is decided.
func (s *Series) Server() int {
	if len(s.state.Went) == 0 {
		return -1
	}
	return s.state.Went[len(s.state.Went)-1]
}

// Maps returns the maps in the order in which they are played, once all moves are made: the picked
// ones, and last the one that is left.
func (s *Series) Maps() (play []string) {
	if !s.IsOver() {
		return nil
	}
	for _, t := range s.Made() {
		if t.Kind == wire.Pick && t.Of == wire.OfMap {
			play = append(play, s.state.Maps[t.Made.What])
		}
	}
	for _, what := range s.left(wire.OfMap, nil) {
		play = append(play, s.state.Maps[what])
	}
	return play
}

// Attempt is a person's move. What is -1 if there is no such server or map.
type Attempt struct {
	// Number is the number of the turn that the person saw.
	Number int
	By     people.ID
	What   int
	// Said is a [Move]'s.
	Said string
}

// The refusals of moves.
var (
	errNoTurn     = wire.Refuse(wire.ReasonAction, "refused.no-turn")
	errTurnOver   = wire.Refuse(wire.ReasonAction, "refused.turn-over")
	errNoFinalist = wire.Refuse(wire.ReasonAction, "refused.no-finalist")
	errNoMap      = wire.Refuse(wire.ReasonAction, "refused.no-map")
)

// Move makes a person's move, if they are a captain whose turn it is. captain returns who moves for a
// side, and the organiser for neither. Rule are servers, the best by the room's rule first.
func (s *Series) Move(a Attempt, captain func(wire.Side) people.ID, rule []int, now roomtime.Clocks) error {
	turn, is := s.Turn()
	at := slices.IndexFunc(turn.Sides, func(side wire.Side) bool { return a.By != "" && captain(side) == a.By })
	switch {
	case !is:
		return errNoTurn
	case a.Number != turn.Number:
		return errTurnOver
	case at < 0:
		return notYours(captain(turn.Sides[0]))
	case !now.Room.Before(turn.Until): // the series moves with the next tick
		return errTurnOver
	case turn.Kind == wire.Object:
		return s.object(Move{By: a.By, What: a.What, Side: turn.Sides[at], Said: a.Said}, rule, now)
	case turn.Blind && slices.Contains(s.state.Servers, a.What):
		s.seal(Move{By: a.By, What: a.What, Side: turn.Sides[at]}, rule, now)
		return nil
	case slices.Contains(s.left(turn.Of, nil), a.What):
		s.make(Move{By: a.By, What: a.What}, rule, now)
		return nil
	case turn.Of == wire.OfServer:
		return errNoFinalist
	}
	return errNoMap
}

func notYours(captain people.ID) error {
	if captain == "" {
		return wire.Refuse(wire.ReasonAction, "refused.no-captain")
	}
	return wire.Refuse(wire.ReasonAction, "refused.not-captain", "player", captain)
}

// Tick moves by itself if nobody has moved in time, and reports whether it has: it picks the first
// of what is left, and bans the last. The next turn gets its whole time, even if this tick comes
// late.
func (s *Series) Tick(rule []int, now roomtime.Clocks) bool {
	turn, is := s.Turn()
	if !is || now.Room.Before(turn.Until) {
		return false
	}
	if turn.Kind == wire.Object { // nobody else objects
		s.state.Closed, s.state.Since = true, now.Room
		return true
	}
	left := s.left(turn.Of, rule)
	if turn.Blind {
		for _, side := range turn.Sides {
			s.seal(Move{What: left[len(left)-1], Side: side}, rule, now)
		}
		return true
	}
	m := Move{What: left[len(left)-1]}
	if turn.Kind == wire.Pick {
		m.What = left[0]
	}
	s.make(m, rule, now)
	return true
}

// make notes a move, and begins the next turn.
func (s *Series) make(m Move, rule []int, now roomtime.Clocks) {
	m.At = now.Wall
	s.state.Moves = append(slices.Clip(s.state.Moves), m) // views share the old ones
	s.state.Since = now.Room
	s.settle(rule)
}

// settle decides the server once all moves about servers are made. The server is the picked one, or
// the remaining server that is best by the rule.
func (s *Series) settle(rule []int) {
	if len(s.state.Went) > 0 || !s.HasBegun() || s.isAboutServers() {
		return
	}
	server := s.left(wire.OfServer, rule)[:1]
	for _, t := range slices.Backward(s.Made()) {
		if t.Of == wire.OfServer && t.Kind == wire.Pick {
			server = []int{t.Made.What} // side a's, if a law lets each side pick
		}
	}
	s.state.Went = slices.Clone(server)
	s.closeUnlessOpen(s.state.Since)
}

func (s *Series) isAboutServers() bool { return len(s.state.Moves) < s.state.overServers() }

// overServers returns how many moves decide the server, before anybody objects.
func (s *State) overServers() int { return min(len(s.order()), max(0, len(s.Servers)-1)) }

// DropServer gives up the server that the moves led to, because it has no seats any more, or is
// gone. The next best server left takes its place. If none is left, the server that was banned last
// comes back. It reports false if there is no other. Then the server stays.
func (s *Series) DropServer(rule []int) bool {
	if s.Server() < 0 {
		return false
	}
	next := s.left(wire.OfServer, rule)
	for _, t := range slices.Backward(s.Made()) {
		if t.Of == wire.OfServer && t.Kind == wire.Ban {
			next = append(next, t.Made.What)
		}
	}
	at := slices.IndexFunc(next, func(server int) bool { return !slices.Contains(s.state.Went, server) })
	if at < 0 {
		return false
	}
	s.state.Went = append(slices.Clip(s.state.Went), next[at])
	return true
}

// Fallbacks returns the servers that the match would go to, one after the other.
func (s *Series) Fallbacks(rule []int) (servers []int) {
	trial := *s
	for is := trial.Server() >= 0; is; is = trial.DropServer(rule) {
		servers = append(servers, trial.Server())
	}
	return servers
}

// IsBanned reports whether a captain, or the clock, has banned a server.
func (s *Series) IsBanned(server int) bool {
	return slices.ContainsFunc(s.Made(), func(t Turn) bool {
		return t.Of == wire.OfServer && t.Kind == wire.Ban && t.Made.What == server
	})
}

// Restart gives the turn its whole time, because the room was away.
func (s *Series) Restart(now roomtime.Time) {
	if s.HasBegun() {
		s.state.Since = now
	}
}

// maxSaved bounds the finalists and the maps of a saved series. No room has as many.
const maxSaved = 100

// Validate returns the first fault of a saved series, or nil. Listed is the length of the list.
func (s State) Validate(listed int) error {
	if len(s.Servers) == 0 && len(s.Moves) == 0 && len(s.Went) == 0 {
		return nil
	}
	if err := s.Setup.validate(listed); err != nil {
		return err
	}
	replayed := Series{State{Setup: s.Setup, Closed: true}}
	for i, m := range s.Moves {
		turn, is := replayed.Turn()
		isSound := is && (slices.Contains(replayed.left(turn.Of, nil), m.What) || turn.Blind && slices.Contains(s.Servers, m.What))
		if m.Said != "" {
			isSound = s.Objects != "" && m.isSound(s.Went) && i >= s.overServers() && (i == s.overServers() || s.Moves[i-1].Said != "")
		}
		if !isSound {
			return fmt.Errorf("move %d is about %d, which is not left", i+1, m.What)
		}
		replayed.state.Moves = s.Moves[:i+1]
	}
	if replayed.isAboutServers() != (len(s.Went) == 0) {
		return fmt.Errorf("%d servers after %d moves", len(s.Went), len(s.Moves))
	}
	for i, server := range s.Went {
		if !slices.Contains(s.Servers, server) || slices.Contains(s.Went[:i], server) {
			return fmt.Errorf("server %d is no finalist, or comes twice", server)
		}
	}
	for _, m := range s.Sealed {
		if turn, _ := replayed.Turn(); !turn.Blind || len(s.Sealed) > 1 || m.Side.Other() == "" || !slices.Contains(s.Servers, m.What) {
			return fmt.Errorf("a strike of server %d", m.What)
		}
	}
	return nil
}

func (s *Setup) validate(listed int) error {
	if len(s.Servers) == 0 || max(len(s.Servers), len(s.Maps), len(s.Order)) > maxSaved || s.Clock <= 0 || s.Clock > time.Hour {
		return fmt.Errorf("%d servers, %d maps, %d moves, %v for each", len(s.Servers), len(s.Maps), len(s.Order), s.Clock)
	}
	for i, server := range s.Servers {
		if server < 0 || server >= listed || slices.Contains(s.Servers[:i], server) {
			return fmt.Errorf("finalist %d of %d", server, listed)
		}
	}
	for i, name := range s.Maps {
		if name == "" || slices.Contains(s.Maps[:i], name) {
			return fmt.Errorf("map %d is %q", i, name)
		}
	}
	for i, kind := range s.Order {
		if kind != wire.Ban && (kind != wire.Pick || i < len(s.Order)-1) {
			return fmt.Errorf("move %d of the order is %q", i+1, kind)
		}
	}
	return s.Law.validate(len(s.Servers))
}
