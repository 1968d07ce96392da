package room

import (
	"errors"
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/coordinate"
	"muster/selection/estimate"
)

// Count has a guest counted in the choice by an estimate of their pings, which only the
// organiser may order, or no longer, which the guest may, too: nobody knows better that
// the address is a VPN's.
type Count struct {
	Name    string `json:"name"`
	Counted bool   `json:"counted"`
}

func (a Count) do(r *Room, by caller) error {
	g := r.guests.named(a.Name)
	isSelf := g != nil && by.Name == g.name
	switch {
	case !by.IsOrganiser && (a.Counted || !isSelf):
		return errOrganiserOnly
	case g == nil:
		return errors.New("nobody of that name has only the page")
	case g.counted == a.Counted:
		return nil
	}
	if a.Counted {
		e, why := r.estimator(g)
		if e == nil {
			return errors.New(why)
		}
		r.note("%s counts in the choice, by estimated pings: give or take %.0f ms", g.name, aboutMS(e.Typical()))
	} else {
		r.note("%s is not counted in the choice any more", g.name)
	}
	g.counted = a.Counted
	if _, coordinating := r.phase.(*Coordinating); coordinating {
		r.round.search = nil // it looked for others
	}
	if r.isVoting() {
		switch selected := r.selectFor(r.round.chosenFor()); {
		case selected.Chosen == nil:
		case selected.Chosen.Server == r.round.selection.Chosen.Server: // and no vote is lost
			r.round.selection, r.round.whatIf = &selected, nil
			r.weigh()
		default:
			r.rechoose(selected)
		}
	}
	return nil
}

// aboutMS is an error in milliseconds, as people are told it.
func aboutMS(d time.Duration) float64 { return math.Ceil(rttMS(d)) }

// place is where an origin is, for estimates. Those at home have the host's public
// address in common, and its place is not known.
func (o Origin) place() estimate.Place {
	p := estimate.Place{Country: o.Country, ASN: o.ASN}
	switch {
	case o.Home:
		p.Addr = behindHost
	case discovery.ReachOf(o.Addr) == discovery.InternetReach:
		p.Addr = o.Addr
	}
	return p
}

// estimates are by what a guest's pings are estimated: one estimator as long as the guest and
// the players are where they were, as what it reckons once it knows.
type estimates struct {
	at    estimate.Place
	among []estimate.Place
	by    *estimate.Estimator
}

// estimator estimates a guest's pings from what the players measure whom the round counts
// on, or is nil, and why says that it is not worth it.
func (r *Room) estimator(g *guest) (e *estimate.Estimator, why string) {
	at := g.origin.place()
	if !at.Addr.IsValid() {
		return nil, "the page's address tells nothing: it is a private one, or that of a tunnel"
	}
	if among := r.whereabouts(); g.estimates.by == nil || g.estimates.at != at || !slices.Equal(g.estimates.among, among) {
		g.estimates = estimates{at, among, estimate.New(at, among)}
	}
	if e = g.estimates.by; !e.IsWorthwhile(r.settings.By) {
		return nil, "nobody near enough measures: an estimate would be a guess"
	}
	return e, ""
}

// whereabouts are the places of the active players.
func (r *Room) whereabouts() []estimate.Place { return placesOf(r.round.active()) }

// placesOf are where players are. Whoever turned out to sit elsewhere than the address says
// is nowhere.
func placesOf(players []*player) []estimate.Place {
	var places []estimate.Place
	for _, p := range players {
		place := p.origin.place()
		if p.apart {
			place = estimate.Place{}
		}
		places = append(places, place)
	}
	return places
}

// isCounted reports whether the organiser counts somebody in who has only the page.
func (r *Room) isCounted(p *person) bool {
	return slices.ContainsFunc(r.guests, func(g *guest) bool { return &g.person == p && g.counted })
}

// counted are the guests who are counted in and can be.
func (r *Room) counted() []*guest {
	var counted []*guest
	for _, g := range r.guests {
		if g.counted {
			if e, _ := r.estimator(g); e != nil {
				counted = append(counted, g)
			}
		}
	}
	return counted
}

// tableFor is what a group of players measured, for a choice among them and guests who are
// counted in.
func (r *Room) tableFor(group []*player, guests []*guest) *selection.Table {
	t := r.round.table(group, guestNames(guests)...)
	r.estimated(t, group, guests)
	return t
}

// estimated has the estimates of guests in a table of what a group of players measured,
// which has columns for them behind the players', for each server that somebody measured.
// An estimate is no reason to leave a server out for being unreachable or for the pings
// that it lets in: those are for measurements.
func (r *Room) estimated(t *selection.Table, group []*player, guests []*guest) {
	active := r.round.active()
	columns := make([]int, len(active))
	for i, p := range active {
		columns[i] = slices.Index(group, p)
	}
	rtts := make([]time.Duration, len(active))
	for at, g := range guests {
		e, _ := r.estimator(g)
		for server := range r.round.servers.List {
			known := false
			for i, column := range columns {
				if rtts[i] = 0; column >= 0 {
					if state, rtt := t.At(column, server); state == discovery.Answered {
						rtts[i], known = rtt, true
					}
				}
			}
			if !known {
				continue
			}
			rtt := e.Estimate(r.round.servers.List[server].Country, rtts).RTT
			if info := r.round.servers.Info(server); info != nil && info.MaxPing > 0 {
				rtt = min(rtt, info.MaxPing)
			}
			if info := r.round.servers.Info(server); info != nil {
				rtt = max(rtt, info.MinPing)
			}
			t.Set(len(group)+at, server, discovery.Answered, rtt)
		}
	}
}

// searchedFor is a guest as a search for some players knows of, each of whom may stand for
// others behind the same address.
func searchedFor(g *guest, heads []*player) coordinate.Guest {
	e := estimate.New(g.origin.place(), placesOf(heads))
	return coordinate.Guest{Name: g.name, RTT: func(country string, rtts []time.Duration) time.Duration { return e.Estimate(country, rtts).RTT }}
}

// confess marks in a selection whose pings are estimated: nothing was measured of their
// loss and jitter.
func (r *Room) confess(s *selection.Selection, guests []*guest) {
	if len(guests) == 0 {
		return
	}
	s.Estimated = map[string]float64{}
	for _, g := range guests {
		e, _ := r.estimator(g)
		s.Estimated[g.name] = aboutMS(e.Typical())
		for _, ranked := range s.Ranking {
			delete(ranked.Loss, g.name)
			delete(ranked.JitterMS, g.name)
		}
		if s.Chosen != nil {
			delete(s.Chosen.Loss, g.name)
			delete(s.Chosen.JitterMS, g.name)
		}
	}
}

// estimateOf is what people see of how a guest may be counted in.
func (r *Room) estimateOf(g *guest) *wire.Estimate {
	e, why := r.estimator(g)
	if e == nil {
		return &wire.Estimate{Why: why}
	}
	estimated := &wire.Estimate{Counted: g.counted, ErrorMS: aboutMS(e.Typical())}
	if s := r.round.selection; g.counted && s != nil && s.Chosen != nil && s.Estimated[g.name] == 0 && r.phase.stage() == wire.Chosen {
		estimated.Why = "no server would suit everyone with them: the choice is without"
	}
	return estimated
}

// guestNames are those of guests.
func guestNames(guests []*guest) []string {
	names := make([]string, len(guests))
	for i, g := range guests {
		names[i] = g.name
	}
	return names
}
