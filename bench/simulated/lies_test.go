package simulated

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/sim"
	"muster/selection"
)

// lying returns the program of a player who makes numbers up, in the search and in the second look.
// tell returns the reported RTT of a server that answered, or that it was lost.
func lying(tell func(p *sim.Peer, server int, rtt time.Duration) (told time.Duration, lost bool)) lies {
	return lies{says: func(p *sim.Peer, m wire.Message) []wire.Message {
		switch m := m.(type) {
		case wire.Report:
			for i := range m.Results {
				r := &m.Results[i]
				if r.State != discovery.Answered {
					continue
				}
				told, lost := tell(p, r.Server, r.RTT)
				if r.RTT = wire.RoundRTT(told); lost {
					r.State, r.RTT = discovery.Lost, 0
				}
			}
		case wire.Verified:
			for i := range m.Servers {
				f := &m.Servers[i]
				for n, rtt := range f.RTTs {
					told, lost := tell(p, f.Server, milliseconds(rtt))
					if f.RTTs[n] = float64(wire.RoundRTT(told)) / float64(time.Millisecond); lost {
						*f = wire.Finalist{Server: f.Server, State: discovery.Lost, RTTs: []float64{}, Sent: f.Sent}
						break
					}
				}
			}
		}
		return []wire.Message{m}
	}}
}

// never is an RTT that nobody has.
const never = 9999 * time.Millisecond

// crudeLies are constants, noise, forcing one of the world's servers by praising or reporting it
// alone, and exaggeration.
func crudeLies() []Attack {
	constant := func(rtt time.Duration) func(*plot) lies {
		return func(*plot) lies {
			return lying(func(*sim.Peer, int, time.Duration) (time.Duration, bool) { return rtt, false })
		}
	}
	return []Attack{
		{Name: "all 0", plan: constant(0)},
		{Name: "all 9999", plan: constant(never)},
		{Name: "random", plan: func(k *plot) lies {
			seed := k.rng.Uint64()
			return lying(func(_ *sim.Peer, server int, _ time.Duration) (time.Duration, bool) {
				return time.Duration(rand.New(rand.NewPCG(seed, uint64(server))).Float64() * float64(500*time.Millisecond)), false
			})
		}},
		{Name: "force one", plan: func(k *plot) lies {
			favourite := k.greedy()
			return lying(func(_ *sim.Peer, server int, _ time.Duration) (time.Duration, bool) {
				if server == favourite {
					return time.Millisecond, false
				}
				return never, false
			})
		}},
		{Name: "report one", plan: func(k *plot) lies {
			favourite := k.greedy()
			return lying(func(_ *sim.Peer, server int, rtt time.Duration) (time.Duration, bool) {
				return rtt, server != favourite
			})
		}},
		{Name: "exaggerate", plan: func(*plot) lies {
			return lying(func(_ *sim.Peer, _ int, rtt time.Duration) (time.Duration, bool) {
				if rtt > 50*time.Millisecond {
					rtt *= 3
				}
				return rtt, false
			})
		}},
	}
}

// plausibleLies fit the others' measurements, more or less. They praise a favourite, or hide better
// servers.
func plausibleLies() []Attack {
	praise := func(name string, told func(k *plot, liar, server int, rtt time.Duration) time.Duration) Attack {
		return Attack{Name: name, plan: func(k *plot) lies {
			favourite := k.persuades(func(liar, server int, rtt time.Duration) time.Duration { return told(k, liar, server, rtt) })
			return lying(func(p *sim.Peer, server int, rtt time.Duration) (time.Duration, bool) {
				if server == favourite {
					rtt = told(k, slices.Index(p.Peers, p), server, rtt)
				}
				return rtt, false
			})
		}}
	}
	hide := func(name string, n int, tell func(rtt time.Duration) (time.Duration, bool)) Attack {
		return Attack{Name: name, plan: func(k *plot) lies {
			hidden := map[int]bool{}
			for _, server := range k.best(n) {
				hidden[server] = true
			}
			return lying(func(_ *sim.Peer, server int, rtt time.Duration) (time.Duration, bool) {
				if hidden[server] {
					return tell(rtt)
				}
				return rtt, false
			})
		}}
	}
	attacks := []Attack{
		praise("favourite 1 ms", func(*plot, int, int, time.Duration) time.Duration { return time.Millisecond }),
		praise("favourite least by others", (*plot).least),
	}
	for _, percent := range []int{10, 20, 30, 50} {
		attacks = append(attacks, praise(fmt.Sprintf("favourite -%d %%", percent), func(_ *plot, _, _ int, rtt time.Duration) time.Duration {
			return rtt * time.Duration(100-percent) / 100
		}))
	}
	isLost := func(time.Duration) (time.Duration, bool) { return 0, true }
	// near returns the servers in a favourite's city, as the honest see it.
	near := func(k *plot, favourite int) map[int]bool {
		const city = 10 * time.Millisecond
		found := map[int]bool{}
		for server := range k.scores {
			far := time.Duration(0)
			for i, v := range k.Vantages {
				if !slices.Contains(k.liars, i) {
					far += max(v.RTT[server]-v.RTT[favourite], v.RTT[favourite]-v.RTT[server])
				}
			}
			found[server] = far < city*time.Duration(len(k.Players)-len(k.liars))
		}
		return found
	}
	isForbidden := func(hidden func(k *plot) map[int]bool) func(k *plot) lies {
		return func(k *plot) lies {
			hidden := hidden(k)
			return lies{says: func(_ *sim.Peer, m wire.Message) []wire.Message {
				if report, is := m.(wire.Report); is {
					for i := range report.Results {
						if r := &report.Results[i]; hidden == nil || hidden[r.Server] {
							r.State, r.RTT = discovery.Forbidden, 0
						}
					}
				}
				return []wire.Message{m}
			}}
		}
	}
	return append(attacks,
		Attack{Name: "favourite's city -30 %", plan: func(k *plot) lies {
			less := func(_, _ int, rtt time.Duration) time.Duration { return rtt * 7 / 10 }
			city := near(k, k.persuades(less))
			return lying(func(_ *sim.Peer, server int, rtt time.Duration) (time.Duration, bool) {
				if city[server] {
					rtt = less(0, 0, rtt)
				}
				return rtt, false
			})
		}},
		Attack{Name: "own best of nothing", plan: ownBest(0)},
		Attack{Name: "own best and what is near of nothing", plan: ownBest(30 * time.Millisecond)},
		Attack{Name: "invents all, with a map", plan: func(k *plot) lies {
			// It probes nothing, but knows where servers stand, to a few percent.
			favourite := k.persuades(func(_, _ int, rtt time.Duration) time.Duration { return rtt * 7 / 10 })
			seed := k.rng.Uint64()
			return lies{says: func(p *sim.Peer, m wire.Message) []wire.Message {
				report, is := m.(wire.Report)
				for i := range report.Results {
					r := &report.Results[i]
					rtt := p.Vantage.RTT[r.Server]
					for near := r.Server; rtt < 0; near++ { // a dead one is where its neighbours are
						rtt = p.Vantage.RTT[near%len(p.Vantage.RTT)]
					}
					if rtt = rtt * time.Duration(90+rand.New(rand.NewPCG(seed, uint64(r.Server))).IntN(30)) / 100; r.Server == favourite {
						rtt = rtt * 7 / 10
					}
					r.State, r.RTT = discovery.Answered, wire.RoundRTT(rtt)
				}
				if is {
					m = report
				}
				return []wire.Message{m}
			}}
		}},
		Attack{Name: "best 30's networks lost", plan: func(k *plot) lies {
			lost := map[uint32]bool{}
			for _, server := range k.best(30) {
				lost[k.Vantages[0].Servers[server].ASN] = true
			}
			return lying(func(p *sim.Peer, server int, rtt time.Duration) (time.Duration, bool) {
				return rtt, lost[p.Vantage.Servers[server].ASN]
			})
		}},
		Attack{Name: "may ask none", plan: isForbidden(func(*plot) map[int]bool { return nil })},
		Attack{Name: "may not ask the best 300", plan: isForbidden(func(k *plot) map[int]bool {
			hidden := map[int]bool{}
			for _, server := range k.best(300) {
				hidden[server] = true
			}
			return hidden
		})},
		hide("best 30 lost", 30, isLost),
		hide("best 300 lost", 300, isLost),
		hide("best 30 +30 %", 30, func(rtt time.Duration) (time.Duration, bool) { return rtt * 13 / 10, false }),
		hide("best 300 +30 %", 300, func(rtt time.Duration) (time.Duration, bool) { return rtt * 13 / 10, false }),
		hide("best 30 +300 ms", 30, func(rtt time.Duration) (time.Duration, bool) { return rtt + 300*time.Millisecond, false }),
		Attack{Name: "all but greedy's AS lost", plan: func(k *plot) lies {
			// A tenth answers, so that the report does not look empty.
			favourite := k.greedy()
			return lying(func(_ *sim.Peer, server int, rtt time.Duration) (time.Duration, bool) {
				return rtt, k.scores[server] < k.scores[favourite] && server%8 != 0
			})
		}},
	)
}

// tellingTales returns a program that reports by a tale.
func tellingTales(told tale) lies {
	return lying(func(p *sim.Peer, server int, rtt time.Duration) (time.Duration, bool) {
		return told(slices.Index(p.Peers, p), server, rtt), false
	})
}

// copies report the RTTs of the honest player with whose RTTs the group fares worst, changed by change.
func copies() (attacks []Attack) {
	random := func(seed uint64, server int) float64 { return rand.New(rand.NewPCG(seed, uint64(server))).Float64() }
	for _, how := range []struct {
		name   string
		change func(seed uint64, server int, theirs time.Duration) time.Duration
	}{
		{"copies, +3 %", func(_ uint64, _ int, theirs time.Duration) time.Duration { return theirs * 103 / 100 }},
		{"copies, -4 %", func(_ uint64, _ int, theirs time.Duration) time.Duration { return theirs * 96 / 100 }},
		{"copies, +7 ms", func(_ uint64, _ int, theirs time.Duration) time.Duration { return theirs + 7*time.Millisecond }},
		{"copies, +3 to +5 %", func(seed uint64, server int, theirs time.Duration) time.Duration {
			return time.Duration(float64(theirs) * (1.03 + 0.02*random(seed, server)))
		}},
		{"copies, up to +10 %", func(seed uint64, server int, theirs time.Duration) time.Duration {
			return time.Duration(float64(theirs) * (1 + 0.1*random(seed, server)))
		}},
	} {
		attacks = append(attacks, Attack{Name: how.name, plan: func(k *plot) lies {
			seed, tales := k.rng.Uint64(), []tale(nil)
			for victim, v := range k.Vantages {
				if slices.Contains(k.liars, victim) {
					continue
				}
				tales = append(tales, func(_, server int, rtt time.Duration) time.Duration {
					if theirs := v.RTT[server]; theirs >= 0 {
						return how.change(seed, server, theirs)
					}
					return rtt
				})
			}
			return tellingTales(k.dearest(tales))
		}})
	}
	return attacks
}

// blocks bend what liars report of whole networks and countries.
func blocks() []Attack {
	const less, more = 7, 13 // tenths
	return []Attack{
		{Name: "favourite's AS -30 %", plan: func(k *plot) lies {
			var tales []tale
			list, seen := k.Vantages[0].Servers, map[uint32]bool{}
			for _, server := range k.suited {
				if asn := list[server].ASN; !seen[asn] {
					seen[asn] = true
					tales = append(tales, func(_, server int, rtt time.Duration) time.Duration {
						if list[server].ASN == asn {
							rtt = rtt * less / 10
						}
						return rtt
					})
				}
			}
			return tellingTales(k.dearest(tales))
		}},
		{Name: "own country -30 %, best 300 +30 %", plan: func(k *plot) lies {
			own, list := map[int]string{}, k.Vantages[0].Servers
			for _, liar := range k.liars {
				rtts := k.Vantages[liar].RTT
				own[liar] = list[slices.MinFunc(k.suited, func(a, b int) int { return cmp.Compare(rtts[a], rtts[b]) })].Country
			}
			best := map[int]bool{}
			for _, server := range k.best(300) {
				best[server] = true
			}
			return tellingTales(func(liar, server int, rtt time.Duration) time.Duration {
				switch {
				case list[server].Country == own[liar]:
					return rtt * less / 10
				case best[server]:
					return rtt * more / 10
				}
				return rtt
			})
		}},
	}
}

// least returns the lowest RTT that a liar can report inside the triangles with the others, without
// the tightest one. Each of those is as far away as the nearest common server says.
func (p *plot) least(liar, server int, rtt time.Duration) time.Duration {
	const detour, slack = 1.25, 25 * time.Millisecond // as in package anomaly
	var bounds []time.Duration
	for other, v := range p.Vantages {
		if slices.Contains(p.liars, other) || v.RTT[server] < 0 {
			continue
		}
		way := time.Duration(1 << 62)
		for s, own := range p.Vantages[liar].RTT {
			if own >= 0 && v.RTT[s] >= 0 {
				way = min(way, own+v.RTT[s])
			}
		}
		bounds = append(bounds, time.Duration(float64(v.RTT[server])/detour)-way-slack)
	}
	slices.Sort(bounds)
	return min(rtt, max(time.Millisecond, bounds[max(0, len(bounds)-2)]))
}

// ownBest pretends 1 ms to the nearest server and to those hardly farther, so that any chosen
// server looks like a sacrifice.
func ownBest(farther time.Duration) func(k *plot) lies {
	return func(k *plot) lies {
		nearest := map[int]time.Duration{}
		for _, liar := range k.liars {
			nearest[liar] = never
			for _, server := range k.suited {
				nearest[liar] = min(nearest[liar], k.Vantages[liar].RTT[server])
			}
		}
		return lying(func(p *sim.Peer, _ int, rtt time.Duration) (time.Duration, bool) {
			if rtt <= nearest[slices.Index(p.Peers, p)]*11/10+farther { // with the delay that a packet may have
				rtt = time.Millisecond
			}
			return rtt, false
		})
	}
}

// unaskedLies report unasked servers in one frame, or too soon.
func unaskedLies() []Attack {
	type claim func(k *plot, p *sim.Peer, favourite, server int) discovery.Result
	// claims reports on servers as soon as a message is heard, before the player can know anything,
	// and reports nothing else.
	claims := func(name string, of claim, about func(p *sim.Peer, m wire.Message) []int) Attack {
		return Attack{Name: name, plan: func(k *plot) lies {
			favourite := k.greedy()
			return lies{
				says: func(p *sim.Peer, m wire.Message) []wire.Message {
					if _, is := m.(wire.Report); is {
						return nil
					}
					return []wire.Message{m}
				},
				hears: func(p *sim.Peer, m wire.Message) bool {
					var all []discovery.Result
					for _, server := range about(p, m) {
						r := of(k, p, favourite, server)
						r.Server = server
						all = append(all, r)
					}
					if len(all) > 0 {
						p.After(sim.OneWay, func() { utter(p, claimsOf(p, all...)) })
					}
					return true
				},
			}
		}}
	}
	// atOnce covers every server when the measuring begins, and atOnceAsked those that the liar is
	// asked for.
	atOnce := func(name string, of claim) Attack {
		return claims(name, of, func(p *sim.Peer, m wire.Message) (all []int) {
			if _, is := m.(wire.Measure); is {
				for server := range p.Vantage.Servers {
					all = append(all, server)
				}
			}
			return all
		})
	}
	atOnceAsked := func(name string, of claim) Attack {
		return claims(name, of, func(_ *sim.Peer, m wire.Message) []int {
			ask, _ := m.(wire.Ask)
			return ask.Servers
		})
	}
	lost := discovery.Result{State: discovery.Lost}
	truly := func(p *sim.Peer, server int) discovery.Result {
		if rtt := p.Vantage.RTT[server]; rtt >= 0 {
			return discovery.Result{State: discovery.Answered, RTT: wire.RoundRTT(rtt)}
		}
		return lost
	}
	onlyFavourite := func(_ *plot, p *sim.Peer, favourite, server int) discovery.Result {
		if server == favourite {
			return truly(p, server)
		}
		return lost
	}
	onlyWorse := func(k *plot, p *sim.Peer, favourite, server int) discovery.Result {
		if k.scores[server] < k.scores[favourite] {
			return lost
		}
		return truly(p, server)
	}
	refused := func(*plot, *sim.Peer, int, int) discovery.Result { return discovery.Result{State: discovery.Refused} }
	return []Attack{
		atOnce("all lost at once", func(*plot, *sim.Peer, int, int) discovery.Result { return lost }),
		atOnce("all refused at once", refused),
		atOnce("all but one lost at once", onlyFavourite),
		atOnce("all better lost at once", onlyWorse),
		atOnceAsked("asked ones lost at once", func(*plot, *sim.Peer, int, int) discovery.Result { return lost }),
		atOnceAsked("asked better lost at once", onlyWorse),
		atOnceAsked("asked ones refused", refused),
		{Name: "finds a favourite", plan: func(k *plot) lies {
			favourite := k.persuades(func(int, int, time.Duration) time.Duration { return time.Millisecond })
			t := lying(func(_ *sim.Peer, server int, rtt time.Duration) (time.Duration, bool) {
				if server == favourite {
					rtt = time.Millisecond
				}
				return rtt, false
			})
			t.each = func(p *sim.Peer) {
				utter(p, claimsOf(p, discovery.Result{Server: favourite, State: discovery.Answered, RTT: time.Millisecond}))
			}
			return t
		}},
	}
}

// falseInfos report facts that servers do not tell of themselves.
func falseInfos() []Attack {
	full := func(info *discovery.Info) {
		info.MaxPlayers, info.Players = max(1, info.MaxPlayers), max(1, info.MaxPlayers)
	}
	const gamePort = 4444
	what := []struct {
		name string
		do   func(*discovery.Info)
	}{
		{"full", full},
		{"password", func(info *discovery.Info) { info.Password = true }},
		{"max ping 1 ms", func(info *discovery.Info) { info.MaxPing = time.Millisecond }},
		{"false port", func(info *discovery.Info) { info.GamePort = gamePort }},
		{"another map", func(info *discovery.Info) { info.Map = "nowhere" }},
	}
	// about names the servers that the lie is about.
	about := map[string]func(k *plot) map[int]bool{
		"all but one": func(k *plot) map[int]bool {
			all := map[int]bool{}
			for server := range k.Vantages[0].Servers {
				all[server] = true
			}
			delete(all, k.greedy())
			return all
		},
		"best 300": func(k *plot) map[int]bool {
			best := map[int]bool{}
			for _, server := range k.best(300) {
				best[server] = true
			}
			return best
		},
	}
	var attacks []Attack
	for _, w := range what {
		for _, whom := range []string{"all but one", "best 300"} {
			for _, when := range []string{"first", "always", "last", "in looks", "voting"} {
				if when != "always" && whom == "best 300" || when == "voting" && w.name == "another map" {
					continue
				}
				a := Attack{Name: w.name + ", " + whom + ", " + when, Votes: when == "voting"}
				if w.name == "another map" {
					a.Wants = func(c *selection.Criteria, g *sim.Group) { c.Map = g.Vantages[0].Infos[0].Map }
				}
				a.plan = func(k *plot) lies { return informing(about[whom](k), w.do, when) }
				attacks = append(attacks, a)
			}
		}
	}
	return append(attacks, Attack{Name: "full ones are free, always", plan: func(k *plot) lies {
		taken := map[int]bool{}
		for server := range k.Vantages[0].Servers {
			if _, suits := k.scores[server]; !suits {
				taken[server] = true
			}
		}
		return informing(taken, func(info *discovery.Info) { info.Players, info.MaxPlayers, info.Password = 0, 32, false }, "always")
	}})
}

// informing returns a program that reports false facts about servers.
func informing(about map[int]bool, do func(*discovery.Info), when string) lies {
	falsely := func(p *sim.Peer, server int) discovery.Info {
		info := p.InfoOf(server)
		do(&info)
		return info
	}
	all := func(p *sim.Peer) wire.Infos {
		infos := wire.Infos{Round: p.Round}
		for server := range p.Vantage.Servers {
			if about[server] {
				infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: falsely(p, server)})
			}
		}
		return infos
	}
	t := lies{}
	t.says = func(p *sim.Peer, m wire.Message) []wire.Message {
		switch m := m.(type) {
		case wire.Infos:
			for i := range m.Servers {
				if s := &m.Servers[i]; about[s.Server] && when != "in looks" && when != "voting" {
					s.Info = falsely(p, s.Server)
				}
			}
			return []wire.Message{m}
		case wire.Verified:
			for i := range m.Servers {
				if f := &m.Servers[i]; about[f.Server] && f.Info != nil {
					info := falsely(p, f.Server)
					f.Info = &info
				}
			}
			if when == "last" {
				return []wire.Message{all(p), m, all(p)}
			}
			return []wire.Message{m}
		}
		return []wire.Message{m}
	}
	switch when {
	case "first":
		t.hears = func(p *sim.Peer, m wire.Message) bool {
			if _, is := m.(wire.Measure); is {
				p.After(sim.OneWay, func() { utter(p, all(p)) })
			}
			return true
		}
	case "always":
		ticks := 0
		t.each = func(p *sim.Peer) {
			if ticks++; ticks%5 == 1 {
				utter(p, all(p))
			}
		}
	case "voting":
		t.each = func(p *sim.Peer) {
			if p.Room.Snapshot().Voting.Open {
				utter(p, all(p))
			}
		}
	}
	return t
}

// falseLooks lie in the second look only.
func falseLooks() []Attack {
	look := func(name string, of func(k *plot, favourite int, f *wire.Finalist)) Attack {
		return Attack{Name: name, plan: func(k *plot) lies {
			favourite := -1
			return lies{says: func(p *sim.Peer, m wire.Message) []wire.Message {
				v, is := m.(wire.Verified)
				if !is {
					return []wire.Message{m}
				}
				// Of the finalists the one that is worst for the others is the favourite.
				for _, f := range v.Servers {
					if favourite < 0 || k.scores[f.Server] > k.scores[favourite] {
						favourite = f.Server
					}
				}
				for i := range v.Servers {
					of(k, favourite, &v.Servers[i])
				}
				return []wire.Message{v}
			}}
		}}
	}
	without := func(state discovery.State) func(k *plot, _ int, f *wire.Finalist) {
		return func(_ *plot, _ int, f *wire.Finalist) {
			*f = wire.Finalist{Server: f.Server, State: state, RTTs: []float64{}, Sent: max(1, f.Sent)}
		}
	}
	return []Attack{
		look("looks: all lost", without(discovery.Lost)),
		look("looks: all refused", without(discovery.Refused)),
		look("looks: all but the worst lost", func(k *plot, favourite int, f *wire.Finalist) {
			if f.Server != favourite {
				without(discovery.Lost)(k, favourite, f)
			}
		}),
		look("looks: jitter and loss but for the worst", func(_ *plot, favourite int, f *wire.Finalist) {
			if n := len(f.RTTs); f.Server != favourite && n > 0 {
				f.RTTs, f.Sent = []float64{f.RTTs[0], f.RTTs[0] + 400}, 8
			}
		}),
		look("looks: the worst at 0.1 ms", func(_ *plot, favourite int, f *wire.Finalist) {
			if f.Server == favourite {
				f.State, f.RTTs, f.Sent = discovery.Answered, []float64{0.1, 0.1, 0.1}, 3
			}
		}),
		{Name: "looks: contradictory", plan: func(k *plot) lies {
			return lies{says: func(p *sim.Peer, m wire.Message) []wire.Message {
				v, is := m.(wire.Verified)
				if !is {
					return []wire.Message{m}
				}
				other := v
				other.Servers = slices.Clone(v.Servers)
				for i := range other.Servers {
					without(discovery.Lost)(k, -1, &other.Servers[i])
				}
				return []wire.Message{v, other, v, other}
			}}
		}},
	}
}

// stalling keeps the others waiting.
func stalling() []Attack {
	silence := func(name string, silent func(m wire.Message) bool) Attack {
		return Attack{Name: name, plan: func(*plot) lies {
			return lies{says: func(_ *sim.Peer, m wire.Message) []wire.Message {
				if silent(m) {
					return nil
				}
				return []wire.Message{m}
			}}
		}}
	}
	// babble is enough to seem alive.
	babble := func(p *sim.Peer) {
		if p.Now%(10*time.Second) < sim.FlushEvery {
			utter(p, claimsOf(p, discovery.Result{Server: 0, State: discovery.Lost}))
		}
	}
	return []Attack{
		silence("says nothing at all", func(wire.Message) bool { return true }),
		silence("never done", func(m wire.Message) bool { _, is := m.(wire.Done); return is }),
		silence("looks at nothing again", func(m wire.Message) bool { _, is := m.(wire.Verified); return is }),
		{Name: "babbles and never gets on", plan: func(*plot) lies {
			return lies{each: babble, says: func(*sim.Peer, wire.Message) []wire.Message { return nil }}
		}},
		{Name: "talks nonsense and returns", plan: func(*plot) lies {
			return lies{
				says: func(*sim.Peer, wire.Message) []wire.Message { return nil },
				each: func(p *sim.Peer) {
					switch {
					case !p.Connected:
						p.Join()
					case p.Now%(5*time.Second) < sim.FlushEvery:
						utter(p, claimsOf(p, discovery.Result{Server: len(p.Vantage.Servers), State: discovery.Lost}))
					}
				},
			}
		}},
		{Name: "leaves and returns", plan: func(*plot) lies {
			return lies{
				says: func(*sim.Peer, wire.Message) []wire.Message { return nil },
				each: func(p *sim.Peer) {
					switch phase := p.Now % (25 * time.Second); {
					case !p.Connected && phase > 20*time.Second:
						p.Join()
					case p.Connected && phase < sim.FlushEvery:
						leave(p)
					}
				},
			}
		}},
	}
}

// Attacks returns all attacks.
func Attacks() []Attack {
	return slices.Concat([]Attack{{Name: "honest"}}, crudeLies(), plausibleLies(), copies(), blocks(), unaskedLies(), falseInfos(), falseLooks(), stalling())
}
