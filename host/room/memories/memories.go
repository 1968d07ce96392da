// Package memories keeps the players' RTTs from earlier sessions, for the forecasts that a search
// begins with.
//
//	a player's program ─▶ Bring ─┐
//	                             ├─▶ Forecasts ─▶ the round's search
//	the host's memory ──▶ Tell ──┘
//
// It is not saved: programs bring their memories again when they come back.
package memories

import (
	"time"

	"muster/discovery/plan/topology"
	"muster/host/room/people"
	"muster/selection/memory"
)

// Book has the memories by player. Its zero value is empty.
type Book struct{ of map[people.ID]both }

// both are a player's own memory, and the host's of the player's network.
type both struct{ own, told []memory.Cell }

// Bring takes a player's own memory, instead of an earlier one.
func (b *Book) Bring(player people.ID, cells []memory.Cell) {
	b.put(player, both{cells, b.of[player].told})
}

// Tell takes the host's memory of the network that a player comes from.
func (b *Book) Tell(player people.ID, cells []memory.Cell) {
	b.put(player, both{b.of[player].own, cells})
}

func (b *Book) put(player people.ID, known both) {
	if b.of == nil {
		b.of = map[people.ID]both{}
	}
	b.of[player] = known
}

// Forget drops the memories of a player.
func (b *Book) Forget(player people.ID) { delete(b.of, player) }

// Own returns what a player's program remembers.
func (b *Book) Own(player people.ID) []memory.Cell { return b.of[player].own }

// Best returns the lowest RTTs that players' programs remember.
func (b *Book) Best() map[string]time.Duration {
	best := map[string]time.Duration{}
	for player, known := range b.of {
		for _, cell := range known.own {
			ms := time.Duration(cell.MS * float64(time.Millisecond))
			if before, is := best[string(player)]; !is || ms < before {
				best[string(player)] = ms
			}
		}
	}
	return best
}

// Forecasts returns the players' forecasts for a list. If nothing is remembered of anybody, they are vague
// ones from the players' countries, or nil if one of these is not known.
func (b *Book) Forecasts(tree *topology.Tree, players []people.ID, from func(people.ID) string, now time.Time) [][]memory.Forecast {
	all, known := make([][]memory.Forecast, len(players)), false
	for i, player := range players {
		of := b.of[player]
		all[i] = memory.Forecasts(tree, now, of.told, of.own)
		known = known || len(all[i]) > 0
	}
	for i := 0; i < len(players) && !known; i++ {
		if all[i] = memory.Guess(tree, from(players[i])); all[i] == nil {
			return nil
		}
	}
	return all
}
