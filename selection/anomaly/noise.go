package anomaly

import (
	"math"
	"net/netip"
	"slices"

	"muster/discovery"
)

const (
	// noiseShare is the share of a player's blocks whose pings vary by no more than the player's
	// noise. The servers of one operator count as one block, because they can claim anything.
	noiseShare = 0.9
	// fewestNoisy is how many blocks are needed to estimate the spread.
	fewestNoisy = 5
	// quiet is the noise of an ordinary line and machine, in microseconds, which slack covers. On
	// quiet lines nine pings of ten to neighbours differ by 2 to 10 ms.
	quiet = 15_000
	// maxExcused is the most noise, in microseconds, that excuses a player's own pings, because a
	// liar can make up a spread, too.
	maxExcused = 100_000
)

// noise is how many microseconds too long a player's ping may be because the machine is busy or the
// line is poor. Neither makes a ping too short.
type noise struct {
	// witness applies where the player's pings speak against servers and other players. A player
	// who makes it up only weakens that player's own word.
	witness float64
	// own excuses the player's own pings. It comes from the pings alone: the load that the player's
	// program reports excuses nothing.
	own float64
	// usual is what most blocks show. Liars who bend a part of their pings make up a large own, but
	// not a large usual.
	usual float64
}

// noises returns each player's noise. Servers in one block of addresses stand in one place, so a
// player has nearly the same ping to all of them. The differences are noise.
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
	var words, rtts []float64 // reused for each of up to 64 players
	for player := range noises {
		words = words[:0]
		for _, block := range order {
			word, known := 0.0, false
			if word, known, rtts = spreadOf(table, player, blocks[block], rtts[:0]); known {
				words = append(words, word)
			}
		}
		late := excessNoise(float64(table.Late(player).Microseconds()))
		if len(words) < fewestNoisy {
			noises[player].witness = late
			continue
		}
		slices.Sort(words)
		spread := excessNoise(words[int(math.Ceil(noiseShare*float64(len(words))))-1])
		noises[player] = noise{max(spread, late), min(spread, maxExcused), excessNoise(words[len(words)/2])}
	}
	return noises
}

// excessNoise returns the noise, or 0 if an ordinary line is as noisy.
func excessNoise(noise float64) float64 {
	if noise <= quiet {
		return 0
	}
	return noise
}

// spreadOf returns how far a player's pings to the servers of a block commonly lie above the lowest
// of them. It keeps the pings in rtts, and returns that slice for reuse.
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
