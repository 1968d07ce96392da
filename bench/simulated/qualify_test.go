package simulated

import (
	"flag"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/sim"
	"muster/selection"
)

// These flags measure which limits a group's search finds kept, by the share of the list that keeps
// them. The gate runs a small part. Worlds and groups are those of TestSweep:
//
//	go -C bench test ./simulated -run TestQualifying -v -timeout 0 -qualify 0.02,0.05,0.1,0.2,0.5,1,2,5 -sweep-worlds 20 -sweep-from 65000 -sweep-groups musst,world-16
var qualifyShares = flag.String("qualify", "", "shares of the list that keep the limit, in percent")

// unlimited is the limit above the one under test, so that a search that misses that one still
// finds a server.
const unlimited = time.Minute

// TestQualifying checks that the search finds a limit kept that 0.5 % of the list keeps for
// everybody, or says that it may be.
func TestQualifying(t *testing.T) {
	worlds, of, groups, shares, taste := *sweepWorlds, *sweepOf, *sweepGroups, *qualifyShares, *qualifyShares == ""
	if taste {
		worlds, of, groups, shares = 2, "night2000", "musst", "0.5"
	}
	rules := []selection.Rule{selection.Threshold, selection.FairThreshold}
	for _, kind := range strings.Split(of, ",") {
		for _, group := range strings.Split(groups, ",") {
			t.Logf("| list | group | rule | %% that keep it by 1 ms | found | missed, but said that there may be one | chosen | asked |")
			for _, share := range strings.Split(shares, ",") {
				percent := sweepNumber(t, share)
				var trials []Trial
				for _, rule := range rules {
					trials = append(trials, func(g *sim.Group, seed uint64) (trialRun, error) {
						limits := []time.Duration{limitOf(g, percent/100), unlimited}
						return runTrial(g, sim.Coordinated, sim.GroupOptions{Criteria: selection.Criteria{By: rule, Limits: limits}}, seed)
					})
				}
				all, err := Sweep(sweepGroup(t, kind, group), *sweepFrom, worlds, trials)
				if err != nil {
					t.Fatal(err)
				}
				for i, runs := range all {
					found, said, chosen := 0, 0, 0
					for _, r := range runs {
						if r.Kept { // by the true RTTs: in the choice two packets' errors may break the limit
							chosen++
						}
						if r.FoundKept {
							found++
						} else if r.Search.Reach > 0 {
							said++
						}
					}
					if taste && found+said < worlds {
						t.Errorf("%s: a limit that %v %% of the list keep was missed without a word: %+v", rules[i], share, runs)
					}
					asked := sim.Quantile(runs, 0.5, func(r trialRun) float64 { return r.Search.Probes })
					t.Logf("| %s | %s | %s | %s | %d of %d | %d | %d | %.0f |", kind, group, rules[i], share, found, len(runs), said, chosen, asked)
				}
			}
		}
	}
}

// limitOf returns the limit that such a share of the list keeps for everybody, at least one server,
// with a packet pair's error to spare. On a matrix hundreds of servers are equally far, to the
// microsecond.
func limitOf(g *sim.Group, share float64) time.Duration {
	var highest []time.Duration
	for server := range g.Vantages[0].Servers {
		worst := time.Duration(0)
		for _, v := range g.Vantages {
			if rtt := v.RTT[server]; rtt < 0 {
				worst = math.MaxInt64
			} else {
				worst = max(worst, rtt)
			}
		}
		highest = append(highest, worst)
	}
	slices.Sort(highest)
	return highest[max(1, int(math.Round(share*float64(len(highest)))))-1] + time.Millisecond
}
