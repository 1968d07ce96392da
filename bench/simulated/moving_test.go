package simulated

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/moving"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/internal/sim"
	"muster/selection"
	"muster/selection/memory"
)

// How much of an oracle's gain a room finds whose people change while they play:
//
//	go -C bench test ./simulated -run TestMovingOn -v -timeout 0 -moving-groups 8 -sweep-from 721000
var (
	movingGroups  = flag.Int("moving-groups", 0, "groups that play for 24 hours each")
	movingPresent = flag.Duration("moving-present", 4*time.Hour, "how long a player stays on average")
	movingAway    = flag.Duration("moving-away", 8*time.Hour, "how long a player is away on average")
)

const (
	// movingPool is how many people a group has. Each has asked asksOwn servers nearest to them and,
	// if they were there at the first choice, the asksBest best of the group.
	movingPool        = "world-12"
	asksOwn, asksBest = 15, 25
	// movingDay is the length of a simulation, and movingDecides how long people think.
	movingDay, movingDecides = 24 * time.Hour, time.Minute
)

// changingDay is a day of a group whose people come and go, in a world.
type changingDay struct {
	g         *sim.Group
	forecasts [][]memory.Forecast // of each player, by country
	changes   [][]int             // the player who comes or goes at each of times
	times     []time.Duration
	known     *selection.Table // of all players
	samples   uint64
}

// movingResult is what came of a day.
type movingResult struct {
	gain, most     float64 // ms × hours for a player, by the room and by the oracle
	proposals      int
	least          float64 // the smallest true gain of a proposal
	soonest, taken time.Duration
	asked          int
	busiest        time.Duration // the shortest time between two questions to a program
	here           float64       // player-hours
}

func (d *changingDay) truth(here []int, server int) float64 {
	sum := 0.0
	for _, player := range here {
		rtt := d.g.Vantages[player].RTT[server]
		if rtt < 0 {
			return 1e6
		}
		sum += discovery.MS(rtt)
	}
	return sum / float64(len(here))
}

func (d *changingDay) best(here []int) (server int) {
	for s := range d.g.Vantages[0].Servers {
		if d.truth(here, s) < d.truth(here, server) {
			server = s
		}
	}
	return server
}

// ask measures a player's RTT to a server once.
func (d *changingDay) ask(player, server int) discovery.Result {
	d.samples++
	v := d.g.Vantages[player]
	if v.RTT[server] < 0 {
		return discovery.Result{Server: server, State: discovery.Lost}
	}
	rtt, lost := v.Pair(server, d.samples)
	if lost {
		return discovery.Result{Server: server, State: discovery.Lost}
	}
	return discovery.Result{Server: server, State: discovery.Answered, RTT: rtt}
}

// newChangingDay draws who is there when.
func newChangingDay(g *sim.Group, from []string, seed uint64) (d *changingDay, here []int) {
	rng := rand.New(rand.NewPCG(seed, 0x6d6f76696e67))
	d = &changingDay{g: g}
	for _, country := range from {
		d.forecasts = append(d.forecasts, memory.Guess(g.Vantages[0].Topology(), country))
	}
	var ids []string
	type change struct {
		at     time.Duration
		player int
	}
	var changes []change
	for player := range g.Vantages {
		ids = append(ids, string(people.Nth(player+1)))
		isHere := rng.Float64() < float64(*movingPresent)/float64(*movingPresent+*movingAway)
		if isHere || len(g.Vantages)-player <= 2-len(here) {
			here, isHere = append(here, player), true
		}
		for at := time.Duration(0); at < movingDay; isHere = !isHere {
			stays := *movingAway
			if isHere {
				stays = *movingPresent
			}
			at += time.Duration(rng.ExpFloat64() * float64(stays))
			changes = append(changes, change{at, player})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return int(a.at - b.at) })
	for _, c := range changes {
		d.times, d.changes = append(d.times, c.at), append(d.changes, []int{c.player})
	}
	servers := len(g.Vantages[0].Servers)
	d.known = selection.NewTable(ids, servers)
	order := make([]int, servers)
	for i := range order {
		order[i] = i
	}
	means := make([]float64, servers)
	for server := range means {
		means[server] = d.truth(here, server)
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(1000 * (means[a] - means[b])) })
	near := slices.Clone(order)
	for _, player := range here {
		rtts := g.Vantages[player].RTT
		slices.SortStableFunc(near, func(a, b int) int { return int(max(-1, rtts[a]-rtts[b])) })
		near = slices.DeleteFunc(near, func(s int) bool { return rtts[s] < 0 })
		for _, server := range append(order[:asksBest:asksBest], near[:min(asksOwn, len(near))]...) {
			r := d.ask(player, server)
			d.known.Set(player, server, r.State, r.RTT)
		}
	}
	return d, here
}

// play plays the day with a watch, beside an oracle that knows everything and moves whenever an hour has passed.
func (d *changingDay) play(here []int) (m movingResult) {
	m.least, m.soonest, m.busiest = 1e6, movingDay, movingDay
	stay := d.best(here)
	room, oracle, finds := stay, stay, -1
	oracleMoved, proposed := -movingDay, -movingDay
	w := moving.Watch{For: idsOf(here)}
	list := d.g.Vantages[0].Servers
	infos := map[int]*discovery.Info{}
	for server := range list {
		infos[server] = &discovery.Info{MaxPlayers: wire.MaxPlayers}
	}
	tree := d.g.Vantages[0].Topology()
	scene := func(now time.Duration) moving.Scene {
		return moving.Scene{
			Now: roomtime.Opening.Add(now), Here: idsOf(here), Server: room, Tree: tree,
			Basis: func(players []people.ID) selection.Basis {
				b := selection.Basis{Servers: selection.Servers{List: list, Infos: infos}, Table: d.known, Criteria: selection.Criteria{By: selection.Mean}}
				return b.For(people.Texts(players))
			},
			Forecasts: func(players []people.ID) (all [][]memory.Forecast) {
				for _, player := range players {
					all = append(all, d.forecasts[player.Number()-1])
				}
				return all
			},
		}
	}
	var weighed []int
	asked := map[people.ID]time.Duration{}
	for now, next := time.Duration(0), 0; now < movingDay; {
		end := movingDay
		if next < len(d.times) {
			end = min(end, d.times[next])
		}
		if finds >= 0 {
			end = min(end, oracleMoved+movingDecides)
		}
		if rested := oracleMoved + time.Hour; rested > now {
			end = min(end, rested)
		}
		if at, is := w.Next(scene(now)); is {
			end = min(end, max(now+time.Second, at.Sub(roomtime.Opening)))
		}
		if len(here) >= 2 {
			hours := (end - now).Hours()
			m.here += hours * float64(len(here))
			base := d.truth(here, stay)
			m.gain += hours * float64(len(here)) * (base - d.truth(here, room))
			m.most += hours * float64(len(here)) * (base - d.truth(here, oracle))
		}
		for now = end; next < len(d.times) && d.times[next] <= now; next++ {
			player := d.changes[next][0]
			if at := slices.Index(here, player); at >= 0 {
				here = slices.Delete(slices.Clone(here), at, at+1)
			} else {
				here = append(slices.Clone(here), player)
				slices.Sort(here)
			}
		}
		if len(here) >= 2 && now-oracleMoved >= time.Hour && !slices.Equal(here, weighed) {
			weighed = here
			if best := d.best(here); d.truth(here, oracle)-d.truth(here, best) >= 15 {
				finds, oracleMoved = best, now
			}
		}
		if now-oracleMoved >= movingDecides && finds >= 0 { // people think about its proposals, too
			oracle, finds = finds, -1
		}
		asks, event := w.Tick(scene(now))
		for _, ask := range asks {
			m.asked++
			if last, is := asked[ask.Player]; is {
				m.busiest = min(m.busiest, now-last)
			}
			asked[ask.Player] = now
			player := ask.Player.Number() - 1
			r := d.ask(player, ask.Server)
			if r, counts, _ := w.Heard(ask.Player, ask.Server == room, r, nil, roomtime.Opening.Add(now)); counts {
				d.known.Set(player, ask.Server, r.State, r.RTT)
			}
		}
		switch {
		case event == moving.Proposed:
			m.proposals++
			m.soonest, proposed = min(m.soonest, now-proposed), now
			m.least = min(m.least, d.truth(here, room)-d.truth(here, w.Open.Server))
		case event == moving.Withdrawn && now-proposed < 10*time.Minute:
			m.taken++
		case w.Open != nil && now-proposed >= movingDecides:
			for _, player := range idsOf(here) {
				if w.Place(player, room) == w.Open.From && w.Answer(player, wire.MoveNow) {
					room = w.Move(player, scene(now))
				}
			}
		}
	}
	return m
}

func idsOf(players []int) (ids []people.ID) {
	for _, player := range players {
		ids = append(ids, people.Nth(player+1))
	}
	return ids
}

// TestMovingOn tells how much of what moving on can gain a room finds whose people change, and checks
// that it makes few proposals, takes none back, and asks little.
func TestMovingOn(t *testing.T) {
	groups := *movingGroups
	if groups == 0 { // a small part, for the gate
		groups, *sweepOf = 1, "night2000"
	}
	var all movingResult
	all.least, all.soonest, all.busiest = 1e6, movingDay, movingDay
	made := sweepGroup(t, *sweepOf, movingPool)
	for seed := *sweepFrom; seed < *sweepFrom+uint64(groups); seed++ {
		g, err := made(seed)
		if err != nil {
			t.Fatal(err)
		}
		places, err := sim.GroupPlaces(movingPool, seed)
		if err != nil {
			t.Fatal(err)
		}
		var from []string
		for _, p := range places {
			from = append(from, p.Country)
		}
		d, here := newChangingDay(g, from, seed)
		m := d.play(here)
		if testing.Verbose() {
			t.Logf("%d: %.0f of %.0f, %d proposals", seed, m.gain, m.most, m.proposals)
		}
		all.gain, all.most, all.here = all.gain+m.gain, all.most+m.most, all.here+m.here
		all.proposals, all.asked, all.taken = all.proposals+m.proposals, all.asked+m.asked, all.taken+m.taken
		all.least, all.soonest, all.busiest = min(all.least, m.least), min(all.soonest, m.soonest), min(all.busiest, m.busiest)
	}
	t.Logf("%s: %.1f %% of the oracle's %.1f ms a player, %.1f proposals a day, the least worth %.1f ms, the soonest after %v, %d taken back; "+
		"%.1f questions an hour and player, never sooner than after %v", *sweepOf, 100*all.gain/all.most, all.most/all.here,
		float64(all.proposals)/float64(groups), all.least, all.soonest, all.taken, float64(all.asked)/all.here, all.busiest)
	if all.soonest < time.Hour || all.taken > 0 || all.busiest < 5*time.Second {
		t.Error("there are too many proposals or questions, or some are taken back")
	}
}
