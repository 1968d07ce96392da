package anomaly

import (
	"math"
	"net/netip"
	"slices"

	"muster/discovery"
)

const (
	// noiseShare is the share of a player's blocks whose pings vary by no more than the
	// player's noise. One operator's servers, which can say anything, are one block.
	noiseShare = 0.9
	// fewestNoisy is from how many blocks on the spread is known.
	fewestNoisy = 5
	// quiet is the noise of any line and machine, in microseconds: slack covers it. On quiet
	// lines nine pings of ten to neighbours differ by 2 to 10 ms.
	quiet = 15_000
	// mostExcused is the most noise, in microseconds, that excuses a player's own pings: a liar
	// can make up a spread, too.
	mostExcused = 100_000
)

// noise is by how much, in microseconds, a ping of a player may be too long because the
// machine is busy or the line is poor. It is never too short for that.
type noise struct {
	// witness counts where the player's pings speak against servers and others. Whoever
	// makes it up takes weight from their own word only.
	witness float64
	// own excuses the player's own pings. It is what the pings themselves show: what the
	// player's program says of the machine excuses nothing.
	own float64
}

// noises are those of a table's players. Servers in one block of addresses stand in one
// place, so a player has nearly the same ping to all of them. What these differ by is noise.
func noises(list []discovery.Server, table Table) []noise {
	blocks := map[netip.Prefix][]int{}
	var order []netip.Prefix
	for server := range table.Measured() {
		block := discovery.Bits{V4: 24, V6: 48}.Of(list[server].Addr.Addr())
		if blocks[block] == nil {
			order = append(order, block)
		}
		blocks[block] = append(blocks[block], server)
	}
	noises := make([]noise, len(table.Players()))
	var words, rtts []float64 // used again for each player: of 64 there are many
	for player := range noises {
		words = words[:0]
		for _, block := range order {
			word, known := 0.0, false
			if word, known, rtts = spreadOf(table, player, blocks[block], rtts[:0]); known {
				words = append(words, word)
			}
		}
		late := loud(float64(table.Late(player).Microseconds()))
		if len(words) < fewestNoisy {
			noises[player].witness = late
			continue
		}
		slices.Sort(words)
		spread := loud(words[int(math.Ceil(noiseShare*float64(len(words))))-1])
		noises[player] = noise{witness: max(spread, late), own: min(spread, mostExcused)}
	}
	return noises
}

// loud is the noise, or 0 if it is that of any line.
func loud(noise float64) float64 {
	if noise <= quiet {
		return 0
	}
	return noise
}

// spreadOf returns by how much a player's pings to the servers of a block are commonly above
// the lowest of them. It keeps the pings in rtts, and returns that for the next time.
func spreadOf(table Table, player int, servers []int, rtts []float64) (spread float64, known bool, _ []float64) {
	for _, server := range servers {
		if rtt := microseconds(table, player, server); rtt > 0 {
			rtts = append(rtts, rtt)
		}
	}
	if len(rtts) < 2 {
		return 0, false, rtts
	}
	slices.Sort(rtts)
	above := rtts[1:]
	return above[3*len(above)/4] - rtts[0], true, rtts
}
