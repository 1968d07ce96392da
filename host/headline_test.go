package host

import (
	"net/netip"
	"strings"
	"testing"

	"muster/discovery/hostport"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
)

// TestHeadline checks what programs read of where a room stands.
func TestHeadline(t *testing.T) {
	launching := wire.Document{
		GameName: "OpenArena", Phase: wire.Phase{Name: wire.PhaseLaunching}, Connect: "192.0.2.1:27960", Server: "Dust",
		Selection: &selection.Selection{Ranking: []selection.Ranked{
			{Addr: hostport.At(netip.MustParseAddrPort("192.0.2.2:27960")), MeanMS: 1, RTT: map[string]float64{"ann": 1}},
			{Addr: hostport.At(netip.MustParseAddrPort("192.0.2.1:27961")), MeanMS: 20.4, MaxMS: 29.6, RTT: map[string]float64{"ann": 11.2}},
		}},
	}
	other, asked, secret, unnamed := launching, launching, launching, launching
	asked.QueryPort = 27961
	secret.QueryPort, secret.Selection = 27961, &selection.Selection{}
	unnamed.Server, unnamed.GameName, unnamed.Game, unnamed.Selection = "", "", "openarena", nil
	gathering := wire.Document{Phase: wire.Phase{Name: wire.PhaseGathering}, Seats: 3, Members: []wire.Member{{Connected: true}, {Connected: true}, {}}}
	open := gathering
	open.Seats = 0
	placing := wire.Document{Phase: wire.Phase{Name: wire.PhaseCoordinating}, Places: &wire.Places{}}
	places := wire.Document{Phase: wire.Phase{Name: wire.PhaseVoting}, Places: &wire.Places{}}
	placed := launching
	placed.Connect, placed.Place = "", &wire.Candidate{At: "192.0.2.1:27961", Name: "Frankfurt"}
	for _, c := range []struct {
		room wire.Document
		want string
	}{
		{placing, "Measuring where our server should stand"},
		{places, "Where should our server stand?"},
		{placed, "Host it in Frankfurt: 20 ms on average, 30 at worst."},
		{gathering, "Waiting for 1 more player"},
		{open, "2 players here"},
		{other, "We play OpenArena on Dust."},
		{asked, "We play OpenArena on Dust: 20 ms on average, 30 at worst."},
		{secret, "We play OpenArena on Dust."},
		{unnamed, "We play openarena on 192.0.2.1:27960."},
	} {
		if got := catalogue.InEnglish().Say(headline(c.room)); got != c.want {
			t.Errorf("%+v: %q, want %q", c.room.Phase, got, c.want)
		}
	}
	for _, phase := range []wire.PhaseName{
		wire.PhaseGathering, wire.PhaseListing, wire.PhaseMeasuring, wire.PhaseCoordinating, wire.PhaseVerifying, wire.PhaseVoting,
		wire.PhaseBanning, wire.PhaseReveal, wire.PhaseCountdown, wire.PhaseLaunching, wire.PhaseWaiting, wire.PhaseFailed,
	} {
		if got := catalogue.InEnglish().Say(headline(wire.Document{Phase: wire.Phase{Name: phase}})); strings.HasPrefix(got, "stage.") {
			t.Errorf("nothing is said of %s", phase)
		}
	}
}
