package discovery

import (
	"net/netip"
	"testing"
)

// TestDiscreetPlaces checks that places count towards the bound and are counted apart
// from servers. An address asked both as a place and as a server counts as a server.
func TestDiscreetPlaces(t *testing.T) {
	at := func(hosts ...byte) (servers []Server) {
		for _, host := range hosts {
			servers = append(servers, Server{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, host}), 27960)})
		}
		return servers
	}
	e := &Exposure{Max: 5}
	run := func(watch func(Plan, []Server, func(Result)) Plan, servers []Server) (forbidden int) {
		plan := watch(NewConventional(len(servers)), servers, func(Result) { forbidden++ })
		for {
			probe, verdict := plan.Next()
			if verdict != Go {
				return forbidden
			}
			plan.Observe(Result{Server: probe.Server, State: Answered})
		}
	}
	for i, c := range []struct {
		watch     func(Plan, []Server, func(Result)) Plan
		servers   []Server
		forbidden int
		want      Exposed
	}{
		{e.WatchPlaces, at(1, 2), 0, Exposed{Listed: 3, Places: 2}},
		{e.WatchPlaces, at(1, 2), 0, Exposed{Listed: 3, Places: 2}}, // again
		{e.Watch, at(3), 0, Exposed{Servers: 1, Listed: 3, Places: 2}},
		{e.WatchPlaces, at(3), 0, Exposed{Servers: 1, Listed: 3, Places: 2, Again: 1, Times: 2}},
		{e.Watch, at(4, 5, 6), 1, Exposed{Servers: 3, Listed: 3, Places: 2, Again: 1, Times: 2}},
		{e.WatchPlaces, at(1, 7), 1, Exposed{Servers: 3, Listed: 3, Places: 2, Again: 1, Times: 2}},
		{e.Watch, at(1), 0, Exposed{Servers: 4, Listed: 4, Places: 1, Again: 2, Times: 4}},
	} {
		if forbidden := run(c.watch, c.servers); forbidden != c.forbidden || e.Of(3) != c.want {
			t.Errorf("step %d: %d forbidden, %+v; want %d, %+v", i, forbidden, e.Of(3), c.forbidden, c.want)
		}
	}
	if e.Forget(); e.Of(3) != (Exposed{Listed: 3}) {
		t.Errorf("after it was forgotten: %+v", e.Of(3))
	}
}

// TestDiscreet checks that no more servers see the address than the player allows, even
// if the plan and others want more. The plan and the results report the rest as
// forbidden.
func TestDiscreet(t *testing.T) {
	const listed, most = 10, 4
	servers := make([]Server, listed)
	for i := range servers {
		servers[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), 27960)
	}
	for _, bound := range []int{0, most} {
		e := &Exposure{Max: bound}
		forbidden, asked := map[int]bool{}, 0
		run := func(plan Plan) {
			plan = e.Watch(plan, servers, func(r Result) {
				if forbidden[r.Server] = true; r.State != Forbidden {
					t.Errorf("server %d is %v", r.Server, r.State)
				}
			})
			for {
				probe, verdict := plan.Next()
				if verdict != Go {
					return
				}
				asked++
				plan.Observe(Result{Server: probe.Server, State: Answered})
			}
		}
		agenda := NewAgenda(NewConventional(listed), nil)
		agenda.Ask([]int{7, 8})
		run(agenda)
		want := listed
		if bound > 0 {
			want = bound
		}
		if asked != want || len(forbidden) != listed-want || forbidden[7] || forbidden[8] {
			t.Errorf("bound %d: %d asked, %v forbidden", bound, asked, forbidden)
		}
		run(NewConventional(listed)) // a second look
		if got, want := e.Of(listed), (Exposed{Servers: want, Listed: listed, Again: want, Times: 2}); got != want {
			t.Errorf("bound %d: %+v, want %+v", bound, got, want)
		}
		stopped, asked := (&Exposure{Max: bound}).Watch(NewConventional(listed), servers, nil), 0
		for {
			if _, verdict := stopped.Next(); verdict != Go {
				break
			}
			asked++
		}
		if asked != want {
			t.Errorf("bound %d: a plan that nobody sees asked %d", bound, asked)
		}
		if e.Forget(); e.Of(listed).Servers != 0 {
			t.Error("what was forgotten counts")
		}
	}
}

// TestPromise checks that no more servers see the address than the player was told,
// until the player is told a larger number.
func TestPromise(t *testing.T) {
	var servers []Server
	for host := range byte(20) {
		servers = append(servers, Server{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, host}), 27960)})
	}
	e := &Exposure{}
	ask := func() (seen int) {
		plan := e.Watch(NewConventional(len(servers)), servers, func(Result) {})
		for {
			if _, verdict := plan.Next(); verdict != Go {
				return e.Of(len(servers)).Servers
			}
		}
	}
	for _, step := range []struct {
		most   int
		isNews bool
		seen   int
	}{{5, true, 5}, {5, false, 5}, {3, false, 5}, {8, true, 8}, {0, true, 20}, {9, false, 20}} {
		if isNews := e.Promise(step.most); isNews != step.isNews {
			t.Errorf("a promise of %d is news: %v", step.most, isNews)
		}
		if seen := ask(); seen != step.seen {
			t.Errorf("after a promise of %d, %d servers have seen the address, want %d", step.most, seen, step.seen)
		}
	}
	places := []netip.AddrPort{servers[0].Addr, netip.MustParseAddrPort("198.51.100.1:7787")}
	if n := e.WithPlaces(places); n != 2 {
		t.Errorf("%d places will see the address, want 2", n)
	}
	if e.Forget(); !e.Promise(5) {
		t.Error("a new round's promise is no news")
	}
}
