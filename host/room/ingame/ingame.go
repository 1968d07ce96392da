// Package ingame keeps the pings that the game's server lists of a match's players while they play.
//
//	launch ─▶ Begin ─▶ Ask: whose program asks the server, each minute ─▶ Heard ─▶ Pings
//
// Programs take turns, and the middle of what they heard counts: no single program's word does.
package ingame

import (
	"fmt"
	"slices"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
)

// every is the time from one question to the next, and from the launch to the first. By then people
// have loaded the map, and games average their pings over some seconds.
const every = time.Minute

// Of a player's pings the newest, up to kept of them, count, as soon as there are enough.
const kept, enough = 5, 3

// InGame are the pings of a round. Its zero value asks nobody.
type InGame struct{ state State }

// State is the saved state.
type State struct {
	// Next is when the server is asked next, and Asked is who was asked last. Turn counts questions.
	Next  roomtime.Time `json:"next,omitzero"`
	Asked people.ID     `json:"asked,omitempty"`
	Turn  int           `json:"turn,omitempty"`
	// Told are the newest pings in ms, by player, the last one last.
	Told map[people.ID][]float64 `json:"told,omitempty"`
}

// State returns the state, to save or restore it.
func (g *InGame) State() *State { return &g.state }

// Validate returns the first fault of a saved state, or nil.
func (s *State) Validate() error {
	if s.Turn < 0 {
		return fmt.Errorf("question %d", s.Turn)
	}
	for player, told := range s.Told {
		if len(told) > kept || slices.ContainsFunc(told, func(ms float64) bool { return !(ms > 0) }) {
			return fmt.Errorf("the pings of %q in the game", player)
		}
	}
	return nil
}

// Begin begins anew at a launch.
func (g *InGame) Begin(now roomtime.Time) { g.state = State{Next: now.Add(every)} }

// Next returns when [InGame.Ask] may have a question, false for never.
func (g *InGame) Next() (roomtime.Time, bool) { return g.state.Next, !g.state.Next.IsZero() }

// Ask returns the player whose program asks the game's server now, empty for nobody. Unless it goes
// on, questions end once there are enough answers.
func (g *InGame) Ask(present []people.ID, goesOn bool, now roomtime.Time) people.ID {
	if at, waits := g.Next(); !waits || now.Before(at) {
		return ""
	}
	g.state.Next, g.state.Asked = now.Add(every), ""
	switch {
	case g.state.Turn >= kept && !goesOn:
		g.state.Next = roomtime.Time(0)
	case len(present) > 0:
		g.state.Asked = present[g.state.Turn%len(present)]
		g.state.Turn++
	}
	return g.state.Asked
}

// Heard takes the pings in ms that a program heard, less what it adds itself. It reports whether the
// program was asked.
func (g *InGame) Heard(from people.ID, pings map[people.ID]float64, added func(people.ID) (ms int, holds bool)) bool {
	if from != g.state.Asked || from == "" {
		return false
	}
	g.state.Asked = ""
	for player, ms := range pings {
		by, _ := added(player)
		if ms -= float64(by); ms <= 0 {
			continue
		}
		if g.state.Told == nil {
			g.state.Told = map[people.ID][]float64{}
		}
		told := append(slices.Clip(g.state.Told[player]), ms)
		g.state.Told[player] = told[max(0, len(told)-kept):]
	}
	return true
}

// Pings returns the players' pings in the game in ms, of those who were listed often enough.
func (g *InGame) Pings() map[people.ID]float64 {
	pings := map[people.ID]float64{}
	for player, all := range g.state.Told {
		if told := slices.Sorted(slices.Values(all)); len(told) >= enough {
			pings[player] = told[(len(told)-1)/2]
		}
	}
	return pings
}
