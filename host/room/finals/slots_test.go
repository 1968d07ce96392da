package finals

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// TestTurns checks that no more players than a wave look at one server within the same half second,
// for a group of any size and any number of samples.
func TestTurns(t *testing.T) {
	const own = 1100 * time.Millisecond // a program's own time between samples
	for players := 1; players <= wire.MaxPlayers; players++ {
		var looks []time.Duration
		for place := range players {
			t := slotOf(0, 1, place, players)
			for n := range t.samples {
				looks = append(looks, t.after+time.Duration(n)*max(t.every, own))
			}
		}
		slices.Sort(looks)
		for i := range looks {
			if i+waveSize < len(looks) && looks[i+waveSize]-looks[i] < betweenWaves {
				t.Errorf("%d players: %d look at a server between %v and %v", players, waveSize+1, looks[i], looks[i+waveSize])
				break
			}
		}
		if last := looks[len(looks)-1]; players <= 10 && last > 3*time.Second {
			t.Errorf("%d players are done looking after %v", players, last)
		}
	}
}

// TestPlayersOfOneAddressTakeTurns checks that nobody looks at a server within a second of another
// behind the same address, and that no more than a wave look at once.
func TestPlayersOfOneAddressTakeTurns(t *testing.T) {
	const own = 1100 * time.Millisecond
	for places := 2; places <= 40; places++ {
		for _, sites := range []int{1, 2, 5, 6, 16} {
			bySite, all := make([][]time.Duration, sites), []time.Duration{}
			for site := range sites {
				for place := range places {
					turns := slotOf(place, places, site, sites)
					for i := range turns.samples {
						at := turns.after + time.Duration(i)*max(turns.every, own)
						bySite[site], all = append(bySite[site], at), append(all, at)
					}
				}
				slices.Sort(bySite[site])
				for i, at := range bySite[site][1:] {
					if at-bySite[site][i] < time.Second {
						t.Fatalf("%d places, %d sites: looks %v and %v", places, sites, bySite[site][i], at)
					}
				}
			}
			slices.Sort(all)
			for i := range all {
				if i+waveSize < len(all) && all[i+waveSize]-all[i] < betweenWaves {
					t.Fatalf("%d places, %d sites: %d looks between %v and %v", places, sites, waveSize+1, all[i], all[i+waveSize])
				}
			}
			if all[len(all)-1] > 20*time.Second && places <= 16 && sites < 6 {
				t.Errorf("%d places: looking takes %v", places, all[len(all)-1])
			}
		}
	}
}

// TestLongLookIsGentle checks that all players together ask a server at most ten times a second,
// for any number of players and addresses. One address asks a server about once a second.
func TestLongLookIsGentle(t *testing.T) {
	const most, second = 10, time.Second
	for _, c := range []struct{ groups, places int }{{1, 1}, {4, 1}, {10, 1}, {16, 1}, {64, 1}, {1, 8}, {4, 4}, {2, 32}} {
		asked, own := map[int]int{}, map[[2]int]int{}
		for group := range c.groups {
			for place := range c.places {
				s := slotOf(place, c.places, group, c.groups)
				every := s.every
				every = cmp.Or(every, 1100*time.Millisecond) // a program's own, at its quickest
				for i := range s.samplesIn(30 * second) {
					at := int((s.after + time.Duration(i)*every) / second)
					asked[at]++
					own[[2]int{group, at}]++
				}
			}
		}
		for at, n := range asked {
			if n > most {
				t.Errorf("%+v: %d questions in second %d", c, n, at)
			}
		}
		for at, n := range own {
			if n > 2 {
				t.Errorf("%+v: %d questions of group %d in second %d", c, n, at[0], at[1])
			}
		}
	}
}

// TestGap checks that servers that answer an address again soon are asked again soon, after the
// search and in the samples of a small group. The strictest and the unknown ones have a second.
func TestGap(t *testing.T) {
	const ms = time.Millisecond
	now := roomtime.Opening
	group := func(n int) (players []Looker) {
		for i := range n {
			players = append(players, Looker{
				ID:     people.ID(rune('a' + i)),
				Group:  i,
				IsHere: true,
				Known:  map[int]Known{7: {IsAsked: true, AskedAt: now.Add(-100 * ms)}},
			})
		}
		return players
	}
	for _, tt := range []struct {
		name         string
		search       Search
		players      int
		gap          time.Duration
		rest, within time.Duration
	}{
		{"nobody knows", Searched, 2, 0, 1000 * ms, 0},
		{"they answer soon", Searched, 2, 300 * ms, 200 * ms, 300 * ms},
		{"more players than a server answers at once", SearchedShort, 6, 300 * ms, 200 * ms, 0},
		{"nobody has asked them just now", Unsearched, 2, 300 * ms, 0, 0},
	} {
		var l Looks
		f := Facts{Players: group(tt.players), Now: now, Gap: tt.gap}
		asks, _ := l.Begin(Setup{Servers: []int{7}, Search: tt.search, IsFair: true}, f)
		if rest, gap := time.Duration(asks[0].After), time.Duration(asks[0].Gap); rest != tt.rest || gap != tt.within {
			t.Errorf("%s: the look begins after %v with samples %v apart, want %v and %v", tt.name, rest, gap, tt.rest, tt.within)
		}
	}
}
