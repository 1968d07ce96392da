// Package estimates counts people in a choice who have only the page: their pings are
// estimated from what players measure who sit near them.
//
// The organiser counts a guest in, who may take that back. Where an estimate would be a
// guess the package says why, and the guest does not count:
//
//	where guests and players are ─▶ View ───▶ give or take 9 ms, or why not
//	                              ─▶ Counted ─▶ In ──────▶ the basis of a choice with them
package estimates

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/coordinate"
	"muster/selection/estimate"
)

// Guests are the guests who are counted in. The zero value is none.
type Guests struct {
	counted []string
	// estimators are made anew where they no longer fit, and so are not saved.
	estimators map[string]estimator
}

// Saved is the section of the saved room.
type Saved struct {
	Counted []string `json:"counted,omitempty"`
}

// Save returns the section of the saved room.
func (g *Guests) Save() Saved { return Saved{g.counted} }

// Restore returns the guests who were saved.
func Restore(s Saved) Guests { return Guests{counted: s.Counted} }

// Scene is who is in the room, and where.
type Scene struct {
	// Guests are those who have only the page, in their order.
	Guests []Person
	// Players are those whom the round counts on.
	Players []Person
	// Rule is the room's.
	Rule selection.Rule
}

// Person is somebody, and where that is, as far as is known.
type Person struct {
	Name string
	At   estimate.Place
}

// places returns where people are.
func places(people []Person) []estimate.Place {
	var all []estimate.Place
	for _, p := range people {
		all = append(all, p.At)
	}
	return all
}

// estimator estimates one guest's pings as long as the guest and the players are where they
// were, because it keeps what it reckons.
type estimator struct {
	at    estimate.Place
	among []estimate.Place
	by    *estimate.Estimator
}

// estimator returns what estimates a guest's pings, or nil, and why that is not worth it.
func (g *Guests) estimator(guest Person, s Scene) (e *estimate.Estimator, why string) {
	if !guest.At.Addr.IsValid() {
		return nil, "the page's address tells nothing: it is a private one, or that of a tunnel"
	}
	among := places(s.Players)
	known := g.estimators[guest.Name]
	if known.by == nil || known.at != guest.At || !slices.Equal(known.among, among) {
		if g.estimators == nil {
			g.estimators = map[string]estimator{}
		}
		known = estimator{guest.At, among, estimate.New(guest.At, among)}
		g.estimators[guest.Name] = known
	}
	if !known.by.IsWorthwhile(s.Rule) {
		return nil, "nobody near enough measures: an estimate would be a guess"
	}
	return known.by, ""
}

// Count counts a guest in, and returns what people are told.
func (g *Guests) Count(guest Person, s Scene) (note string, err error) {
	e, why := g.estimator(guest, s)
	if e == nil {
		return "", errors.New(why)
	}
	g.counted = append(slices.Clip(g.counted), guest.Name)
	return fmt.Sprintf("%s counts in the choice, by estimated pings: give or take %.0f ms", guest.Name, errorMS(e)), nil
}

// Uncount ends that a guest is counted in, and returns what people are told.
func (g *Guests) Uncount(name string) (note string) {
	g.counted = slices.DeleteFunc(slices.Clone(g.counted), func(other string) bool { return other == name })
	return name + " is not counted in the choice any more"
}

// IsCounted reports whether the organiser counts somebody in who has only the page.
func (g *Guests) IsCounted(name string) bool { return slices.Contains(g.counted, name) }

// Rename moves what is known of a guest to the guest's new name.
func (g *Guests) Rename(from, to string) {
	if at := slices.Index(g.counted, from); at >= 0 {
		g.counted = slices.Clone(g.counted)
		g.counted[at] = to
	}
	delete(g.estimators, from)
}

// Forget drops somebody who has left, or plays from now on.
func (g *Guests) Forget(name string) {
	g.Uncount(name)
	delete(g.estimators, name)
}

// errorMS returns how far off estimates are, in milliseconds, as people are told it.
func errorMS(e *estimate.Estimator) float64 {
	return math.Ceil(float64(e.Typical()) / float64(time.Millisecond))
}

// View returns how a guest may be counted in, for people. Stands is the choice that stands,
// nil while there is none.
func (g *Guests) View(guest Person, s Scene, stands *selection.Selection) *wire.Estimate {
	e, why := g.estimator(guest, s)
	if e == nil {
		return &wire.Estimate{Why: why}
	}
	v := &wire.Estimate{Counted: g.IsCounted(guest.Name), ErrorMS: errorMS(e)}
	if v.Counted && stands != nil && stands.Chosen != nil && stands.Estimated[guest.Name] == 0 {
		v.Why = "no server would suit everyone with them: the choice is without"
	}
	return v
}

// Counted are the guests who are counted in and can be.
type Counted struct {
	guests  []counted
	players []string
}

type counted struct {
	Person
	by *estimate.Estimator
}

// Counted returns the guests of a scene who are counted in and can be.
func (g *Guests) Counted(s Scene) Counted {
	var c Counted
	for _, p := range s.Players {
		c.players = append(c.players, p.Name)
	}
	for _, guest := range s.Guests {
		if !g.IsCounted(guest.Name) {
			continue
		}
		if e, _ := g.estimator(guest, s); e != nil {
			c.guests = append(c.guests, counted{guest, e})
		}
	}
	return c
}

// Names returns how the guests are called.
func (c Counted) Names() []string {
	var names []string
	for _, g := range c.guests {
		names = append(names, g.Name)
	}
	return names
}

// In returns the basis of a choice with the guests: its table has columns for them behind the
// players', with estimates for each server that one of the players measured. An estimate is
// no reason to leave a server out for being unreachable or for the pings that it lets in:
// those are for measurements.
func (c Counted) In(b selection.Basis) selection.Basis {
	if len(c.guests) == 0 {
		return b
	}
	players := b.Table.Players()
	columns := make([]int, len(c.players))
	for i, name := range c.players {
		columns[i] = slices.Index(players, name)
	}
	b.Table = b.Table.Of(append(slices.Clip(players), c.Names()...))
	b.Estimated = map[string]float64{}
	for _, g := range c.guests {
		b.Estimated[g.Name] = errorMS(g.by)
	}
	rtts := make([]time.Duration, len(columns))
	for server := range b.Servers.List {
		isKnown := false
		for i, column := range columns {
			if rtts[i] = 0; column >= 0 {
				if state, rtt := b.Table.At(column, server); state == discovery.Answered {
					rtts[i], isKnown = rtt, true
				}
			}
		}
		if !isKnown {
			continue
		}
		for at, g := range c.guests {
			rtt := g.by.Estimate(b.Servers.List[server].Country, rtts).RTT
			if info := b.Servers.Info(server); info != nil {
				if info.MaxPing > 0 {
					rtt = min(rtt, info.MaxPing)
				}
				rtt = max(rtt, info.MinPing)
			}
			b.Table.Set(len(players)+at, server, discovery.Answered, rtt)
		}
	}
	return b
}

// Searched returns the guests as a search knows of them that asks some of the players, each of
// whom may stand for others behind the same address.
func (c Counted) Searched(by []Person) []coordinate.Guest {
	var guests []coordinate.Guest
	for _, g := range c.guests {
		e := estimate.New(g.At, places(by))
		guests = append(guests, coordinate.Guest{Name: g.Name, RTT: func(country string, rtts []time.Duration) time.Duration {
			return e.Estimate(country, rtts).RTT
		}})
	}
	return guests
}
