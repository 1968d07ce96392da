package bans

import (
	"errors"
	"slices"

	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection/law"
)

// Law is what a league's law lays down about the servers of a match. Its zero value lays down nothing.
type Law struct {
	// Decides says that the law's own order decides. Servers are then in that order, and Way says who
	// moves: side a and then b pick one each, both strike one blind, or the organiser picks. With any
	// other way nobody moves, and the first server is the match's.
	Decides bool    `json:"decides,omitempty"`
	Way     law.Way `json:"way,omitempty"`
	// Objects says who may object to the server that was decided, as [law.Objection] does. Higher are
	// the sides with the higher average at the servers, in their order. With Delays, that side may ask
	// for a delay instead.
	Objects string      `json:"objects,omitempty"`
	Higher  []wire.Side `json:"higher,omitempty"`
	Delays  bool        `json:"delays,omitempty"`
}

// order returns the moves over some servers, where the law decides.
func (l *Law) order(servers, bestOf int) []string {
	switch {
	case l.Way == law.Alternate:
		return []string{wire.Pick, wire.Pick}[:min(2, max(1, bestOf))]
	case l.Way == law.Veto && servers >= law.Offered: // of two, both may be struck
		return []string{wire.Ban, wire.Ban}
	case l.Way == law.ByAdmin:
		return []string{wire.Pick}
	}
	return nil
}

func (l *Law) validate(servers int) error {
	ways := []law.Way{"", law.Home, law.Alternate, law.InPlaces, law.Veto, law.ByAdmin}
	objects := []string{"", "higher", "either", "both", "admin"}
	isBad := func(side wire.Side) bool { return !side.IsValid() }
	if !slices.Contains(ways, l.Way) || !slices.Contains(objects, l.Objects) || slices.ContainsFunc(l.Higher, isBad) ||
		l.Higher != nil && len(l.Higher) != servers {
		return errors.New("a law that lays down nothing that captains can do")
	}
	return nil
}

// fitLaw says who moves in the turns over servers, if that is not one side's captain.
func (s *State) fitLaw(turns []Turn) {
	for i := range turns {
		switch t := &turns[i]; {
		case s.Decides && s.Way == law.ByAdmin:
			t.Side, t.Sides = "", []wire.Side{""}
		case s.Decides && s.Way == law.Veto:
			t.Blind = true
			if i > 0 || len(s.Moves) > 0 {
				continue
			}
			t.Sides = slices.DeleteFunc([]wire.Side{wire.SideA, wire.SideB}, func(side wire.Side) bool {
				return slices.ContainsFunc(s.Sealed, func(m Move) bool { return m.Side == side })
			})
			t.Side = only(t.Sides)
		}
	}
}

// only returns the side that is alone in sides, empty if it is not.
func only(sides []wire.Side) wire.Side {
	if len(sides) == 1 {
		return sides[0]
	}
	return ""
}

// seal keeps a side's strike until both have struck.
func (s *Series) seal(m Move, rule []int, now roomtime.Clocks) {
	s.state.Sealed = append(slices.Clip(s.state.Sealed), m)
	if len(s.state.Sealed) < 2 {
		return
	}
	sealed := s.state.Sealed
	slices.SortFunc(sealed, func(a, b Move) int { return int(a.Side[0]) - int(b.Side[0]) })
	s.state.Sealed = nil
	for _, m := range sealed {
		s.make(Move{By: m.By, What: m.What}, rule, now)
	}
}

// objections returns the turns in which captains have objected, and the one in which they may, after
// the moves over servers.
func (s *State) objections() (turns []Turn) {
	for _, m := range s.Moves[min(s.overServers(), len(s.Moves)):] {
		if m.Said != "" {
			turns = append(turns, Turn{Kind: m.Said, Of: wire.OfServer, Side: m.Side, Sides: []wire.Side{m.Side}})
		}
	}
	if sides := s.mayObject(); len(sides) > 0 {
		turns = append(turns, Turn{Kind: wire.Object, Of: wire.OfServer, Side: only(sides), Sides: sides})
	}
	return turns
}

// mayObject returns the sides that may object to the server that was decided, each once in a match.
// Empty stands for the organiser.
func (s *State) mayObject() (sides []wire.Side) {
	if s.Objects == "" || s.Closed || len(s.Went) == 0 {
		return nil
	}
	server := s.Went[len(s.Went)-1]
	isOut := func(other int) bool {
		isMade := func(m Move) bool { return m.Said == "" && m.What == other }
		return slices.Contains(s.Went, other) || slices.ContainsFunc(s.Moves[:s.overServers()], isMade)
	}
	higher := s.higherAt(server)
	switch {
	case s.Objects == "admin":
		sides = []wire.Side{""}
	case s.Objects != "higher":
		sides = []wire.Side{wire.SideA, wire.SideB}
	case higher != "":
		sides = []wire.Side{higher}
	}
	hasOther := slices.ContainsFunc(s.Servers, func(other int) bool { return !isOut(other) })
	return slices.DeleteFunc(sides, func(side wire.Side) bool {
		return !hasOther && !s.mayDelay(side) || slices.ContainsFunc(s.Moves, func(m Move) bool {
			return m.Side == side && (m.Said == wire.Object || m.Said == wire.AskDelay || m.Said == wire.Accept && m.What == server)
		})
	})
}

// mayDelay reports whether a side may ask for a delay at the server that was decided.
func (s *State) mayDelay(side wire.Side) bool {
	return s.Delays && side != "" && len(s.Went) > 0 && side == s.higherAt(s.Went[len(s.Went)-1])
}

// MayDelay reports whether a side may ask for a delay now.
func (s *Series) MayDelay(side wire.Side) bool { return s.state.mayDelay(side) }

func (s *State) higherAt(server int) wire.Side {
	if at := slices.Index(s.Servers, server); at >= 0 && at < len(s.Higher) {
		return s.Higher[at]
	}
	return ""
}

// The refusals of objections.
var (
	errNoDelay = wire.Refuse(wire.ReasonAction, "refused.law-no-delay")
	errNoOther = wire.Refuse(wire.ReasonAction, "refused.law-no-other")
)

// object notes what somebody says to the server that was decided. After an objection the next server
// takes its place, or the server stays with a delay.
func (s *Series) object(m Move, rule []int, now roomtime.Clocks) error {
	server, began, next := s.Server(), s.state.Since, slices.DeleteFunc(s.left(wire.OfServer, rule), func(server int) bool {
		return slices.Contains(s.state.Went, server)
	})
	switch {
	case m.What != server || !m.isSound(s.state.Went):
		return errTurnOver
	case m.Said == wire.AskDelay && !s.MayDelay(m.Side):
		return errNoDelay
	case m.Said == wire.Object && len(next) == 0:
		return errNoOther
	}
	s.make(m, rule, now)
	agrees := func(other Move) bool {
		return other.Side != m.Side && other.Said == wire.Object && other.What == server
	}
	switch {
	case m.Said == wire.Object && (s.state.Objects != "both" || slices.ContainsFunc(s.state.Moves, agrees)):
		s.state.Went = append(slices.Clip(s.state.Went), next[0])
	case m.Said == wire.AskDelay:
		s.state.Closed = true
	default:
		s.state.Since = began
	}
	s.closeUnlessOpen(now.Room)
	return nil
}

// isSound reports whether a move of the time for objections is one.
func (m Move) isSound(went []int) bool {
	return slices.Contains([]string{wire.Object, wire.AskDelay, wire.Accept}, m.Said) && slices.Contains(went, m.What) && m.Side.IsValid()
}

// closeUnlessOpen ends the time for objections once nobody may object any more.
func (s *Series) closeUnlessOpen(now roomtime.Time) {
	if s.state.Objects != "" && len(s.state.Went) > 0 && len(s.state.mayObject()) == 0 {
		s.state.Closed, s.state.Since = true, now
	}
}

// Venues returns the servers of the match's maps, in the order in which they are played, if a law has
// them on two: the match's and another in turn. It is nil if all are on one server, or before that is
// decided.
func (s *Series) Venues() (servers []int) {
	home, away := s.Server(), -1
	if home < 0 || !s.state.Decides || s.state.Way != law.Home && s.state.Way != law.Alternate || s.state.BestOf < 2 {
		return nil
	}
	of := s.state.Servers
	if s.state.Way == law.Alternate { // side b's, or the one that was left to it
		of = nil
		for _, t := range s.Made() {
			if t.Kind == wire.Pick && t.Of == wire.OfServer {
				of = append(of, t.Made.What)
			}
		}
		of = append(of, s.left(wire.OfServer, nil)...)
	}
	for _, server := range slices.Backward(of) {
		if !slices.Contains(s.state.Went, server) {
			away = server
		}
	}
	for n := 0; away >= 0 && n < s.state.BestOf; n++ {
		servers = append(servers, []int{home, away}[n%2])
	}
	return servers
}
