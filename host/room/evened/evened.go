// Package evened makes the pings of a match's sides even while people play.
//
//	both captains agree ─▶ Begin, at the launch ─▶ each nearer player's delay
//	      pings in the game (package ingame), each minute ─▶ Correct ─▶ other delays
//	                                 End: any player, for all
//
// Captains agree before the launch, best before anybody knows the server: then nobody knows yet whose
// packets will wait. A game that runs could not be moved onto a line anyway. The consent is the captain's
// own, and goes with them; a new round needs it anew.
package evened

import (
	"fmt"
	"slices"

	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection/even"
	"muster/selection/rules"
)

// Evened is the agreement of a round, and what follows from it. The zero value has none.
type Evened struct{ state State }

// State is the saved state.
type State struct {
	// Agreed has the captain of each side who has agreed.
	Agreed map[wire.Side]people.ID `json:"agreed,omitempty"`
	// Added are the delays in ms of players whose programs hold the game's packets.
	Added map[people.ID]int `json:"added,omitempty"`
	// Ended is the person who has ended it.
	Ended people.ID `json:"ended,omitempty"`
}

// State returns the state, to save or restore it.
func (e *Evened) State() *State { return &e.state }

// Validate returns the first fault of a saved state, or nil.
func (s *State) Validate() error {
	for side := range s.Agreed {
		if side == "" || !side.IsValid() {
			return fmt.Errorf("a side %q has agreed", string(side))
		}
	}
	for _, ms := range s.Added {
		if ms < 0 || ms > even.MaxAdded {
			return fmt.Errorf("a delay of %d ms", ms)
		}
	}
	return nil
}

var (
	errCaptain = wire.Refuse(wire.ReasonAction, "refused.captain-only")
	errGame    = wire.Refuse(wire.ReasonAction, "refused.even-game")
	errPlayers = wire.Refuse(wire.ReasonAction, "refused.even-players")
	errNone    = wire.Refuse(wire.ReasonAction, "refused.even-none")
)

// Captains are the present captains, by side.
type Captains map[wire.Side]people.ID

// IsAgreed reports whether both present captains have agreed.
func (e *Evened) IsAgreed(captains Captains) bool {
	return len(e.sides(captains)) == len(captains) && len(captains) == 2
}

// sides returns the sides whose present captains have agreed, a first.
func (e *Evened) sides(captains Captains) (sides []wire.Side) {
	for _, side := range []wire.Side{wire.SideA, wire.SideB} {
		if one := captains[side]; one != "" && e.state.Agreed[side] == one {
			sides = append(sides, side)
		}
	}
	return sides
}

// Agree notes that a captain agrees, or no longer does, before the launch. Can says that somebody's program
// can hold the game's packets.
func (e *Evened) Agree(by people.ID, captains Captains, isYes, can bool) (note sentence.Sentence, err error) {
	for side, captain := range captains {
		switch {
		case by != captain || by == "":
			continue
		case isYes && !can:
			return note, errGame
		case isYes == (e.state.Agreed[side] == by):
			return note, nil
		case !isYes:
			delete(e.state.Agreed, side)
			return sentence.Of("even.withdrawn", "player", by), nil
		}
		if e.state.Agreed == nil {
			e.state.Agreed = map[wire.Side]people.ID{}
		}
		if e.state.Agreed[side] = by; e.IsAgreed(captains) {
			return sentence.Of("even.agreed"), nil
		}
		return sentence.Of("even.agrees", "player", by), nil
	}
	return note, errCaptain
}

// Begin sets the players' delays for a launch: the measured ones, of players whose programs hold packets.
func (e *Evened) Begin(captains Captains, measured map[people.ID]int, holds func(people.ID) bool) {
	e.state.Added = nil
	if !e.IsAgreed(captains) || e.state.Ended != "" {
		return
	}
	for player, ms := range measured {
		if ms > 0 && holds(player) {
			if e.state.Added == nil {
				e.state.Added = map[people.ID]int{}
			}
			e.state.Added[player] = min(ms, even.MaxAdded)
		}
	}
}

// Added returns what a player's program adds, in ms. Holds says that it was told to.
func (e *Evened) Added(player people.ID) (ms int, holds bool) {
	ms, holds = e.state.Added[player]
	return ms, holds
}

// Holds reports whether anybody's packets are held.
func (e *Evened) Holds() bool { return e.state.Added != nil }

// End ends it for all, at the word of somebody on a side or of the organiser. It returns whose programs hold packets no
// longer.
func (e *Evened) End(by people.Person, side wire.Side) (freed []people.ID, note sentence.Sentence, err error) {
	switch {
	case side == "" && !by.IsOrganiser:
		return nil, note, errPlayers
	case e.state.Added == nil:
		return nil, note, errNone
	}
	for player := range e.state.Added {
		freed = append(freed, player)
	}
	slices.Sort(freed)
	e.state = State{Agreed: e.state.Agreed, Ended: by.ID}
	return freed, sentence.Of("even.ended", "player", by.ID), nil
}

// Correct sets the delays by the pings in ms that the game's server lists. It returns the players
// whose delays changed.
func (e *Evened) Correct(pings map[people.ID]float64, sides map[people.ID]wire.Side) (changed []people.ID) {
	if e.state.Added == nil {
		return nil
	}
	var players []people.ID
	var playing []even.Playing
	for player, side := range sides {
		if side == "" {
			continue
		}
		ms, holds := e.state.Added[player]
		one := even.Playing{Side: rules.SideA, DelayMS: ms, StatusMS: int(pings[player]), CanAdd: holds}
		if side == wire.SideB {
			one.Side = rules.SideB
		}
		players, playing = append(players, player), append(playing, one)
	}
	for i, ms := range even.Correct(playing) {
		if playing[i].CanAdd {
			ms = max(1, ms) // 0 ends the line, and a game could not come back onto it
		}
		if ms != playing[i].DelayMS {
			e.state.Added[players[i]] = ms
			changed = append(changed, players[i])
		}
	}
	slices.Sort(changed)
	return changed
}

// View returns what everyone sees, nil if nobody has agreed.
func (e *Evened) View(captains Captains, names *people.Names) *wire.Evened {
	v := wire.Evened{Agreed: e.sides(captains), Ended: names.Of(e.state.Ended), AddedMS: people.Named(e.state.Added, names)}
	if v.Agreed == nil && v.AddedMS == nil && v.Ended == "" {
		return nil
	}
	return &v
}
