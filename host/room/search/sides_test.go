package search

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"muster/host/room/people"
	"muster/selection"
)

// TestOpponents checks that members of a NAT group count on the sides they are on, though one of them
// measures for all.
func TestOpponents(t *testing.T) {
	const a, b = selection.SideA, selection.SideB
	for _, tt := range []struct {
		players []people.ID
		sides   map[string]selection.Side
		guests  string
		weights map[string]float64
	}{
		{[]people.ID{"ann"}, nil, "[]", map[string]float64{"ann": 1}},
		{[]people.ID{"ann", "bob"}, nil, "[]", map[string]float64{"ann": 2}},
		{[]people.ID{"ann", "bob", "cat"}, map[string]selection.Side{"ann": a, "bob": a, "cat": a}, "[]", map[string]float64{"ann": 3}},
		{[]people.ID{"ann", "bob", "cat", "dan", "eve"}, map[string]selection.Side{"ann": a, "bob": b, "cat": b, "dan": a}, "[bob eve]",
			map[string]float64{"ann": 2, "bob": 2, "eve": 1}},
	} {
		weights, guests := map[string]float64{}, []string{}
		for _, guest := range opponents(1, members(tt.players...), tt.sides, weights) {
			guests = append(guests, guest.Name)
			if got := guest.RTT("", []time.Duration{10, 20, 30}); got != 20 {
				t.Errorf("%v: %s has %v, and not the RTT of the group", tt.players, guest.Name, got)
			}
		}
		if got := fmt.Sprint(guests); got != tt.guests || !maps.Equal(weights, tt.weights) {
			t.Errorf("%v on sides %v: guests %s, weights %v, want %s and %v", tt.players, tt.sides, got, weights, tt.guests, tt.weights)
		}
	}
}

// TestSearchForSides checks that a search finds a server that is even for two sides, also where
// opponents live behind one address.
func TestSearchForSides(t *testing.T) {
	for _, tt := range []struct {
		groups [][]Member
		apart  float64
	}{
		{[][]Member{members("ann"), members("eve"), members("bob"), members("hal")}, 0},
		{[][]Member{members("ann", "eve"), members("bob"), members("hal")}, 30}, // eve has ann's pings
	} {
		w := newWorld(t, 400, tt.groups...)
		w.setup.Criteria.By = selection.EvenSides
		w.setup.Criteria.Sides = map[string]selection.Side{"ann": selection.SideA, "bob": selection.SideA, "eve": selection.SideB, "hal": selection.SideB}
		w.Search = New(tt.groups, nil, w.setup)
		w.goes()
		found := w.View(selection.EvenSides)
		if !found.Found || found.FigureMS != tt.apart {
			t.Errorf("%v: found %+v, want %v ms between the sides", tt.groups, found, tt.apart)
		}
	}
}
