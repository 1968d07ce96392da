package finals

import (
	"cmp"
	"slices"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// The players look at the finalists in waves, with a pause in between. Quake 3's servers answer ten
// questions at once and then ten a second, from all players together.
const (
	waveSize     = 5
	betweenWaves = 500 * time.Millisecond
)

const (
	// betweenMates is the time between the looks of two players behind one address: the strictest
	// servers, DarkPlaces', answer an address once a second.
	betweenMates = 1100 * time.Millisecond
	// longestSchedule bounds the time that the players behind one address take in turn. With more
	// than 40 players some get no answer.
	longestSchedule = 45 * time.Second
	// groupSamples is how many samples the players behind one address take of a server
	// together, at least one each.
	groupSamples = 8
	// usualEvery is the longest time between samples of a program that need not take turns. It is a
	// second, and up to a quarter more that no server can foresee.
	usualEvery = 1250 * time.Millisecond
)

// slot is when a player looks: first after some time, then at intervals.
type slot struct {
	after, every time.Duration // every is 0 if a program's own interval is long enough
	samples      int
}

// slotOf returns the slot of the player at a place of a group. Places is the size of the largest
// group. The first players of all groups look before any second player.
func slotOf(place, places, group, groups int) slot {
	waves := (groups + waveSize - 1) / waveSize
	s := slot{after: time.Duration(group/waveSize) * betweenWaves, samples: samples}
	if places > 1 {
		round := max(min(betweenMates, longestSchedule/time.Duration(places)), time.Duration(waves)*betweenWaves)
		s.after += time.Duration(place) * round
		s.every = time.Duration(places) * round
		s.samples = max(1, min(samples, groupSamples/places))
	} else if waves > 2 {
		s.every = time.Duration(waves) * betweenWaves
	}
	return s
}

// slotIn returns the slot of one of the players who look, if the look began some time ago. A player
// who comes back during the look finds the same slot again.
func slotIn(player people.ID, of []Looker, passed time.Duration) slot {
	groups := groupsOf(of)
	for i, group := range groups {
		place := slices.IndexFunc(group, func(p Looker) bool { return p.ID == player })
		if place < 0 {
			continue
		}
		s := slotOf(place, maxPlaces(groups), i, len(groups))
		s.after -= passed
		if s.every > 0 {
			s.after = (s.after%s.every + s.every) % s.every
		}
		s.after = max(0, s.after)
		return s
	}
	return slot{samples: samples}
}

// lastSlot returns the slot that begins last.
func lastSlot(players []Looker) slot {
	groups := groupsOf(players)
	return slotOf(0, maxPlaces(groups), len(groups)-1, len(groups))
}

// samplesIn returns how many samples fit into a time.
func (s slot) samplesIn(d time.Duration) int {
	every := s.every
	every = cmp.Or(every, usualEvery)
	return min(max(s.samples, int(d/every)), wire.MaxSamples)
}

// groupsOf groups players by address, in the order of each group's first player.
func groupsOf(players []Looker) (groups [][]Looker) {
	places := map[int]int{}
	for _, p := range players {
		place, has := places[p.Group]
		if !has {
			place, groups = len(groups), append(groups, nil)
			places[p.Group] = place
		}
		groups[place] = append(groups[place], p)
	}
	return groups
}

func maxPlaces(groups [][]Looker) int {
	places := 1
	for _, group := range groups {
		places = max(places, len(group))
	}
	return places
}

// noteAsked notes when a player asks the servers for the last time.
func (l *Looks) noteAsked(ask Ask, now roomtime.Time) {
	every := max(time.Duration(ask.Every), cmp.Or(time.Duration(ask.Gap), betweenMates))
	if l.state.Asked == nil {
		l.state.Asked = map[people.ID]roomtime.Time{}
	}
	l.state.Asked[ask.Player] = now.Add(time.Duration(ask.After) + time.Duration(max(0, ask.Samples-1))*every)
}

// rest returns how long the look has to wait before the first question, so that no address asks a
// server again too soon. Servers of unknown strictness count as the strictest.
func (l *Looks) rest(f Facts, gap time.Duration) (rest time.Duration) {
	groups := groupsOf(l.lookers(f.Players))
	gap = cmp.Or(gap, betweenMates)
	for i, group := range groups {
		begins := f.Now.Add(slotOf(0, maxPlaces(groups), i, len(groups)).after)
		for _, p := range group {
			if last := l.lastAsked(p); !last.IsZero() {
				rest = max(rest, last.Add(gap).Sub(begins))
			}
		}
	}
	return min(rest, gap)
}

// lastAsked returns when a player last asked any of the servers that the look asks now.
func (l *Looks) lastAsked(p Looker) (last roomtime.Time) {
	isSeen := false
	for _, server := range l.serversFor(p) {
		known := p.Known[server]
		if known.AskedAt.After(last) {
			last = known.AskedAt
		}
		isSeen = isSeen || known.Look != nil
	}
	if asked := l.state.Asked[p.ID]; isSeen && asked.After(last) {
		last = asked
	}
	return last
}
