package demand

import (
	"maps"
	"net/netip"
	"testing"

	"muster/host/room"
)

// TestDemand checks that each room counts once for each server that it watches, in order of
// arrival, and only while it watches.
func TestDemand(t *testing.T) {
	c := New()
	one, two := netip.MustParseAddrPort("192.0.2.1:27960"), netip.MustParseAddrPort("192.0.2.2:27960")
	const ann, ben = "ANN", "BEN"
	watched := map[string][]netip.AddrPort{}
	type all = map[netip.AddrPort]room.Demand
	of := func(rooms, place int) room.Demand { return room.Demand{Rooms: rooms, Place: place} }
	for i, step := range []struct {
		of   string
		to   []netip.AddrPort
		want all
	}{
		{ann, nil, nil},
		{ann, []netip.AddrPort{one, two}, all{one: of(1, 0), two: of(1, 0)}},
		{ben, []netip.AddrPort{one}, all{one: of(2, 1)}},
		{ann, []netip.AddrPort{one, two}, all{one: of(2, 0), two: of(1, 0)}},
		{ann, []netip.AddrPort{two}, all{two: of(1, 0)}},
		{ben, []netip.AddrPort{one}, all{one: of(1, 0)}},
		{ann, []netip.AddrPort{one}, all{one: of(2, 1)}},
		{ben, nil, all{}},
		{ann, nil, all{}},
	} {
		if got := c.Move(step.of, watched[step.of], step.to); !maps.Equal(got, step.want) {
			t.Errorf("step %d: %v, not %v", i, got, step.want)
		}
		watched[step.of] = step.to
	}
	if len(c.rooms) > 0 {
		t.Errorf("%v are watched by nobody", c.rooms)
	}
}
