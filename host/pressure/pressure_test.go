package pressure

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func lines(rows []Row) (lines []string) {
	for _, r := range rows {
		lines = append(lines, fmt.Sprintf("%v %s %d %s-%s", r.Network, r.Limit, r.Times, r.First.Format("15:04"), r.Last.Format("15:04")))
	}
	return lines
}

// TestTable checks that networks are counted as a whole, and forgotten after an hour.
func TestTable(t *testing.T) {
	var table Table
	note := func(limit Limit, from string, minute int) {
		table.Note(limit, netip.MustParseAddr(from), noon.Add(time.Duration(minute)*time.Minute))
	}
	note(Codes, "203.0.113.9", 0)
	note(Rooms, "2001:db8:1:2::3", 1)
	note(Rooms, "2001:db8:1:ffff::", 2)
	note(Codes, "::ffff:203.0.113.200", 30)
	note(Requests, "203.0.113.200", 31)
	note(Requests, "198.51.100.1", 31)
	for _, look := range []struct {
		minute int
		want   []string
	}{
		{32, []string{
			"203.0.113.0/24 wrong codes 2 12:00-12:30", "2001:db8:1::/48 rooms 2 12:01-12:02",
			"198.51.100.0/24 requests 1 12:31-12:31", "203.0.113.0/24 requests 1 12:31-12:31",
		}},
		{91, []string{"198.51.100.0/24 requests 1 12:31-12:31", "203.0.113.0/24 requests 1 12:31-12:31"}},
		{92, nil},
	} {
		if got := lines(table.Rows(noon.Add(time.Duration(look.minute) * time.Minute))); !slices.Equal(got, look.want) {
			t.Errorf("after %d min: %q, want %q", look.minute, got, look.want)
		}
	}
	note(Codes, "203.0.113.9", 200)
	got, want := lines(table.Rows(noon.Add(200*time.Minute))), []string{"203.0.113.0/24 wrong codes 1 15:20-15:20"}
	if !slices.Equal(got, want) {
		t.Errorf("a network that comes again after hours: %q, want %q", got, want)
	}
}

// TestNobody checks that callers without an address count nowhere, and that no table counts nothing.
func TestNobody(t *testing.T) {
	var none *Table
	none.Note(Codes, netip.MustParseAddr("192.0.2.1"), noon)
	var table Table
	table.Note(Codes, netip.Addr{}, noon)
	if none.Rows(noon) != nil || table.Rows(noon) != nil {
		t.Error("nobody counts")
	}
}

// TestFull checks that a full table forgets the network that was hit longest ago, so strangers can fill
// no memory.
func TestFull(t *testing.T) {
	var table Table
	for i := range most + 10 {
		table.Note(Codes, netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 1}), noon.Add(time.Duration(i)*time.Millisecond))
	}
	rows := table.Rows(noon.Add(time.Minute))
	has := func(network string) bool {
		return slices.ContainsFunc(rows, func(r Row) bool { return r.Network == netip.MustParsePrefix(network) })
	}
	if len(rows) != most || has("10.0.9.0/24") || !has("10.0.10.0/24") || !has("10.4.9.0/24") {
		t.Errorf("%d rows, from %v to %v", len(rows), rows[0], rows[len(rows)-1])
	}
}

// TestMerge checks that the rows of several hosts add up.
func TestMerge(t *testing.T) {
	a, b := netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.51.100.0/24")
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	got := lines(Merge([]Row{
		{a, Codes, 1, at(3), at(9)}, {b, Codes, 4, at(1), at(1)}, {a, Codes, 5, at(1), at(5)}, {a, Rooms, 1, at(7), at(7)},
	}))
	want := []string{"192.0.2.0/24 wrong codes 6 12:01-12:09", "198.51.100.0/24 wrong codes 4 12:01-12:01", "192.0.2.0/24 rooms 1 12:07-12:07"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
