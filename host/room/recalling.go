package room

import (
	"net/netip"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room/facts"
	"muster/host/room/people"
	"muster/selection/memory"
)

// Network is where a player comes from, by the host's tables: a country, and an AS or 0.
type Network struct {
	Country string
	ASN     uint32
}

// Learn tells the host how far an address is from parts of the internet, by a player's measurements
// in a round that has led to a launch.
type Learn struct {
	From netip.Addr
	Network
	Cells []memory.Cell
}

// Recall asks the host what it remembers of players' networks, for the parts of a list. The answer
// is [Recalled].
type Recall struct {
	Of   map[people.ID]Network
	List *topology.Tree
}

// Recalled is the host's memory of players' networks.
type Recalled struct{ Cells map[people.ID][]memory.Cell }

func (Learn) isOutput()  {}
func (Recall) isOutput() {}

func (in Recalled) step(r *Room) error {
	for player, cells := range in.Cells {
		if r.parts.Evidence[player] != nil { // else the player has left
			r.parts.Memories.Tell(player, cells)
		}
	}
	return nil
}

// recall asks the host for its memory of players' networks, for a search of the round's list.
func (o *outbox) recall(g *facts.Parts, players ...people.ID) {
	of := map[people.ID]Network{}
	for _, player := range players {
		if at := g.Origins.Place(player); at.Country != "" {
			of[player] = Network{at.Country, at.ASN}
		}
	}
	if len(of) > 0 {
		o.emit(Recall{of, g.List.Tree()})
	}
}

// learn tells the host the players' measurements, except of players who are doubted or left out. It
// drops the host's memory, because the next list may have other parts.
func (o *outbox) learn(g *facts.Parts) {
	for _, player := range g.Attendance.Players() {
		g.Memories.Tell(player, nil)
		at := g.Origins.Place(player)
		isDoubted := g.Trust.IsExcluded(player) || !g.Trust.Reason(player, &g.Servers).IsZero()
		if at.Country == "" || isDoubted || g.Attendance.Of(player).Out != "" || g.List.Tree() == nil {
			continue
		}
		if cells := memory.Of(g.List.Tree(), measured(g, player), o.now.Wall); len(cells) > 0 {
			o.emit(Learn{at.Addr, Network{at.Country, at.ASN}, cells})
		}
	}
}

// measured returns a player's own results for servers that the player was asked for. It leaves out
// servers that only some players can reach.
func measured(g *facts.Parts, player people.ID) (results []discovery.Result) {
	w := g.Evidence[player]
	for _, probe := range w.Probes() {
		result, _ := w.Probe(probe.Server)
		isPublic := discovery.ReachOf(g.Servers.List[result.Server].Addr.Addr()) == discovery.InternetReach
		if isPublic && w.IsAsked(result.Server) && !g.Nearby.IsHidden(player, result.Server) {
			results = append(results, result)
		}
	}
	return results
}
