package estimate

import (
	"math"
	"net/netip"
	"testing"
	"time"

	"muster/selection"
)

const ms = time.Millisecond

// TestEstimate checks that an estimate follows the nearest players' measurements, the more the
// nearer they are, and the distance where no player is near.
func TestEstimate(t *testing.T) {
	line := netip.MustParseAddr("9.9.9.9")
	berlin := Place{Country: "DE", ASN: 1}
	for _, c := range []struct {
		name    string
		guest   Place
		players []Place
		server  string
		rtts    []time.Duration
		least   time.Duration
		most    time.Duration
		off     time.Duration // at most
	}{
		{"nobody measures, next door", berlin, nil, "NL", nil, 15 * ms, 40 * ms, 20 * ms},
		{"nobody measures, on the other side", berlin, nil, "AU", nil, 250 * ms, 330 * ms, 60 * ms},
		{"behind one line", Place{Addr: line, Country: "DE"}, []Place{{Addr: line, Country: "DE"}}, "US",
			[]time.Duration{180 * ms}, 178 * ms, 182 * ms, 5 * ms},
		{"one line, of which no place is known", Place{Addr: line}, []Place{{Addr: line}}, "", []time.Duration{80 * ms},
			78 * ms, 82 * ms, 15 * ms},
		{"in one network", berlin, []Place{{Country: "DE", ASN: 1}}, "US", []time.Duration{180 * ms}, 170 * ms, 182 * ms, 15 * ms},
		{"in one country", berlin, []Place{{Country: "DE", ASN: 2}}, "US", []time.Duration{180 * ms}, 165 * ms, 182 * ms, 20 * ms},
		{"the nearer counts more", berlin, []Place{{Country: "DE", ASN: 2}, {Country: "AU", ASN: 3}}, "SG",
			[]time.Duration{240 * ms, 60 * ms}, 225 * ms, 250 * ms, 25 * ms},
		{"whoever has not measured does not count", berlin, []Place{{Country: "DE", ASN: 2}, {Country: "DE", ASN: 1}},
			"US", []time.Duration{180 * ms, 0}, 165 * ms, 182 * ms, 20 * ms},
		{"a label that is wrong shows in what others measure", berlin, []Place{{Country: "FR", ASN: 2}}, "DE",
			[]time.Duration{160 * ms}, 100 * ms, 165 * ms, 15 * ms},
		{"never below nothing", berlin, []Place{{Country: "DE", ASN: 1}}, "DE", []time.Duration{1}, 1, 10 * ms, 15 * ms},
	} {
		got := New(c.guest, c.players).Estimate(c.server, c.rtts)
		if got.RTT < c.least || got.RTT > c.most || got.Error > c.off || got.Error < 0 {
			t.Errorf("%s: %v ± %v, want %v to %v ± %v at most", c.name, got.RTT, got.Error, c.least, c.most, c.off)
		}
	}
}

// TestManyPlayers checks that the most telling players count, wherever they stand in the list.
// Several players in one place do not make an estimate surer than it is.
func TestManyPlayers(t *testing.T) {
	var players []Place
	var rtts []time.Duration
	for range 64 {
		players, rtts = append(players, Place{Country: "AU", ASN: 7}), append(rtts, 300*ms)
	}
	players[63], rtts[63] = Place{Country: "DE", ASN: 1}, 20*ms
	got := New(Place{Country: "DE", ASN: 1}, players).Estimate("FR", rtts)
	if got.RTT < 12*ms || got.RTT > 30*ms {
		t.Errorf("the one beside the guest has 20 ms of 64 who have 300: %v", got)
	}
	alone, many := New(Place{Country: "DE"}, players[:1]), New(Place{Country: "DE"}, players[:63])
	if a, b := alone.Typical(), many.Typical(); math.Abs(float64(a-b)) > float64(2*ms) {
		t.Errorf("one in Australia leaves ± %v, 63 of them ± %v", a, b)
	}
}

// TestIsWorthwhile checks that estimates are offered where they made choices better.
func TestIsWorthwhile(t *testing.T) {
	dutch := Place{Country: "NL", ASN: 9}
	for _, c := range []struct {
		guest          Place
		mean, fairness bool
	}{
		{Place{Country: "NL", ASN: 9}, true, true},
		{Place{Country: "NL"}, true, false},
		{Place{Country: "DE"}, true, false},
		{Place{Country: "US"}, false, false},
		{Place{}, false, false},
	} {
		e := New(c.guest, []Place{dutch})
		if e.IsWorthwhile(selection.Mean) != c.mean || e.IsWorthwhile(selection.Fairness) != c.fairness {
			t.Errorf("of a guest in %q with a player in NL: ± %v is worthwhile for the mean: %v, for fairness: %v",
				c.guest.Country, e.Typical(), !c.mean, !c.fairness)
		}
	}
}

// TestSame checks that the same question has the same answer.
func TestSame(t *testing.T) {
	players := []Place{{Country: "DE"}, {Country: "FR"}, {Country: "FR"}, {Country: "US"}}
	ask := func() Estimate {
		return New(Place{Country: "NL"}, players).Estimate("GB", []time.Duration{30 * ms, 22 * ms, 24 * ms, 90 * ms})
	}
	if first := ask(); first != ask() {
		t.Error("another answer")
	}
}
