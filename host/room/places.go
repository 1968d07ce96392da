package room

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// Candidate places are where a server could be, and none is. Players measure them as they
// do servers, once an evening, as soon as there is a choice or none:
//
//	choice, or nothing suits ─▶ Survey ─▶ Surveyed, of each ─▶ by the room's rule ─▶ Sites
//
// No place is ever chosen, and nothing waits for their answers.

const (
	// surveySamples is how often a player asks a place: the lowest is taken.
	surveySamples = 3
	// surveyPause is how long a room rests between two surveys that the organiser orders.
	surveyPause = 30 * time.Second
	// mostAnew is how often the players begin anew because somebody's computer is no longer
	// to be told, or is elsewhere: else a program that comes and goes, or says one port of its
	// router after the other, has everybody measure without an end.
	mostAnew = 3
	// muchBetter is from how much on a place is worth a server of one's own where one
	// suits: a step that players feel, and the survey's single look does not blur.
	muchBetter = 15 * time.Millisecond
	// placesNamed is how many places a sentence names.
	placesNamed = 3
)

// survey is what the room had its players measure of the candidate places.
type survey struct {
	// Attempt tells it from the ones before, 0 before there was any, and At is when it
	// began. Told: people know what came of it.
	Attempt int `json:"attempt,omitempty"`
	// Before is the last of those before, while there are no places: an answer that is
	// late by then is none to the next.
	Before int       `json:"before,omitempty"`
	At     time.Time `json:"at,omitzero"`
	Told   bool      `json:"told,omitempty"`
	// Anew is how often it was begun anew, see mostAnew.
	Anew int `json:"anew,omitempty"`
	// Homes are the players' own machines among what is measured: all of them agreed.
	Homes []homeVenue `json:"homes,omitempty"`
}

// forgotten is what is left of a survey that is no more.
func (s survey) forgotten() survey { return survey{Before: max(s.Attempt, s.Before)} }

// homeVenue is a player's own machine, which could host.
type homeVenue struct {
	Player string     `json:"player"`
	Place  wire.Venue `json:"place"`
}

// ownPing is what a player has to a server on their own machine: next to nothing.
const ownPing = discovery.Millis(100 * time.Microsecond)

// homes are the machines of players who could host, if all who are here have agreed that
// the programs of the others are told where they are, and have an address that all reach:
// one on the internet or, while all came in over one network of the host's, one there.
func (r *Room) homes() (homes []homeVenue) {
	here := filtered(r.round.players, func(p *player) bool { return r.round.mark(p).Here })
	areBeside := areNeighbours(here)
	for _, p := range here {
		if p.beacon == 0 {
			return nil
		}
		addr, port, name := p.origin.Addr.Unmap().WithZone(""), cmp.Or(p.outside, p.beacon), p.name+"'s computer"
		if areBeside { // with no router between them
			addr, port = p.origin.beside(), p.beacon
		}
		isTaken := slices.ContainsFunc(r.settings.Places, func(v wire.Venue) bool { return v.Name == name })
		if (areBeside || discovery.ReachOf(addr) == discovery.InternetReach) && !isTaken && len(homes)+len(r.settings.Places) < wire.MaxVenues {
			homes = append(homes, homeVenue{p.name, wire.Venue{Name: name, Addr: netip.AddrPortFrom(addr, port), Protocol: "beacon"}})
		}
	}
	return homes
}

// areNeighbours reports whether all players came in over one network of the host's, each at
// an address of their own there. Who came by another, such as a VPN, may have other machines
// at the same addresses at home; and an address of two is a gateway's.
func areNeighbours(players []*player) bool {
	seen := map[netip.Addr]bool{}
	var network netip.Prefix
	for _, p := range players {
		at := p.origin.beside()
		if !at.IsValid() || seen[at] {
			return false
		}
		bits := 64
		switch {
		case discovery.IsCarriers(at): // of a mesh VPN's, too, whose addresses are all over it
			bits = 10
		case at.Is4():
			bits = 24
		}
		if network.IsValid() && !network.Contains(at) {
			return false
		}
		network, seen[at] = netip.PrefixFrom(at, bits), true
	}
	return true
}

// venues are what the newest survey measures: the organiser's places, and then homes.
func (r *Room) venues() wire.Venues {
	venues := slices.Clip(r.settings.Places)
	for _, h := range r.survey.Homes {
		venues = append(venues, h.Place)
	}
	return venues
}

// surveyed is what a player found in a survey, by place.
type surveyed struct {
	Attempt int           `json:"attempt,omitempty"`
	Found   []venueResult `json:"found,omitempty"`
}

// venueResult is the best of a player's samples of a place.
type venueResult struct {
	State discovery.State  `json:"state"`
	RTT   discovery.Millis `json:"rtt_ms,omitzero"`
}

// Survey has everyone measure the candidate places, once more if they have.
type Survey struct{}

func (Survey) steers() {}

func (Survey) do(r *Room, _ caller) error {
	switch {
	case len(r.settings.Places) == 0 && len(r.homes()) == 0:
		return errors.New("there are no places to measure: the organiser's list of them is empty, and not all players let the others measure their computers (--can-host)")
	case r.survey.Attempt > 0 && r.now.Sub(r.survey.At) < surveyPause:
		return errors.New("the places are being measured, or were a moment ago")
	}
	r.surveys()
	return nil
}

// surveys has everyone who is here measure the places.
func (r *Room) surveys() {
	r.survey = survey{Attempt: max(r.survey.Attempt, r.survey.Before) + 1, At: r.now, Homes: r.homes()}
	r.note("everyone measures %s for a server of our own", placesInWords(len(r.venues())))
	for _, p := range r.round.players {
		r.surveysFor(p)
	}
}

// surveysOnce does so if nobody has yet.
func (r *Room) surveysOnce() {
	if r.survey.Attempt == 0 && (len(r.settings.Places) > 0 || len(r.homes()) > 0) {
		r.surveys()
	}
	r.tellsPlaces()
}

// surveysFor has one player measure the places who has not. Those behind one address take
// turns, as servers that answer an address once a second want it.
func (r *Room) surveysFor(p *player) {
	if r.survey.Attempt == 0 || p.surveyed.Attempt == r.survey.Attempt || !r.round.mark(p).Here || len(r.venues()) == 0 {
		return
	}
	// Who does not show their own address is shown none, and nobody is shown that of
	// somebody who has left, or thought better of it.
	if r.dropHomes() {
		return
	}
	turn := slices.Index(r.round.natGroupOf(p), p)
	r.send(p, wire.Survey{Attempt: r.survey.Attempt, Places: r.venues(), Samples: surveySamples, After: discovery.Millis(time.Duration(turn) * surveySamples * betweenMates)})
}

// dropHomes drops what was measured if a player's machine is not to be measured any more, or
// elsewhere, and has everyone measure anew. It reports whether that is so.
func (r *Room) dropHomes() bool {
	homes := r.homes()
	if !slices.ContainsFunc(r.survey.Homes, func(h homeVenue) bool { return !slices.Contains(homes, h) }) {
		return false
	}
	anew := r.survey.Anew + 1
	if r.survey.Homes = nil; anew > mostAnew {
		r.survey = r.survey.forgotten()
	}
	if r.forgetPlaces(); r.survey.Attempt > 0 {
		r.survey.Anew = anew
	}
	return true
}

// surveyed takes what a player found.
func (Hear) surveyed(r *Room, p *player, m wire.Surveyed) error {
	if m.Attempt != r.survey.Attempt || m.Attempt == p.surveyed.Attempt {
		return nil // of a list that is no more, or again
	}
	found := make([]venueResult, len(r.venues()))
	for _, seen := range m.Places {
		if seen.Server < 0 || seen.Server >= len(found) {
			return nonsensef("a ping of place %d of %d", seen.Server, len(found))
		}
		v := venueResult{State: seen.State}
		if seen.State == discovery.Answered {
			v.RTT = discovery.Millis(wire.RoundRTT(time.Duration(slices.Min(seen.RTTs) * float64(time.Millisecond))))
		}
		found[seen.Server] = v
	}
	for i, h := range r.survey.Homes {
		if h.Player == p.name {
			found[len(r.settings.Places)+i] = venueResult{discovery.Answered, ownPing}
		}
	}
	p.surveyed = surveyed{m.Attempt, found}
	r.tellsPlaces()
	return nil
}

// tellsPlaces says what came of a survey, once all have answered and there is a choice, or
// none, to compare with.
func (r *Room) tellsPlaces() {
	if r.survey.Told || r.survey.Attempt == 0 || len(r.surveying()) > 0 {
		return
	}
	if sites := r.sites(); sites != nil && sites.Answer != "" {
		r.survey.Told = r.round.selection != nil // or it is compared later
		r.note("%s", sites.Answer)
	}
}

// surveying are the players who still measure the places.
func (r *Room) surveying() []string {
	return names(filtered(r.round.players, func(p *player) bool { return r.round.mark(p).Here && p.surveyed.Attempt != r.survey.Attempt }))
}

// forgetPlaces is for another list of places: what was measured is of none of it.
func (r *Room) forgetPlaces() {
	asked := r.survey.Attempt > 0
	r.survey.Told = false
	for _, p := range r.round.players {
		p.surveyed = surveyed{}
	}
	switch {
	case len(r.settings.Places) == 0 && len(r.homes()) == 0:
		r.survey = r.survey.forgotten()
	case asked:
		r.surveys()
	}
}

// sites is what servers at the places would be like; nil before anybody was asked.
func (r *Room) sites() *wire.Sites {
	venues := r.venues()
	if r.survey.Attempt == 0 || len(venues) == 0 {
		return nil
	}
	group := filtered(r.round.active(), func(p *player) bool { return r.round.mark(p).Here || p.surveyed.Attempt == r.survey.Attempt })
	if r.round.selection != nil {
		group = r.round.chosenFor()
	}
	s := &wire.Sites{Waiting: r.surveying(), Sites: []wire.Site{}}
	if s.Waiting == nil {
		s.Waiting = []string{}
	}
	criteria := r.criteria(r.settings, group)
	objective := criteria.Objective(names(group))
	if r.round.selection != nil { // extras count from what players have without the places
		objective = r.round.selection.Above(objective, names(group))
	}
	ranked := make([]candidatePlace, 0, len(venues))
	for i, v := range venues {
		ranked = append(ranked, r.candidatePlace(i, v.Name, group, objective))
	}
	slices.SortStableFunc(ranked, candidatePlace.compare)
	for _, c := range ranked {
		s.Sites = append(s.Sites, c.Site)
	}
	if len(ranked[0].RTT) == 0 || len(group) == 0 {
		if len(s.Waiting) == 0 {
			s.Answer = "no place answered: is muster beacon running there, and is its port open for UDP?"
		}
		return s
	}
	now := r.bestNow()
	if now != nil {
		s.Now = &wire.Figures{MeanMS: now.MeanMS, MaxMS: now.MaxMS}
	}
	if first := ranked[0]; len(first.Silent) == 0 {
		s.Better = first.Suits && r.round.selection != nil && (now == nil || r.round.selection.Chosen == nil || now.Score-first.score > rttMS(muchBetter))
	}
	s.Answer = placesAnswer(s, r.round.selection)
	return s
}

// candidatePlace is a place with what the room's rule makes of it.
type candidatePlace struct {
	wire.Site
	score float64
	level int // of the limits that it keeps, 0 is the strictest
}

// compare is which comes first: what reaches everybody, keeps stricter limits, and scores
// better.
func (c candidatePlace) compare(other candidatePlace) int {
	return cmp.Or(cmp.Compare(len(c.Silent), len(other.Silent)), cmp.Compare(c.level, other.level), cmp.Compare(c.score, other.score), strings.Compare(c.Name, other.Name))
}

// candidatePlace is what a group measured of a place, under an objective for these players.
func (r *Room) candidatePlace(at int, name string, group []*player, objective *selection.Objective) candidatePlace {
	c := candidatePlace{Site: wire.Site{Name: name, RTT: map[string]float64{}}}
	rtts := make([]float64, len(group))
	for i, p := range group {
		if p.surveyed.Attempt != r.survey.Attempt || at >= len(p.surveyed.Found) || p.surveyed.Found[at].State != discovery.Answered {
			c.Silent = append(c.Silent, p.name)
			continue
		}
		rtts[i] = rttMS(time.Duration(p.surveyed.Found[at].RTT))
		c.RTT[p.name] = rtts[i]
		c.MeanMS += rtts[i] / float64(len(group))
		c.MaxMS = max(c.MaxMS, rtts[i])
	}
	c.score = objective.Score(rtts)
	for limits := objective.Limits(); c.level < len(limits) && c.MaxMS > rttMS(limits[c.level]); {
		c.level++
	}
	n := len(objective.Limits())
	c.Suits = len(c.Silent) == 0 && len(group) > 0 && (n == 0 || c.level < n)
	if len(c.Silent) > 0 {
		c.Figures = wire.Figures{}
	}
	return c
}

// relaxed is the best server whatever the limits, of a choice that found none within them.
type relaxed struct {
	of   *selection.Selection
	best *selection.Ranked
}

// bestNow is the best server that there is for the group, nil if none answers all.
func (r *Room) bestNow() *selection.Ranked {
	switch s := r.round.selection; {
	case s == nil:
		return nil
	case s.Chosen != nil:
		return s.Chosen
	case r.round.relaxed.of == s:
		return r.round.relaxed.best
	}
	return nil
}

// relaxes finds that server if it takes a search, which what only looks does not do.
func (r *Room) relaxes() {
	s := r.round.selection
	if s == nil || s.Chosen != nil || r.survey.Attempt == 0 || r.round.relaxed.of == s {
		return
	}
	group := r.round.chosenFor()
	criteria := r.criteria(r.settings, group)
	criteria.Limits, criteria.Top, criteria.Reasons = nil, 1, -1
	r.round.relaxed = relaxed{s, selection.NewFilter(r.round.servers, criteria).Select(r.round.table(group)).Chosen}
	r.tellsPlaces()
}

// placesAnswer says where a server would suit, or be better. All in ms, the average and who
// is worst off.
func placesAnswer(s *wire.Sites, selected *selection.Selection) string {
	var parts []string
	for _, site := range s.Sites[:min(placesNamed, len(s.Sites))] {
		if len(site.Silent) > 0 || site.Suits != s.Sites[0].Suits {
			break
		}
		if len(parts) == 0 {
			parts = append(parts, fmt.Sprintf("%s would give %v ms (average/worst)", site.Name, site.Figures))
		} else {
			parts = append(parts, fmt.Sprintf("%s %v", site.Name, site.Figures))
		}
	}
	would := strings.Join(parts, ", ")
	best := s.Sites[0]
	now := "no server answers all of you"
	if s.Now != nil {
		now = fmt.Sprintf("the best server there is gives %v", s.Now)
	}
	switch {
	case len(parts) == 0:
		return fmt.Sprintf("no place reaches all of you: %s did not answer %s", best.Name, strings.Join(best.Silent, ", "))
	case !best.Suits:
		return fmt.Sprintf("a server at one of your places would suit no better: %s; %s", would, now)
	case selected == nil: // nobody has measured servers yet
		return "a server of your own: " + would
	case selected.Chosen != nil && !s.Better:
		return fmt.Sprintf("a server of your own would not be much better: %s; %s", would, now)
	}
	return fmt.Sprintf("a server of your own would suit all: %s; %s", would, now)
}

func placesInWords(n int) string {
	if n == 1 {
		return "1 place"
	}
	return fmt.Sprintf("%d places", n)
}
