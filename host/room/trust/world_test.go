package trust

import (
	"fmt"
	"net/netip"
	"time"

	"muster/discovery"
	"muster/host/room/people"
	"muster/selection"
)

const (
	ms = time.Millisecond
	// The values that replace an RTT.
	unprobed, lost = 0, -1
)

// world returns a basis with everybody's results for servers in networks of their own, in ms, for a
// choice by the lowest average.
func world(servers int, players []people.ID, rtt func(player, server int) int) selection.Basis {
	b := selection.Basis{
		Servers:  selection.Servers{Infos: map[int]*discovery.Info{}},
		Table:    selection.NewTable(people.Texts(players), servers),
		Criteria: selection.Criteria{By: selection.Mean, Seats: 1, Top: 25, Reasons: 50},
		Along:    people.Texts(players),
	}
	for server := range servers {
		b.Servers.List = append(b.Servers.List, discovery.Server{Addr: addrOf(fmt.Sprintf("20.%d.0.1", server))})
		b.Servers.Infos[server] = &discovery.Info{MaxPlayers: 64}
		for player := range players {
			switch took := rtt(player, server); took {
			case unprobed:
			case lost:
				b.Table.Set(player, server, discovery.Lost, 0)
			default:
				b.Table.Set(player, server, discovery.Answered, time.Duration(took)*ms)
			}
		}
	}
	return b
}

// four are the players of most worlds; dan, the last, is the odd one.
var four = []people.ID{"ann", "bob", "cat", "dan"}

const dan = 3

// honest returns the ping of a player who tells the truth. The first server is the best.
func honest(player, server int) int { return 10*server + 10 + player }

// but returns the honest answers, except that dan answers with word.
func but(word func(server int) int) func(player, server int) int {
	return func(player, server int) int {
		if player == dan {
			return word(server)
		}
		return honest(player, server)
	}
}

func addrOf(addr string) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr(addr), 27960) }
