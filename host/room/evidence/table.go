package evidence

import (
	"iter"
	"time"

	"muster/discovery"
	"muster/host/room/people"
	"muster/selection"
)

// Knowledge has the results that count for a player: the player's own answers and looks, or else
// the results of the NAT group. Of the group's the lowest RTT counts, and a server is lost only if
// all who asked lost it.
type Knowledge struct {
	own   *PlayerResults
	mates []*PlayerResults
}

// KnowledgeOf returns the knowledge of a player in a NAT group.
func KnowledgeOf(own *PlayerResults, group []*PlayerResults) Knowledge { return Knowledge{own, group} }

// At returns the result for a server.
func (k Knowledge) At(server int) discovery.Result {
	best := k.own.At(server)
	if _, looked := k.own.looks[server]; looked || best.State == discovery.Answered {
		return best
	}
	return Pooled(k.mates, server)
}

// Pooled returns the best result of several players for a server: an answer, else a failure, else
// the reason why one of them may not ask.
func Pooled(players []*PlayerResults, server int) (best discovery.Result) {
	for _, w := range players {
		result := w.At(server)
		better := result.State == discovery.Answered || best.State == discovery.Unprobed ||
			result.State.Asked() && !best.State.Asked()
		if result.State == discovery.Answered && best.State == discovery.Answered {
			better = result.RTT < best.RTT
		}
		if better {
			best = result
		}
	}
	return best
}

// Group returns the result of the NAT group for a server, if the player is not alone in it.
func (k Knowledge) Group(server int) (result discovery.Result, is bool) {
	if len(k.mates) < 2 {
		return result, false
	}
	return Pooled(k.mates, server), true
}

// Servers yields the servers with a result of the player or the NAT group, each once.
func (k Knowledge) Servers() iter.Seq[int] {
	if len(k.mates) < 2 {
		return k.own.Servers()
	}
	return func(yield func(int) bool) {
		seen := map[int]bool{}
		for _, mate := range k.mates {
			for server := range mate.Servers() {
				if !seen[server] && !yield(server) {
					return
				}
				seen[server] = true
			}
		}
	}
}

// Silent returns the servers that the player was asked for and that answered neither the player nor
// the others of the group.
func (k Knowledge) Silent() (silent []int) {
	for server := range k.own.Servers() {
		if state := k.At(server).State; state != discovery.Answered && state != discovery.Unprobed {
			silent = append(silent, server)
		}
	}
	return silent
}

// Progress returns the number of servers that the player knows, and the number that answered.
func (k Knowledge) Progress() (probed, answered int) {
	if len(k.mates) < 2 {
		return k.own.Progress()
	}
	for server := range k.Servers() {
		state := Pooled(k.mates, server).State
		probed += toInt(state.Asked())
		answered += toInt(state == discovery.Answered)
	}
	return probed, answered
}

// lateness returns how late timers fire on any machine that measured for the player.
func (k Knowledge) lateness() time.Duration {
	late := k.own.late
	for _, mate := range k.mates {
		late = max(late, mate.late)
	}
	return late
}

// Column is a player's column in a table.
type Column struct {
	Player people.ID
	Knowledge
	// Raised holds the least RTT that counts, for some servers.
	Raised map[int]time.Duration
	// Hidden are the servers that the player cannot get to.
	Hidden []int
}

// Table returns the players' measurements of a list of servers, for a choice.
func Table(servers int, players []Column) *selection.Table {
	var ids []string
	for i := range players {
		ids = append(ids, string(players[i].Player))
	}
	t := selection.NewTable(ids, servers)
	for column := range players {
		p := &players[column]
		t.SetLate(column, p.lateness())
		for server := range p.Servers() {
			result := p.At(server)
			t.Set(column, server, result.State, max(result.RTT, p.Raised[server]))
		}
		for _, server := range p.Hidden {
			t.Set(column, server, discovery.Lost, 0)
		}
		for server, look := range p.own.looks {
			t.SetQuality(column, server, look.Quality)
		}
	}
	return t
}
