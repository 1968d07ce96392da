package fleet

import (
	"iter"
	"math/rand/v2"
	"strconv"
	"time"

	"muster/discovery"
)

// character is a player on one of a fleet's servers.
type character struct {
	name      string
	score     int
	ping      time.Duration // 0 for a bot
	connected time.Duration
}

// surnames and epithets are where players' names come from.
var (
	epithets = [...]string{"Quick", "Silent", "Old", "Lucky", "Grim", "Tiny", "Mad", "Calm"}
	surnames = [...]string{"Sarge", "Anarki", "Badger", "Heron", "Magpie", "Otter", "Wren", "Lynx", "Stoat", "Viper"}
)

// castOf are the players of a server: always the same ones, as many as info
// has, bots last.
func castOf(seed uint64, server int, info *discovery.Info) iter.Seq[character] {
	return func(yield func(character) bool) {
		rng := rand.New(rand.NewPCG(seed, uint64(server)))
		for i := range info.Players {
			if !yield(draw(rng, i, i >= info.Players-info.Bots)) {
				return
			}
		}
	}
}

func draw(rng *rand.Rand, i int, bot bool) character {
	c := character{
		name:      epithets[rng.IntN(len(epithets))] + surnames[rng.IntN(len(surnames))] + strconv.Itoa(i+1),
		score:     rng.IntN(40),
		ping:      time.Duration(20+rng.IntN(180)) * time.Millisecond,
		connected: time.Duration(rng.IntN(7200)) * time.Second,
	}
	if bot {
		c.ping = 0
	}
	return c
}
