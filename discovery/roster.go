package discovery

import (
	"maps"
	"time"
)

// Roll is a Protocol whose servers tell their players' names on request.
type Roll interface {
	Protocol
	// Roll returns the protocol that asks for them. The Info in its replies has a
	// Roster, and may have nothing else.
	Roll() Protocol
}

// Roster lists a server's players, as the server tells. Names are cleaned for display.
type Roster struct{ Players []Player }

// Player is one player of a [Roster].
type Player struct {
	Name  string
	Score int
	// Ping is what the server measured. It is 0 for a bot, or if the server does not tell.
	Ping time.Duration
}

// connecting is the ping that Quake's servers list for a player who is not in the game yet. Longer
// ones mean that, too.
const connecting = 999 * time.Millisecond

// Pings returns the players' pings by name. Players without a ping, and names that two players
// share, are left out. A nil Roster has none.
func (r *Roster) Pings() map[string]time.Duration {
	pings := map[string]time.Duration{}
	if r == nil {
		return pings
	}
	count := map[string]int{}
	for _, p := range r.Players {
		count[p.Name]++
		if p.Ping > 0 && p.Ping < connecting {
			pings[p.Name] = p.Ping
		}
	}
	maps.DeleteFunc(pings, func(name string, _ time.Duration) bool { return name == "" || count[name] > 1 })
	return pings
}
