package history

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/testlist"
)

// visit is the time of the tests' visits.
var visit = time.Date(2008, 5, 28, 20, 0, 0, 0, time.UTC)

// remembered returns an entry of a memory.
func remembered(prefix string, rtt time.Duration, seen time.Time) Network {
	return Network{netip.MustParsePrefix(prefix), discovery.Millis(rtt), seen}
}

// replies returns results of all servers with these RTTs in ms, negative if lost.
func replies(rtts ...int) []discovery.Result {
	var results []discovery.Result
	for i, rtt := range rtts {
		r := discovery.Result{Server: i, Order: i + 1, State: discovery.Lost}
		if rtt >= 0 {
			r.State, r.RTT = discovery.Answered, time.Duration(rtt)*ms
		}
		results = append(results, r)
	}
	return results
}

func TestAMemoryHasEachNetworkOnce(t *testing.T) {
	servers := testlist.Of(t, "80.1.1.1:1 DE 1", "80.1.1.2:1 DE 1", "80.1.1.3:1 DE 1", "80.1.1.4:1 DE 1",
		"80.1.2.1:1 DE 1", "80.1.3.1:1 DE 1", "[2001:db8:1::1]:1 DE 2")
	before := Memory{
		remembered("80.1.1.0/24", 90*ms, visit.Add(-24*time.Hour)),
		remembered("80.1.3.0/24", 33*ms, visit.Add(-48*time.Hour)),
		remembered("80.9.9.0/24", 50*ms, visit.Add(-36*24*time.Hour)),
	}
	after := before.After(servers, replies(40, 20, 30, 10, -1, -1, 5), visit)
	want := Memory{
		remembered("2001:db8:1::/48", 5*ms, visit),
		remembered("80.1.1.0/24", 20*ms, visit), // the lower of the middle two
		remembered("80.1.3.0/24", 33*ms, visit.Add(-48*time.Hour)),
	}
	if !reflect.DeepEqual(after, want) {
		t.Errorf("%v, want %v", after, want)
	}
	if newest := after.Newest(); !newest.Equal(visit) {
		t.Errorf("the last visit was at %v", newest)
	}
}

func TestAMemoryIsBounded(t *testing.T) {
	var servers []discovery.Server
	var results []discovery.Result
	for i := range maxMemory + 10 {
		addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{80, byte(i >> 8), byte(i), 1}), 1)
		servers = append(servers, discovery.Server{Addr: addr})
		results = append(results, discovery.Result{Server: i, State: discovery.Answered, RTT: time.Duration(maxMemory+10-i) * ms})
	}
	after := Memory{}.After(servers, results, visit)
	if len(after) != maxMemory || after[0].RTT != discovery.Millis(ms) || after[maxMemory-1].RTT != discovery.Millis(maxMemory*ms) {
		t.Errorf("%d networks, want the nearest %d", len(after), maxMemory)
	}
}

func TestPriorsFade(t *testing.T) {
	m := Memory{
		remembered("80.1.1.0/24", 10*ms, visit),
		remembered("80.1.2.0/24", 10*ms, visit.Add(-halfLife)),
		remembered("80.1.3.0/24", 10*ms, visit.Add(-forgotten)),
		remembered("80.1.4.0/24", 10*ms, visit.Add(halfLife)), // the clock was set back
	}
	var certainties []float64
	for _, p := range m.Priors(visit) {
		certainties = append(certainties, p.Certainty)
	}
	if want := []float64{1, 0.5, 0.5}; !slices.Equal(certainties, want) {
		t.Errorf("certainties %v, want %v", certainties, want)
	}
}

func TestAMemoryOfAnotherPlaceIsDropped(t *testing.T) {
	var lines []string
	var memory Memory
	for i := range 8 {
		lines = append(lines, fmt.Sprintf("80.%d.1.1:1 DE %d", i, i+1))
		memory = append(memory, remembered(fmt.Sprintf("80.%d.1.0/24", i), 300*ms, visit))
	}
	memory = append(memory, remembered("90.0.0.0/24", 300*ms, visit))
	servers := testlist.Of(t, lines...)
	tests := []struct {
		name string
		rtts []int
		kept bool
	}{
		{"all as before", []int{300, 310, 290, 330, 300, 305, 340, 280}, true},
		{"a few routes changed", []int{30, 31, 290, 33, 300, 305, 340, 280}, true},
		{"most contradict it", []int{30, 31, 29, 33, 30, 30, 340, 280}, false},
		{"too few to say", []int{30, 31, 29, 33, 30, -1, -1, -1}, true},
	}
	for _, tt := range tests {
		after := memory.After(servers, replies(tt.rtts...), visit.Add(time.Hour))
		kept := slices.ContainsFunc(after, func(n Network) bool { return n.Prefix.Addr().As4()[0] == 90 })
		if kept != tt.kept || memory.OutdatedBy(servers, replies(tt.rtts...)) == tt.kept {
			t.Errorf("%s: an older memory was kept: %v, want %v", tt.name, kept, tt.kept)
		}
	}
	one := testlist.Of(t, "80.0.1.1:1 DE 1", "80.1.1.1:1 DE 1", "80.2.1.1:1 DE 1", "80.3.1.1:1 DE 1", "80.4.1.1:1 DE 1",
		"80.5.1.1:1 DE 1", "80.6.1.1:1 DE 1")
	if memory.OutdatedBy(one, replies(30, 30, 30, 30, 30, 30, 30)) {
		t.Error("one AS that moved counts as many")
	}
}

func TestAgree(t *testing.T) {
	tests := []struct {
		remembered, rtt time.Duration
		want            bool
	}{
		{10 * ms, 26 * ms, true}, {10 * ms, 27 * ms, false}, {200 * ms, 240 * ms, true}, {200 * ms, 241 * ms, false},
		{200 * ms, 180 * ms, true}, {200 * ms, 179 * ms, false}, {10 * ms, 1 * ms, true},
	}
	for _, tt := range tests {
		if got := Agree(tt.remembered, tt.rtt); got != tt.want {
			t.Errorf("%v after %v agree: %v", tt.rtt, tt.remembered, got)
		}
	}
}

func TestMemoryAsDocument(t *testing.T) {
	m := Memory{remembered("80.1.1.0/24", 12345*time.Microsecond, visit), remembered("2001:db8::/48", ms, visit.Add(-time.Hour))}
	var text bytes.Buffer
	if err := m.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	const want = `{"format":"muster.memory/1","networks":[{"prefix":"80.1.1.0/24","rtt_ms":12.345,"seen":"2008-05-28T20:00:00Z"},{"prefix":"2001:db8::/48","rtt_ms":1.000,"seen":"2008-05-28T19:00:00Z"}]}` + "\n"
	if text.String() != want {
		t.Errorf("%s, want %s", text.String(), want)
	}
	if back, err := Read(&text); err != nil || !reflect.DeepEqual(back, m) {
		t.Errorf("%v, %v", back, err)
	}
}

func TestReadMemoryRefuses(t *testing.T) {
	entry := func(prefix, rtt, seen string) string {
		return fmt.Sprintf(`{"format":"muster.memory/1","networks":[{"prefix":%q,"rtt_ms":%s,"seen":%q}]}`, prefix, rtt, seen)
	}
	tests := map[string]string{
		"nothing":       "",
		"no JSON":       "\x00\x01",
		"cut off":       entry("80.1.1.0/24", "1", "2008-05-28T20:00:00Z")[:40],
		"another":       `{"format":"muster.report/1"}`,
		"no format":     `{}`,
		"no prefix":     entry("", "1", "2008-05-28T20:00:00Z"),
		"a larger one":  entry("80.1.0.0/16", "1", "2008-05-28T20:00:00Z"),
		"not a network": entry("80.1.1.1/24", "1", "2008-05-28T20:00:00Z"),
		"mapped":        entry("::ffff:80.1.1.0/120", "1", "2008-05-28T20:00:00Z"),
		"no time":       entry("80.1.1.0/24", "0", "2008-05-28T20:00:00Z"),
		"negative":      entry("80.1.1.0/24", "-1", "2008-05-28T20:00:00Z"),
		"never":         entry("80.1.1.0/24", "1", "0001-01-01T00:00:00Z"),
		"too many":      `{"format":"muster.memory/1","networks":[` + strings.Repeat(`{},`, maxMemory) + `{}]}`,
	}
	for name, text := range tests {
		if m, err := Read(strings.NewReader(text)); !errors.Is(err, discovery.ErrMalformed) || m != nil {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	if _, err := Read(strings.NewReader(entry("80.1.1.0/24", "1", "2008-05-28T20:00:00Z"))); err != nil {
		t.Errorf("and a good one: %v", err)
	}
}

func FuzzReadMemory(f *testing.F) {
	f.Add([]byte(`{"format":"muster.memory/1","networks":[{"prefix":"80.1.1.0/24","rtt_ms":12.345,"seen":"2008-05-28T20:00:00Z"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := m.WriteJSON(&again); err != nil {
			t.Fatal(err)
		}
		if back, err := Read(&again); err != nil || len(back) != len(m) {
			t.Errorf("%d networks read back as %d: %v", len(m), len(back), err)
		}
	})
}

const ms = time.Millisecond
