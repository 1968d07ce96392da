package room_test

import (
	"net/netip"
	"reflect"
	"testing"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
)

var (
	office = []netip.Prefix{netip.MustParsePrefix("10.9.0.0/24"), netip.MustParsePrefix("fd00:9::/64")}
	// hidden is a server that only its network knows by this address. The internet sees it as the
	// second of listOf.
	hidden = room.LocalServer{
		Addr:     netip.MustParseAddrPort("10.9.0.5:27960"),
		Networks: office,
		Info:     discovery.Info{Name: "Hidden", Map: "oa_dm1", MaxPlayers: 16},
	}
	shown = room.LocalServer{
		Addr:     netip.MustParseAddrPort("10.9.0.6:27960"),
		Networks: office,
		Public:   addrOf(1),
		Info:     discovery.Info{Name: "Shown", Map: "oa_dm1", MaxPlayers: 16},
	}
)

func (n *session) comes(name, from string) {
	n.Helper()
	n.Origins[name] = room.Origin{Near: netip.MustParseAddr(from)}
	n.Join(name)
}

// TestLocals checks that players on the host's network ask and join a server there by its own
// address, and others by its public one. Players elsewhere do not ask a server without a public
// one, and everyone hears its facts.
func TestLocals(t *testing.T) {
	n := newSession(t, settings(2))
	n.comes("ann", "10.9.0.2")
	n.comes("zoe", "198.51.100.1")
	n.Took("ann")
	n.Took("zoe")
	n.Gets(listOf(3), hidden, shown)
	n.Noted("4 servers listed", "2 of them on the local network", "Hidden (10.9.0.5:27960) is on a local network that zoe can’t reach")
	public := []discovery.Server{{Addr: hidden.Addr}, {Addr: addrOf(0)}, {Addr: addrOf(1)}, {Addr: addrOf(2)}}
	near := []discovery.Server{{Addr: hidden.Addr}, {Addr: addrOf(0)}, {Addr: shown.Addr}, {Addr: addrOf(2)}}
	for name, want := range map[string][]discovery.Server{"ann": near, "zoe": public} {
		if list := got[wire.List](n, name).Servers; !reflect.DeepEqual(list, want) {
			t.Errorf("%s is sent %v, want %v", name, list, want)
		}
	}
	if report := got[wire.Report](n, "zoe"); !reflect.DeepEqual(report.Results,
		[]discovery.Result{{Server: 0, State: discovery.Lost}}) || got[wire.Measure](n, "zoe").Known != 1 {
		t.Errorf("zoe hears as known: %+v", report)
	}
	if kinds := n.Took("ann"); kinds != "list measure" {
		t.Errorf("ann is sent %s", kinds)
	}
	if zoe := n.Person("zoe"); zoe.Probed != 0 {
		t.Errorf("zoe has measured %d servers before she began", zoe.Probed)
	}
	same(t, n.Room, restored(t, n.Room))

	n.Informs("zoe", 12, 12, 12, 12)
	n.Measures("ann", 1, 50, 2, 50)
	n.Measures("zoe", skip, 90, 40, 90)
	n.Done("ann", "zoe")
	n.Verifies("ann")
	n.Verifies("zoe")
	n.GoesTo(1)
	for name, want := range map[string]string{"ann": "10.9.0.6:27960", "zoe": addrOf(1).String()} {
		if launch := got[wire.Launch](n, name); launch.Address != want || launch.QueryPort != 0 {
			t.Errorf("%s is sent to %s, want %s", name, launch.Address, want)
		}
	}
	n.Gone("ann")
	n.Took("ann")
	n.comes("ann", "10.9.0.2")
	if launch := got[wire.Launch](n, "ann"); launch.Address != "10.9.0.6:27960" {
		t.Errorf("ann comes back and is sent to %s", launch.Address)
	}
	if view := n.View(); view.Way.Connect != addrOf(1).String() {
		t.Errorf("the page shows %s", view.Way.Connect)
	}
	if culled := n.Choice().Culled; culled.Unreachable != 1 {
		t.Errorf("culled %+v, want the hidden one as unreachable", culled)
	}
	n.Goes()
	n.comes("ann", "10.9.0.2") // between two lists there are no neighbours
	n.Listed(2)
	n.InStage(wire.Measuring)
}

// TestLeavesHome checks that measurements of a hidden server from home do not count elsewhere, nor
// do those of another machine at its address. At home players can ask it again.
func TestLeavesHome(t *testing.T) {
	n := newSession(t, settings(2))
	n.comes("ann", "10.9.0.2")
	n.comes("zoe", "198.51.100.1")
	n.Gets(listOf(2), hidden)
	for _, step := range []struct {
		from, says       string
		ms               int
		probed, answered int
	}{
		{"10.9.0.2", "measures it", 1, 1, 1},
		{"198.51.100.2", "finds another there", 30, 0, 0},
		{"10.9.0.2", "gets no answer", lost, 1, 0},
		{"198.51.100.2", "says nothing", skip, 0, 0},
		{"10.9.0.2", "measures it again", 1, 1, 1},
	} {
		n.Gone("ann")
		n.comes("ann", step.from)
		n.Measures("ann", step.ms)
		if ann := n.Person("ann"); ann.Probed != step.probed || ann.Answered != step.answered {
			t.Errorf("from %s ann %s: %d servers measured, %d answered; want %d, %d", step.from, step.says, ann.Probed,
				ann.Answered, step.probed, step.answered)
		}
		same(t, n.Room, restored(t, n.Room))
	}
}

// TestNear checks that a player who may sit anywhere passes for nobody's neighbour.
func TestNear(t *testing.T) {
	for _, c := range []struct {
		name, from string
		probes     wire.Probes
		want       string
	}{
		{"a neighbour", "10.9.0.2", "", "10.9.0.2"},
		{"a neighbour with other addresses", "10.9.0.2", wire.ProbesElsewhere, "10.9.0.2"},
		{"the host's own player", "127.0.0.1", wire.ProbesAtHost, "127.0.0.1"},
		{"the end of a tunnel", "127.0.0.1", "", "invalid IP"},
	} {
		if got := room.OriginOf(netip.MustParseAddr(c.from), c.probes, false).Near.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
