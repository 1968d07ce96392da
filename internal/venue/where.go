package venue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/prober"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/userfile"
	"muster/selection/scout"
)

const (
	// MostAsked is how many places one person measures at most.
	MostAsked = 24
	// Each place is asked some times; the least ping counts. Those far apart are asked together, and then so few
	// that what they tell helps to find the next.
	atOnce, samples = 4, 3
	// gap lies between two samples: the strictest machines answer a source three times a second. The
	// patience with a sample has room for looking up a name.
	gap, patience = 500 * time.Millisecond, 2500 * time.Millisecond
)

// Search measures places from this machine: first some that are far apart, then those near the best.
type Search struct {
	Places wire.Venues
	// Most is how many are asked at most, 0 for [MostAsked].
	Most int
	// Ask makes a prober.
	Ask func(discovery.Protocol) (*prober.Prober, error)
	// Visits is the file that remembers for an hour which machines of providers were asked; empty is none.
	Visits string
	// Told hears how many places were asked, if it is not nil.
	Told func(asked int)
}

// Result is what one place answered.
type Result struct {
	Place wire.Venue
	State discovery.State
	RTT   time.Duration // the least of some samples, 0 without an answer
}

// Found is what a search found.
type Found struct {
	// Results are of the places that were asked, the best first and those without an answer last.
	Results []Result
	// Near are places that answer near by wherever one is, and are not among the results. IsProxied says
	// that something on this line answers for the places, so that no result counts.
	Near      []string
	IsProxied bool
	// Remembered results are of an earlier search within the hour.
	Remembered int
}

// Asks returns the places that can be asked, and how many of them a search asks that may ask so many.
func Asks(places wire.Venues, most int) (able wire.Venues, asked int) {
	for _, v := range places {
		if (game.Game{ProtocolName: v.Protocol}).Protocol() != nil {
			able = append(able, v)
		}
	}
	return able, min(len(able), cmp.Or(most, MostAsked), MostAsked)
}

// Run measures until the most are asked, or ctx ends.
func (s Search) Run(ctx context.Context) (found Found, err error) {
	able, most := Asks(s.Places, s.Most)
	places := make([]scout.Place, len(able))
	for i, v := range able {
		places[i] = scout.Place{Lat: v.Lat, Lon: v.Lon}
	}
	me := scout.Player{Pings: make([]float64, len(able))}
	results := map[int]Result{}
	asked := visits{}
	if s.Visits != "" {
		asked = readVisits(s.Visits, time.Now())
		defer func() { err = errors.Join(err, asked.write(s.Visits)) }()
	}
	probers := map[string]*prober.Prober{}
	defer func() {
		for _, p := range probers {
			err = errors.Join(err, p.Close())
		}
	}()
	for len(results) < most {
		n := atOnce
		if len(results) == 0 {
			n = scout.Spread
		}
		next := scout.Next(places, []scout.Player{me}, nil, min(n, most-len(results)))[0]
		fresh := slices.DeleteFunc(slices.Clone(next), func(at int) bool {
			last, isSo := asked.rested(able[at])
			if isSo {
				results[at] = last
				found.Remembered++
			}
			return isSo
		})
		err := s.measure(ctx, able, fresh, probers, results)
		for _, at := range fresh {
			asked.note(results[at], time.Now())
		}
		if err != nil {
			return found, err
		}
		for _, at := range next {
			if me.Pings[at] = -1; results[at].RTT > 0 {
				me.Pings[at] = float64(results[at].RTT) / float64(time.Millisecond)
			}
		}
		if s.Told != nil {
			s.Told(len(results))
		}
	}
	for _, doubt := range scout.Doubts(places, []scout.Player{me}) {
		if doubt.Place < 0 {
			found.IsProxied = true
			continue
		}
		found.Near = append(found.Near, able[doubt.Place].Name)
		delete(results, doubt.Place)
	}
	for _, r := range results {
		found.Results = append(found.Results, r)
	}
	slices.SortFunc(found.Results, func(a, b Result) int {
		if (a.RTT > 0) != (b.RTT > 0) {
			return cmp.Compare(b.RTT, a.RTT)
		}
		return cmp.Or(cmp.Compare(a.RTT, b.RTT), strings.Compare(a.Place.Name, b.Place.Name))
	})
	return found, nil
}

// measure samples places, by number, and adds what they answer to the results.
func (s Search) measure(
	ctx context.Context, places wire.Venues, which []int, probers map[string]*prober.Prober, results map[int]Result,
) error {
	by := map[string][]int{}
	for _, at := range which {
		results[at] = Result{Place: places[at], State: discovery.Lost}
		by[places[at].Protocol] = append(by[places[at].Protocol], at)
	}
	for protocol, places := range by {
		if probers[protocol] == nil {
			p, err := s.Ask(game.Game{ProtocolName: protocol}.Protocol())
			if err != nil {
				return err
			}
			probers[protocol] = p
		}
		for i := range samples {
			if i > 0 {
				select {
				case <-time.After(gap):
				case <-ctx.Done():
				}
			}
			if err := sample(ctx, probers[protocol], places, results); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// sample asks places once.
func sample(ctx context.Context, asker *prober.Prober, places []int, results map[int]Result) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var servers []discovery.Server
	for _, at := range places {
		servers = append(servers, discovery.Server{Addr: results[at].Place.Addr.AddrPort})
	}
	err := asker.Run(ctx, servers, discovery.NewConventional(len(servers)), func(r discovery.Result) {
		seen := results[places[r.Server]]
		switch {
		case r.State == discovery.Answered && (seen.RTT == 0 || r.RTT < seen.RTT):
			seen.State, seen.RTT = discovery.Answered, r.RTT
		case r.State == discovery.Refused && seen.RTT == 0:
			seen.State = discovery.Refused
		}
		results[places[r.Server]] = seen
	})
	if ctx.Err() != nil { // out of patience with silent places
		return nil
	}
	return err
}

// Exposure tells what a search exposes, as "24 machines of 13 providers (Vultr 9, …)".
func Exposure(places wire.Venues, most int) string {
	able, most := Asks(places, most)
	count := map[string]int{}
	for _, v := range able {
		if len(v.Offers) > 0 {
			count[v.Offers[0].Provider]++
		}
	}
	var names []string
	for name := range count {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b)) })
	text := fmt.Sprintf("up to %d machines", most)
	if most == 1 {
		text = "one machine"
	}
	if len(names) > 0 {
		text += " of " + strings.Join(names, ", ")
	}
	return text
}

// Choose adds the places that a word or file names: builtin, none, or a file that [Read] reads. A place
// of the user's own stands for a built-in one of that name.
func Choose(ctx context.Context, before wire.Venues, text string, in io.Reader) (wire.Venues, error) {
	var more wire.Venues
	switch text {
	case "none":
		return wire.Venues{}, nil
	case "builtin":
		more = Builtin()
	default:
		var err error
		if more, err = Read(ctx, text, in); err != nil {
			return nil, err
		}
	}
	isNamed := func(in wire.Venues) func(wire.Venue) bool {
		return func(v wire.Venue) bool {
			return slices.ContainsFunc(in, func(w wire.Venue) bool { return w.Name == v.Name })
		}
	}
	all := append(slices.DeleteFunc(slices.Clone(before), isNamed(more)), more...)
	if text == "builtin" {
		all = append(slices.Clip(before), slices.DeleteFunc(more, isNamed(before))...)
	}
	if len(all) > wire.MaxVenues {
		return nil, hint.With(fmt.Errorf("%d places, but a room takes %d", len(all), wire.MaxVenues), "leave some out of your file")
	}
	return all, nil
}

// mostAnHour is how often a provider's machine is asked in an hour at most: it is there for everybody.
const mostAnHour = 8

// visits say when machines of providers were asked from this computer within the hour, and what they answered.
// A person's next search begins with them.
type visits map[string]visit

type visit struct {
	At    []time.Time      `json:"at"`
	State discovery.State  `json:"state"`
	RTT   discovery.Millis `json:"rtt_ms,omitzero"`
}

// readVisits reads what is left of the last searches. A file that is missing or damaged has nothing.
func readVisits(file string, now time.Time) visits {
	all := visits{}
	if data, err := userfile.Read(file); err == nil && json.Unmarshal(data, &all) != nil {
		all = visits{}
	}
	for at, v := range all {
		v.At = slices.DeleteFunc(v.At, func(at time.Time) bool { return at.After(now) || now.Sub(at) >= time.Hour })
		if all[at] = v; len(v.At) == 0 {
			delete(all, at)
		}
	}
	return all
}

func (vs visits) write(file string) error {
	data, err := json.Marshal(vs)
	if err != nil {
		return err
	}
	return userfile.Replace(file, data)
}

// rested returns the last result of a place that must be left alone for now.
func (vs visits) rested(place wire.Venue) (Result, bool) {
	v, was := vs[place.Addr.String()]
	isSo := was && len(place.Offers) > 0 && len(v.At)+samples > mostAnHour
	return Result{place, v.State, time.Duration(v.RTT)}, isSo
}

// note notes that a place was asked, and its result.
func (vs visits) note(r Result, now time.Time) {
	if at := r.Place.Addr.String(); len(r.Place.Offers) > 0 {
		vs[at] = visit{append(vs[at].At, slices.Repeat([]time.Time{now}, samples)...), r.State, discovery.Millis(r.RTT)}
	}
}
