package estimates

import (
	"encoding/json"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/people"
	"muster/internal/catalogue"
	"muster/selection"
	"muster/selection/estimate"
)

func at(addr, country string, asn uint32) estimate.Place {
	return estimate.Place{Addr: netip.MustParseAddr(addr), Country: country, ASN: asn}
}

var (
	ann = Person{"ann", at("9.9.9.1", "DE", 3320)}
	bob = Person{"bob", at("8.8.8.1", "US", 7018)}
	zoe = Person{"zoe", at("9.9.8.1", "DE", 3320)} // in ann's network
	yan = Person{ID: "yan"}                        // at an unknown place
)

// scene returns ann in Germany and bob in the USA, with guests.
func scene(guests ...Person) Scene {
	return Scene{Guests: guests, Players: []Person{ann, bob}, Rule: selection.Mean}
}

// TestView checks that a guest may be counted in if this helps the choice, and otherwise reads why
// not.
func TestView(t *testing.T) {
	const nowhere, guess = "it’s private, or belongs to a tunnel", "nobody nearby is measuring"
	for _, tt := range []struct {
		name string
		at   estimate.Place
		by   selection.Rule
		why  string
	}{
		{"nobody knows where", estimate.Place{}, selection.Mean, nowhere},
		{"in a player's network", zoe.At, selection.Mean, ""},
		{"another continent", at("9.9.7.1", "AU", 1221), selection.Mean, guess},
		{"an address without a country", at("9.9.7.1", "", 0), selection.Mean, guess},
		{"another country next door", at("9.9.7.1", "NL", 1136), selection.Mean, ""},
		{"where differences decide", at("9.9.7.1", "NL", 1136), selection.Fairness, guess},
		{"behind ann's line", ann.At, selection.Fairness, ""},
	} {
		var g Guests
		eve := Person{"eve", tt.at}
		s := scene(eve)
		s.Rule = tt.by
		v := g.View(eve, s, nil)
		english := catalogue.InEnglish()
		if v.Why.IsZero() != (tt.why == "") || !strings.Contains(english.Say(v.Why), tt.why) || (v.ErrorMS > 0) != (tt.why == "") || v.Counted {
			t.Errorf("%s: it is %+v, want %q", tt.name, v, tt.why)
		}
		note, err := g.Count(eve, s)
		if isCounted := err == nil; isCounted != (tt.why == "") || isCounted != g.IsCounted("eve") ||
			isCounted != strings.Contains(english.Say(note), "by estimated pings (±") {
			t.Errorf("%s: counted in it is %q, %v", tt.name, note, err)
		}
	}
}

// TestWithout checks that a guest whose counting would leave no server reads so, once a choice
// stands.
func TestWithout(t *testing.T) {
	var g Guests
	g.Count(zoe, scene(zoe))
	for _, tt := range []struct {
		name   string
		stands *selection.Selection
		isTold bool
	}{
		{"before there is a choice", nil, false},
		{"nothing suits", &selection.Selection{}, false},
		{"chosen with the guest", &selection.Selection{Chosen: &selection.Ranked{}, Estimated: map[string]float64{"zoe": 9}}, false},
		{"chosen without", &selection.Selection{Chosen: &selection.Ranked{}}, true},
	} {
		if v := g.View(zoe, scene(zoe), tt.stands); !v.Counted || v.Why.IsZero() == tt.isTold {
			t.Errorf("%s: it is %+v", tt.name, v)
		}
	}
}

// TestCounted checks that guests count in the order of the room, as long as they can and nobody
// takes it back.
func TestCounted(t *testing.T) {
	var g Guests
	eve := Person{"eve", ann.At}
	counted := func(guests ...Person) []people.ID { return g.Counted(scene(guests...)).Guests() }
	g.Count(eve, scene(eve))
	g.Count(zoe, scene(zoe))
	if got := counted(zoe, yan, eve); !slices.Equal(got, []people.ID{"zoe", "eve"}) {
		t.Errorf("counted are %v", got)
	}
	if got := counted(yan, eve); !slices.Equal(got, []people.ID{"eve"}) {
		t.Errorf("without zoe they are %v", got)
	}
	if got := counted(Person{ID: "zoe"}, eve); !slices.Equal(got, []people.ID{"eve"}) {
		t.Errorf("with zoe, who is nowhere, they are %v", got)
	}
	kept := *g.State()
	if note := catalogue.InEnglish().Say(g.Uncount("zoe")); note != "zoe doesn’t count in the choice any more" || g.IsCounted("zoe") {
		t.Errorf("taken back it is %q", note)
	}
	if g.Forget("eve"); g.IsCounted("eve") || len(g.estimators) != 1 {
		t.Errorf("forgotten it is %+v", g)
	}
	if !slices.Equal(kept.Counted, []people.ID{"eve", "zoe"}) {
		t.Errorf("what was saved before has become %v", kept.Counted)
	}
}

// TestEstimatedOnce checks that a guest's estimator is made once, and again only after somebody has
// come, gone or moved.
func TestEstimatedOnce(t *testing.T) {
	var g Guests
	by, _ := g.estimator(zoe, scene(zoe))
	if again, _ := g.estimator(zoe, scene(zoe, yan)); again != by {
		t.Error("it is reckoned again for nothing")
	}
	alone := scene(zoe)
	alone.Players = alone.Players[:1]
	if after, _ := g.estimator(zoe, alone); after == by {
		t.Error("it still knows of bob")
	}
	by, _ = g.estimator(zoe, scene(zoe))
	if moved, _ := g.estimator(Person{"zoe", ann.At}, scene(zoe)); moved == by {
		t.Error("it does not know that zoe has moved")
	}
}

// basis returns a basis of four servers. Ann has measured the first three, and bob two.
func basis() selection.Basis {
	b := selection.Basis{Table: selection.NewTable([]string{"ann", "bob"}, 4), Criteria: selection.Criteria{By: selection.Mean, Seats: 5}}
	for server := range 4 {
		b.Servers.List = append(b.Servers.List, discovery.Server{
			Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(server)}), 27960), Country: "DE",
		})
	}
	b.Servers.Infos = map[int]*discovery.Info{1: {MaxPing: 5 * time.Millisecond}, 2: {MinPing: 200 * time.Millisecond}}
	for server, ms := range []time.Duration{20, 40, 10} {
		b.Table.Set(0, server, discovery.Answered, ms*time.Millisecond)
	}
	b.Table.Set(1, 0, discovery.Answered, 110*time.Millisecond)
	b.Table.Set(1, 2, discovery.Lost, 0)
	return b
}

// TestIn checks that a basis with a guest has estimates for measured servers, which break no
// server's ping limit.
func TestIn(t *testing.T) {
	var g Guests
	g.Count(zoe, scene(zoe))
	b := basis()
	with := g.Counted(scene(zoe)).In(b)
	if got := with.Table.Players(); !slices.Equal(got, []string{"ann", "bob", "zoe"}) || with.Criteria.Seats != 5 {
		t.Fatalf("it is for %v, with %d seats", got, with.Criteria.Seats)
	}
	if off := with.Estimated; len(off) != 1 || off["zoe"] != g.View(zoe, scene(zoe), nil).ErrorMS || off["zoe"] != math.Ceil(off["zoe"]) {
		t.Errorf("estimated are %v", off)
	}
	if !slices.Equal(b.Table.Players(), []string{"ann", "bob"}) || len(b.Estimated) > 0 {
		t.Errorf("the basis without has become one of %v", b.Table.Players())
	}
	for server, want := range []struct {
		state    discovery.State
		from, to float64
	}{{discovery.Answered, 12, 30}, {discovery.Answered, 5, 5}, {discovery.Answered, 200, 200}, {discovery.Unprobed, 0, 0}} {
		state, rtt := with.Table.At(2, server)
		if ms := float64(rtt) / 1e6; state != want.state || ms < want.from || ms > want.to {
			t.Errorf("to server %d zoe has %v, %.1f ms; want %+v", server, state, ms, want)
		}
	}
	if without := new(Guests).Counted(scene(zoe)).In(b); without.Table != b.Table {
		t.Error("without a guest the basis is another")
	}
	var few Guests
	few.Count(zoe, scene(zoe))
	if state, _ := few.Counted(scene(zoe)).In(b.For([]string{"bob"})).Table.At(1, 1); state != discovery.Unprobed {
		t.Errorf("for bob alone a server that only ann measured is %v", state)
	}
}

// TestSearched checks that a search estimates a guest's pings from the players that it asks.
func TestSearched(t *testing.T) {
	var g Guests
	g.Count(zoe, scene(zoe))
	searched := g.Counted(scene(zoe)).Searched([]Person{ann})
	if len(searched) != 1 || searched[0].Name != "zoe" {
		t.Fatalf("searched are %+v", searched)
	}
	want := estimate.New(zoe.At, []estimate.Place{ann.At}).Estimate("DE", []time.Duration{20 * time.Millisecond}).RTT
	if got := searched[0].RTT("DE", []time.Duration{20 * time.Millisecond}); got != want {
		t.Errorf("zoe has %v, want %v", got, want)
	}
}

// TestSaved checks the form of the section.
func TestSaved(t *testing.T) {
	var g Guests
	g.Count(zoe, scene(zoe))
	const golden = `{"counted":["zoe"]}`
	data, err := json.Marshal(g.State())
	if err != nil || string(data) != golden {
		t.Errorf("it is saved as %s, %v", data, err)
	}
}

// measured returns the RTTs of the landmarks in Frankfurt, Paris and New York, in ms.
func measured(frankfurt, paris, newYork float64) []Landmark {
	rtt := func(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
	return []Landmark{
		{"frankfurt:1", Place{Country: "DE", Lat: 50.1, Lon: 8.7}, rtt(frankfurt)},
		{"paris:1", Place{Country: "FR"}, rtt(paris)},
		{"newyork:1", Place{Country: "US", Lat: 40.7, Lon: -74}, rtt(newYork)},
	}
}

// TestMeasured checks that a guest whose browser has measured places counts where nobody is near,
// with a smaller error, and that people who have gone leave nothing.
func TestMeasured(t *testing.T) {
	var g Guests
	eve := Person{"eve", at("9.9.7.1", "NL", 1136)}
	s := scene(eve)
	before := g.View(eve, s, nil)
	g.Measured("ann", measured(8, 18, 90))
	g.Measured("bob", measured(95, 88, 6))
	g.Measured("eve", measured(15, 17, 85))
	saved, _ := json.Marshal(g.State())
	after := g.View(eve, s, nil)
	if before.Measured || !after.Measured || after.ErrorMS >= before.ErrorMS {
		t.Errorf("before it is %+v, measured %+v", before, after)
	}
	s.Rule = selection.Fairness
	if v := g.View(eve, s, nil); !v.Why.IsZero() {
		t.Errorf("where differences decide it is %+v", v)
	}
	g.Measured("yan", measured(20, 12, 80))
	if v := g.View(yan, s, nil); !v.Measured || strings.Contains(catalogue.InEnglish().Say(v.Why), "tunnel") {
		t.Errorf("at an unknown address it is %+v", v)
	}

	var again Guests
	if err := json.Unmarshal(saved, again.State()); err != nil {
		t.Fatal(err)
	}
	if got := again.View(eve, scene(eve), nil); got.ErrorMS != after.ErrorMS {
		t.Errorf("after a restart it is %+v, was %+v", got, after)
	}
	const golden = `{"places":{"frankfurt:1":{"country":"DE","lat":50.1,"lon":8.7}},"rtts_ms":{"ann":{"frankfurt:1":8.000}}}`
	again.Measured("ann", measured(8, 0, -1))
	again.Forget("bob")
	again.Forget("eve")
	if data, _ := json.Marshal(again.State()); string(data) != golden {
		t.Errorf("what is left is %s", data)
	}
	again.Measured("ann", nil)
	if data, _ := json.Marshal(again.State()); len(again.State().RTTs)+len(again.State().Places) > 0 {
		t.Errorf("what is left in the end is %s", data)
	}
}

// TestMeasuredInTime checks that a new measurement changes the estimates, and more than the most
// landmarks of a person are not kept.
func TestMeasuredInTime(t *testing.T) {
	var g Guests
	one := func() *estimate.Estimator { e, _ := g.estimator(zoe, scene(zoe)); return e }
	first := one()
	g.Measured("zoe", measured(9, 19, 91))
	if one() == first {
		t.Error("the estimator does not know of the landmarks")
	}
	last := one()
	if g.Measured("bob", measured(95, 88, 6)); one() == last {
		t.Error("the estimator does not know of a player's landmarks")
	}
	var many []Landmark
	for i := range 2 * maxLandmarks {
		many = append(many, Landmark{Key: string(rune('a' + i)), RTT: time.Millisecond})
	}
	if g.Measured("zoe", many); len(g.State().RTTs["zoe"]) != maxLandmarks {
		t.Errorf("%d landmarks are kept", len(g.State().RTTs["zoe"]))
	}
}
