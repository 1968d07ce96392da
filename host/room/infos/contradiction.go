package infos

import (
	"slices"
	"time"

	"muster/host/room/people"
	"muster/selection/anomaly"
)

const (
	// sameMoment is the longest time between two reports on the same moment. A look takes some
	// seconds, and a map ten minutes.
	sameMoment = 15 * time.Second
	// countsApart is the largest plausible difference between two player counts in that time,
	// as a share of the seats.
	countsApart = 0.5
	// minContradicted is the least number of servers about which a player contradicts the others
	// before the room names the player. A server may start again with other settings in between.
	minContradicted = 3
	// contradictedShare is the least share of such servers among all that can be judged.
	// changedShare is that share for facts that change, and for the few servers with a second look.
	contradictedShare, changedShare = 0.05, 0.4
	// fewestToJudge is the least number of reports that show which one is wrong. They must also come
	// from more than half of the room. Otherwise two players could make a liar of anybody who was
	// asked for the same servers.
	fewestToJudge = 3
)

// contradiction counts the servers where a player's report differs from most others'.
type contradiction struct {
	differs, of       int // by lasting facts
	changed, ofMoment int // by changing facts, among reports of the same moment
	seen, ofSeen      int // by either, of servers that had their second look
}

// isNamed reports whether there are more contradictions than time and chance explain. It returns
// their number, and the number of servers compared.
func (c contradiction) isNamed() (servers, of int, named bool) {
	for _, kind := range []struct {
		n, of int
		share float64
	}{{c.differs, c.of, contradictedShare}, {c.changed, c.ofMoment, changedShare}, {c.seen, c.ofSeen, changedShare}} {
		if kind.n >= minContradicted && float64(kind.n) > kind.share*float64(kind.of) {
			return kind.n, kind.of, true
		}
	}
	return 0, 0, false
}

// Contradictions returns the players with more contradictions than time and chance explain, in
// their order, with the numbers of servers. Seen are the servers that everyone has looked at.
func (f *Infos) Contradictions(seen []int) (named []anomaly.Anomaly) {
	all := f.contradictions(seen)
	for i := range f.heard {
		player := f.heard[i].Player
		if servers, of, is := all[player].isNamed(); is {
			named = append(named, anomaly.Anomaly{Player: string(player), Sign: anomaly.Contradicts, Servers: servers, Of: of})
		}
	}
	return named
}

func (f *Infos) contradictions(seen []int) map[people.ID]contradiction {
	counts := 0
	for i := range f.heard {
		counts += toInt(f.heard[i].Counts)
	}
	all, fewest := map[people.ID]contradiction{}, max(fewestToJudge, counts/2+1)
	for server, words := range f.words {
		if len(words) < fewest {
			continue
		}
		if words = f.counting(server); len(words) < fewest {
			continue
		}
		first := words[0].info // in most cases all heard the same
		agreed := !slices.ContainsFunc(words, func(w word) bool { return w.info != first })
		wasLookedAt := slices.Contains(seen, server)
		for _, w := range words {
			if w.by == "" {
				continue
			}
			c := all[w.by]
			c.of++
			c.ofSeen += toInt(wasLookedAt)
			if agreed {
				c.ofMoment++
			} else {
				c.compare(w, words, fewest, wasLookedAt)
			}
			all[w.by] = c
		}
	}
	return all
}

// compare compares a report with all reports on the server.
func (c *contradiction) compare(w word, words []word, fewest int, wasLookedAt bool) {
	isLater := func(other word) bool { return (other.at - w.at).Abs() > sameMoment }
	lasting, _ := denied(w, words)
	changing := false
	moment := slices.DeleteFunc(slices.Clone(words), isLater)
	if len(moment) >= fewest {
		c.ofMoment++
		_, changing = denied(w, moment)
		c.changed += toInt(changing)
	}
	c.differs += toInt(lasting)
	c.seen += toInt(wasLookedAt && (lasting || changing))
}

// denied reports whether most reports differ from one of them, in lasting facts and in facts that
// may change in between.
func denied(w word, words []word) (lasting, changing bool) {
	said, most := *w.info, settle(words, *w.info)
	count, middle := said.Players, middleOf(words).Players
	changing = said.Map != "" && said.Map != most.Map || said.Mode != "" && said.Mode != most.Mode ||
		float64(max(count-middle, middle-count)) > countsApart*float64(max(most.MaxPlayers, 1))
	most.Map, most.Mode = said.Map, said.Mode
	most.Tags = said.Tags // some servers say in tags how full they are
	omit(&most.Name, said.Name)
	omit(&most.Version, said.Version)
	omit(&most.Protocol, said.Protocol)
	omit(&most.OldestProtocol, said.OldestProtocol)
	omit(&most.Mod, said.Mod)
	omit(&most.GamePort, said.GamePort)
	omit(&most.AppID, said.AppID)
	omit(&most.MinPing, said.MinPing)
	omit(&most.MaxPing, said.MaxPing)
	return said != most, changing
}

func toInt(is bool) int {
	if is {
		return 1
	}
	return 0
}

// omit empties a fact that a player left out. Another program may read less of a server's answer
// than Muster does, and a missing fact contradicts nobody.
func omit[V comparable](most *V, said V) {
	var nothing V
	if said == nothing {
		*most = nothing
	}
}
