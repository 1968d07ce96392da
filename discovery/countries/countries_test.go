package countries

import (
	"math"
	"testing"
)

// TestTables checks that the tables are complete, and fit each other.
func TestTables(t *testing.T) {
	if n := len(known().centres); n < 240 {
		t.Errorf("%d countries", n)
	}
	fields := func(table string, row []string) int {
		switch {
		case table == "centres":
			return 4
		case table == "parts":
			return 5
		case len(row) > 1 && row[1] == "-":
			return 4
		}
		return 3
	}
	for table, text := range map[string]string{"centres": centreTable, "parts": partTable, "cables": cableTable} {
		for row := range rows(text) {
			if len(row) != fields(table, row) {
				t.Errorf("%s: %q", table, row)
			}
		}
	}
	for code, c := range known().centres {
		if c == (Place{}) || math.Abs(c.Lat) > 90 || math.Abs(c.Lon) > 180 || c.KM < 0 || c.KM > 2000 {
			t.Errorf("%s is at %+v", code, c)
		}
		all, share := Parts(code), 0.0
		for _, p := range all {
			share += p.Share
		}
		if math.Abs(share-1) > 1e-9 || len(all) > 1 && c.KM < 300 {
			t.Errorf("people live %.0f km from the centre of %s, and in %v", c.KM, code, all)
		}
	}
	n := laid()
	for i, from := range n.hubs {
		for j, to := range n.hubs {
			if km := apart(from.at, to.at); math.IsInf(n.km[i][j], 1) || n.km[i][j] < km {
				t.Errorf("from %s to %s it is %.0f km, and the way is %.0f km", from.name, to.name, km, n.km[i][j])
			}
		}
	}
}

// TestWays checks that ways follow cables, not great circles, that their errors grow with their length
// and with how wide the countries are, and that a place that nobody knows has none.
func TestWays(t *testing.T) {
	way := func(from, to string) Way { return Ways(from, []string{to})[0] }
	for _, c := range []struct {
		from, to    string
		least, most float64 // ms
	}{
		{"DE", "FR", 15, 35}, {"DE", "US", 100, 150}, {"NZ", "AU", 35, 75}, {"ZA", "BR", 180, 400}, {"DE", "JP", 200, 280},
		{"SG", "SG", 5, 15}, {"US", "US", 40, 80},
	} {
		w, back := way(c.from, c.to), way(c.to, c.from)
		if w.MS < c.least || w.MS > c.most || w.Off < offBase || w.Off > w.MS {
			t.Errorf("from %s to %s: %+v, want %v to %v ms", c.from, c.to, w, c.least, c.most)
		}
		if math.Abs(w.MS-back.MS) > 1e-9 {
			t.Errorf("from %s to %s it is %v ms, back %v", c.from, c.to, w.MS, back.MS)
		}
	}
	if near, far := way("DE", "FR"), way("DE", "JP"); far.Off <= near.Off {
		t.Errorf("%+v is as sure as %+v", far, near)
	}
	if narrow, wide := way("NL", "BE"), way("NL", "US"); wide.Spread < 15 || narrow.Spread > 5 {
		t.Errorf("servers in Belgium are %v ms apart, in the United States %v", narrow.Spread, wide.Spread)
	}
	if w, unknown := Ways("DE", []string{"XX"}), Ways("XX", []string{"DE"}); w[0] != (Way{}) || unknown[0] != (Way{}) {
		t.Errorf("nobody knows XX, but %v, %v", w, unknown)
	}
}
