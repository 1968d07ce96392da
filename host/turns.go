package host

import (
	"slices"
	"time"
)

// So many players look at the finalists at the same moment, and the next ones
// after that time. Quake 3's servers answer ten questions at once and then ten a
// second, whoever asks.
const (
	wave         = 5
	betweenWaves = 500 * time.Millisecond
)

const (
	// betweenMates is the time from one player's look to that of the next behind
	// the same address: the strictest servers, DarkPlaces', answer an address once
	// a second.
	betweenMates = 1100 * time.Millisecond
	// longestTurns is how long the players of a site may be about it: of more than
	// 40 behind one address some will not be answered.
	longestTurns = 45 * time.Second
)

// turns are when players look at the finalists: at first after a while, then
// again and again.
type turns struct {
	after, every time.Duration // every is 0 if a peer's own is long enough
	samples      int
}

// turnOf is when the player in a place of its site looks, if there are so many
// sites, and the largest has so many places. Everybody's first place comes before
// anybody's second.
func turnOf(place, places, site, sites int) turns {
	waves := (sites + wave - 1) / wave
	t := turns{after: time.Duration(site/wave) * betweenWaves, samples: samples}
	if places > 1 {
		round := max(min(betweenMates, longestTurns/time.Duration(places)), time.Duration(waves)*betweenWaves)
		t.after += time.Duration(place) * round
		t.every = time.Duration(places) * round
		t.samples = max(1, min(samples, 8/places))
	} else if waves > 2 {
		t.every = time.Duration(waves) * betweenWaves
	}
	return t
}

// turnsOf is when a member looks. Who comes back while it goes on finds the same
// place again.
func (r *Room) turnsOf(m *Member, now time.Time) turns {
	sites := r.sites(r.active())
	for i, site := range sites {
		if place := slices.Index(site, m); place >= 0 {
			t := turnOf(place, mostPlaces(sites), i, len(sites))
			t.after -= now.Sub(r.Since)
			if t.every > 0 {
				t.after = (t.after%t.every + t.every) % t.every
			}
			t.after = max(0, t.after)
			return t
		}
	}
	return turns{samples: samples}
}

func mostPlaces(sites [][]*Member) int {
	places := 1
	for _, site := range sites {
		places = max(places, len(site))
	}
	return places
}

// lookingTime is how long the second look may take.
func (r *Room) lookingTime() time.Duration {
	sites := r.sites(r.active())
	t := turnOf(0, mostPlaces(sites), len(sites)-1, len(sites))
	return verifyingTime + t.after + time.Duration(t.samples)*t.every
}
