package places

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection"
)

const (
	// muchBetter is the least lead over the best server that makes a place worth a server of the
	// group's own. Players feel such a difference, and it is more than the error of a single look.
	muchBetter = 15 * time.Millisecond
	// placesNamed bounds the places that a sentence names.
	placesNamed = 3
)

// relaxed is the best server without limits, for a choice that found no server within the limits.
type relaxed struct {
	of   *selection.Selection
	best *selection.Ranked
}

// NeedsComparison reports whether the survey needs the best server without limits for comparison,
// because a choice found none within them; see [Survey.Compare].
func (s *Survey) NeedsComparison(of *selection.Selection) bool {
	return s.state.Attempt > 0 && of != nil && of.Chosen == nil && s.relaxed.of != of
}

// Compare finds the best server without limits in the basis of the choice. It returns the result.
func (s *Survey) Compare(b selection.Basis, sc Scene) News {
	b = b.For(s.group(sc))
	b.Criteria.Limits, b.Criteria.Top, b.Criteria.Reasons = nil, 1, -1
	s.relaxed = relaxed{sc.Selection, selection.NewFilter(b.Servers, b.Criteria).Select(b.Table).Chosen}
	return News{Notes: s.tell(sc)}
}

// bestNow returns the group's best server, nil if none answers all.
func (s *Survey) bestNow(of *selection.Selection) *selection.Ranked {
	switch {
	case of == nil:
		return nil
	case of.Chosen == nil && s.relaxed.of == of:
		return s.relaxed.best
	}
	return of.Chosen
}

// tell returns notes on the result of a survey, once all players have answered and the room has
// chosen or has failed.
func (s *Survey) tell(sc Scene) []sentence.Sentence {
	if s.state.IsTold || s.state.Attempt == 0 || len(s.waiting(sc)) > 0 {
		return nil
	}
	sites := s.sites(sc)
	if sites == nil || sites.Answer.IsZero() {
		return nil
	}
	s.state.IsTold = sc.Selection != nil // without a choice the comparison comes later
	return []sentence.Sentence{sites.Answer}
}

// View returns the names of the candidate places, and forecasts for servers there. The forecasts
// are nil before anybody was asked.
func (s *Survey) View(sc Scene, names *people.Names) (candidates []string, sites *wire.Sites) {
	for _, v := range sc.Places {
		candidates = append(candidates, v.Name)
	}
	for _, h := range s.homesIn(sc) {
		candidates = append(candidates, h.Place.Name)
	}
	if sites = s.sites(sc); sites == nil {
		return candidates, nil
	}
	sites.Answer, sites.Waiting = names.Word(sites.Answer), names.All(people.IDs(sites.Waiting))
	for i := range sites.Sites {
		site := &sites.Sites[i]
		site.Silent, site.RTT = names.All(people.IDs(site.Silent)), people.Named(site.RTT, names)
	}
	return candidates, sites
}

// group returns the players that a place has to suit, as package selection knows them.
func (s *Survey) group(sc Scene) (players []string) {
	for _, p := range sc.Players {
		counts := p.IsHere || s.hasAnswered(p.ID)
		if sc.Selection != nil {
			counts = slices.Contains(sc.Selection.Players, string(p.ID))
		}
		if counts && !p.IsLeftOut {
			players = append(players, string(p.ID))
		}
	}
	return players
}

// sites returns forecasts for servers at the places, the best first, with IDs in place of names.
func (s *Survey) sites(sc Scene) *wire.Sites {
	venues := s.venues(sc.Places)
	if s.state.Attempt == 0 || len(venues) == 0 {
		return nil
	}
	group := s.group(sc)
	objective := sc.Criteria.Objective(group)
	if sc.Selection != nil { // extras count from the players' best pings to servers, not to places
		objective = sc.Selection.Above(objective, group)
	}
	ranked := make([]candidate, 0, len(venues))
	for i, v := range venues {
		c := s.candidate(i, v.Name, group, objective)
		if home := i - len(sc.Places); home >= 0 {
			c.host = s.state.Homes[home].Player
		}
		ranked = append(ranked, c)
	}
	slices.SortStableFunc(ranked, candidate.compare)
	view := &wire.Sites{Waiting: people.Texts(s.waiting(sc)), Sites: []wire.Site{}}
	for _, c := range ranked {
		view.Sites = append(view.Sites, c.Site)
	}
	if len(ranked[0].RTT) == 0 || len(group) == 0 {
		if len(view.Waiting) == 0 {
			view.Answer = sentence.Of("sites.none-answered")
		}
		return view
	}
	now := s.bestNow(sc.Selection)
	if now != nil {
		view.Now = &wire.Figures{MeanMS: now.MeanMS, MaxMS: now.MaxMS}
	}
	if first := ranked[0]; first.Suits && sc.Selection != nil {
		view.Better = now == nil || sc.Selection.Chosen == nil || now.Score-first.score > discovery.MS(muchBetter)
	}
	view.Answer = answer(view, ranked, sc.Selection)
	return view
}

// candidate is a place with its score by the room's rule.
type candidate struct {
	wire.Site
	score float64
	level int // the index of the strictest limit that it keeps
	// host is the player whose computer it is, empty if it stands in the organiser's list.
	host people.ID
}

// says returns the sentence of a key about the place. If that is a player's computer the sentence
// has the player, too, so that the log forgets it with the player.
func (c candidate) says(key string, pairs ...any) sentence.Sentence {
	pairs = append(pairs, "place", c.Name)
	if c.host != "" {
		pairs = append(pairs, "host", c.host)
	}
	return sentence.Of(key, pairs...)
}

// compare orders places by the number of silent players, the strictest limit kept, and the score.
func (c candidate) compare(other candidate) int {
	return cmp.Or(
		cmp.Compare(len(c.Silent), len(other.Silent)), cmp.Compare(c.level, other.level),
		cmp.Compare(c.score, other.score), strings.Compare(c.Name, other.Name),
	)
}

// candidate returns a place with a group's measurements, under an objective for these players.
func (s *Survey) candidate(place int, name string, group []string, objective *selection.Objective) candidate {
	c := candidate{Site: wire.Site{Name: name, RTT: map[string]float64{}}}
	rtts := make([]float64, len(group))
	for i, player := range group {
		of := s.state.Found[people.ID(player)]
		if of.Attempt != s.state.Attempt || place >= len(of.Found) || of.Found[place].State != discovery.Answered {
			c.Silent = append(c.Silent, player)
			continue
		}
		rtts[i] = discovery.MS(time.Duration(of.Found[place].RTT))
		c.RTT[player] = rtts[i]
		c.MeanMS += rtts[i] / float64(len(group))
		c.MaxMS = max(c.MaxMS, rtts[i])
	}
	c.score = objective.Score(rtts)
	limits := objective.Limits()
	for c.level < len(limits) && c.MaxMS > discovery.MS(limits[c.level]) {
		c.level++
	}
	c.Suits = len(c.Silent) == 0 && len(group) > 0 && (len(limits) == 0 || c.level < len(limits))
	if len(c.Silent) > 0 {
		c.Figures = wire.Figures{}
	}
	return c
}

// answer names the places where a server would suit, or be better.
func answer(s *wire.Sites, ranked []candidate, selected *selection.Selection) sentence.Sentence {
	best := ranked[0]
	var named []sentence.Sentence
	for _, site := range ranked[:min(placesNamed, len(ranked))] {
		if len(site.Silent) > 0 || site.Suits != best.Suits {
			break
		}
		key := "sites.gives"
		if len(named) > 0 {
			key = "sites.gives-too"
		}
		named = append(named, site.says(key, "ms", math.RoundToEven(site.MeanMS), "worst", math.RoundToEven(site.MaxMS)))
	}
	if len(named) == 0 {
		return best.says("sites.none-reaches", "players", best.Silent)
	}
	var all [placesNamed]sentence.Sentence
	copy(all[:], named)
	would := sentence.Of("sites.would", "n", len(named), "first", all[0], "second", all[1], "third", all[2])
	now := sentence.Of("sites.no-server")
	if s.Now != nil {
		now = sentence.Of("sites.now-gives", "ms", math.RoundToEven(s.Now.MeanMS), "worst", math.RoundToEven(s.Now.MaxMS))
	}
	switch {
	case !best.Suits:
		return sentence.Of("sites.no-better", "would", would, "now", now)
	case selected == nil: // nobody has measured servers yet
		return sentence.Of("sites.own", "would", would)
	case selected.Chosen != nil && !s.Better:
		return sentence.Of("sites.little-better", "would", would, "now", now)
	}
	return sentence.Of("sites.suit", "would", would, "now", now)
}
