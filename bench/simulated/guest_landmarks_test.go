package simulated

import (
	"cmp"
	"flag"
	"math/rand/v2"
	"slices"
	"time"

	"muster/internal/sim"
	"muster/selection/estimate"
)

// These flags let guests measure landmarks in TestGuests.
var (
	guestLandmarks = flag.Int("guest-landmarks", 0, "how many landmarks a guest has measured")
	landmarksOf    = flag.String("guest-landmarks-of", "near", "which: near ones (of the third that is nearest to the group), or any")
	landmarksBy    = flag.String("guest-landmarks-by", "all", "who else has measured them: all players, or none")
)

// nearShare is the share of the sites that are near.
const nearShare = 1. / 3

// site is a machine that may be a landmark.
type site struct {
	estimate.Landmark
	// rtt returns the RTT of the guest (-1) or a player. Negative is silence.
	rtt func(player int) time.Duration
	// isAt reports whether a server stands there, too. Then its estimate proves nothing.
	isAt func(server int) bool
}

// landmarks draws a guest's landmarks.
func (c *guestCase) landmarks(players int) (drawn []site) {
	if *guestLandmarks == 0 || c.site == nil {
		return nil
	}
	const tried = 300
	type candidate struct {
		site
		sum time.Duration
	}
	var all []candidate
	rng := rand.New(rand.NewPCG(uint64(c.rtt(-1, 0)), 0x6c616e646d61726b))
	for _, i := range rng.Perm(c.sites)[:min(tried, c.sites)] {
		one, isSilent := candidate{site: c.site(i)}, false
		for p := -1; p < players; p++ {
			rtt := one.rtt(p)
			one.sum, isSilent = one.sum+rtt, isSilent || rtt < 0
		}
		if !isSilent {
			all = append(all, one)
		}
	}
	if *landmarksOf == "near" {
		slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.sum, b.sum) })
		all = all[:min(len(all), max(*guestLandmarks, int(nearShare*float64(len(all)))))]
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	for _, one := range all[:min(*guestLandmarks, len(all))] {
		drawn = append(drawn, one.site)
	}
	return drawn
}

// fittedTo returns the hosts of a matrix to which the numbers for landmarks are fitted, by index. They
// are half of PlanetLab's. Guests, players and landmarks are of the other half.
func fittedTo(m sim.Matrix) map[int]bool {
	fitted := map[int]bool{}
	if *guestLandmarks > 0 {
		for _, host := range rand.New(rand.NewPCG(4, 9)).Perm(len(m))[:len(m)/2] {
			fitted[host] = true
		}
	}
	return fitted
}

// known returns what an estimator knows of landmarks.
func known(sites []site, players int) (all []estimate.Landmark) {
	for _, s := range sites {
		l := s.Landmark
		l.Guest = s.rtt(-1)
		for p := range players {
			if *landmarksBy == "all" {
				l.Players = append(l.Players, s.rtt(p))
			}
		}
		all = append(all, l)
	}
	return all
}
