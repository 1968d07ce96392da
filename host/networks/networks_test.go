package networks

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/selection/memory"
)

// knows returns what a memory knows of the list for players from a network.
func knows(m *Memory, country string, asn uint32, at time.Time) []memory.Cell {
	return m.Known([]Network{{country, asn}}, list(), at)[0]
}

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// at is a session's cell of a /24.
func at(prefix, country string, asn uint32, ms float64) memory.Cell {
	return memory.Cell{Part: memory.Part{Country: country, ASN: asn, Prefix: netip.MustParsePrefix(prefix)}, MS: ms, Count: 1}
}

// told is what a room tells: the values that a player at an address measured.
type told struct {
	room, from string
	ms         float64
	after      time.Duration // since noon
}

// german is a /24 in the country and AS of the tests, with others of its /16.
func german(ms float64) []memory.Cell { return []memory.Cell{at("198.18.7.0/24", "DE", 24940, ms)} }

// learn tells a memory what Dutch players of AS 1136 measured to one German network.
func learn(m *Memory, all ...told) {
	for _, t := range all {
		m.Learn(t.room, netip.MustParseAddr(t.from), Network{"NL", 1136}, german(t.ms), noon.Add(t.after))
	}
}

// list is a list with a server in the network of german, and one elsewhere in its AS.
func list() *topology.Tree {
	var servers []discovery.Server
	for _, addr := range []string{"198.18.9.1:27960", "198.20.9.1:27960"} {
		servers = append(servers, discovery.Server{Addr: netip.MustParseAddrPort(addr), Country: "DE", ASN: 24940})
	}
	return topology.New(servers)
}

// said writes what a memory knows of the list as text: level, mean, spread and count.
func said(cells []memory.Cell) string {
	var text []string
	for _, c := range cells {
		text = append(text, fmt.Sprintf("%d: %g±%g of %d", c.Level(), c.MS, c.Spread, c.Count))
	}
	return strings.Join(text, ", ")
}

// TestAgreement checks which values make a cell.
func TestAgreement(t *testing.T) {
	const day = 24 * time.Hour
	three := []told{{"a", "203.0.113.1", 20, 0}, {"b", "203.0.114.1", 24, 0}, {"c", "203.0.115.1", 22, 0}}
	for name, tt := range map[string]struct {
		told []told
		want string
	}{
		"three rooms, three networks": {three, "1: 22±1.6 of 3, 2: 22±1.6 of 3, 3: 22±1.6 of 3"},
		"two rooms":                   {three[:2], ""},
		"one room, three networks": {[]told{{"a", "203.0.113.1", 20, 0}, {"a", "203.0.114.1", 24, 0},
			{"a", "203.0.115.1", 22, 0}}, ""},
		"three rooms, one network": {[]told{{"a", "203.0.113.1", 20, 0}, {"b", "203.0.113.99", 24, 0},
			{"c", "203.0.113.7", 22, 0}}, ""},
		"three rooms, two networks": {[]told{{"a", "203.0.113.1", 20, 0}, {"b", "203.0.114.1", 24, 0},
			{"c", "203.0.113.7", 22, 0}}, ""},
		"one liar of three": {[]told{{"a", "203.0.113.1", 20, 0}, {"b", "203.0.114.1", 300, 0}, {"c", "203.0.115.1", 22, 0}}, ""},
		"two liars of five": {append([]told{{"x", "203.0.112.1", 150, 0}, {"y", "203.0.111.1", 300, 0}}, three...),
			"1: 22±1.6 of 3, 2: 22±1.6 of 3, 3: 22±1.6 of 3"},
		"over a trial's time": {[]told{three[0], three[1], {"c", "203.0.115.1", 22, 29 * day}}, ""},
		"over three weeks": {[]told{three[0], three[1], {"c", "203.0.115.1", 22, 21 * day}},
			"1: 22±1.6 of 3, 2: 22±1.6 of 3, 3: 22±1.6 of 3"},
		"another route since": {append(slices.Clone(three), told{"d", "203.0.113.1", 80, 9 * day}, told{"e", "203.0.114.1", 80, 9 * day},
			told{"f", "203.0.115.1", 82, 9 * day}), "1: 80±1.2 of 3, 2: 80±1.2 of 3, 3: 80±1.2 of 3"},
		"a little nearer since": {append(slices.Clone(three), told{"d", "203.0.113.1", 20, 9 * day}, told{"e", "203.0.114.1", 20, 9 * day},
			told{"f", "203.0.115.1", 20, 9 * day}), "1: 21±0.8 of 6, 2: 21±0.8 of 6, 3: 21±0.8 of 6"},
	} {
		m := New([32]byte{1})
		learn(m, tt.told...)
		if got := said(knows(m, "NL", 1136, noon.Add(30*day))); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestWhatIsNotLearnt checks that a memory learns nothing without a country, nor from addresses that
// are not of the internet.
func TestWhatIsNotLearnt(t *testing.T) {
	for _, tt := range []struct {
		from, country string
		want          int
	}{
		{"203.0.%d.1", "", 0}, {"203.0.%d.1", "nl", 0}, {"203.0.%d.1", "NLD", 0}, {"192.168.%d.1", "NL", 0},
		{"127.0.%d.1", "NL", 0}, {"100.64.%d.1", "NL", 0}, {"203.0.%d.1", "NL", 6}, {"2001:db8:%d::1", "NL", 6},
	} {
		m := New([32]byte{})
		for i := range 3 {
			m.Learn(fmt.Sprint(i), netip.MustParseAddr(fmt.Sprintf(tt.from, i)), Network{tt.country, 1136}, german(20), noon)
		}
		m.Learn("x", netip.Addr{}, Network{tt.country, 1136}, german(20), noon)
		if n := m.Summary().Cells; n != tt.want {
			t.Errorf("from %s in %q: %d cells, want %d", tt.from, tt.country, n, tt.want)
		}
	}
	var none *Memory
	none.Learn("a", netip.MustParseAddr("203.0.113.1"), Network{"NL", 1136}, german(20), noon)
	if knows(none, "NL", 1136, noon) != nil {
		t.Error("no memory knows something")
	}
}

// TestCoarser checks that players of a new or an unknown AS have the values of their country.
func TestCoarser(t *testing.T) {
	m := New([32]byte{})
	learn(m, told{"a", "203.0.113.1", 20, 0}, told{"b", "203.0.114.1", 24, 0}, told{"c", "203.0.115.1", 22, 0})
	const known = "1: 22±1.6 of 3, 2: 22±1.6 of 3, 3: 22±1.6 of 3"
	for _, tt := range []struct {
		country string
		asn     uint32
		want    string
	}{{"NL", 1136, known}, {"NL", 0, known}, {"NL", 33915, known}, {"BE", 1136, ""}, {"", 0, ""}} {
		if got := said(knows(m, tt.country, tt.asn, noon)); got != tt.want {
			t.Errorf("players of %s, AS %d: %q, want %q", tt.country, tt.asn, got, tt.want)
		}
	}
	if got := knows(m, "NL", 1136, noon.Add(2*365*24*time.Hour)); len(got) > 0 {
		t.Errorf("after two years it knows %q", said(got))
	}
	m.Expire(noon.Add(2 * 365 * 24 * time.Hour))
	if s := m.Summary(); s != (Summary{}) {
		t.Errorf("after two years there is %+v", s)
	}
}

// TestContradicted checks that the values of a country stand in for those of an AS only if both agree
// where both are known. A new AS has the country's in any case.
func TestContradicted(t *testing.T) {
	for name, tt := range map[string]struct {
		others   []float64 // what players of another AS measured to the list's two networks
		own, new string
	}{
		"like the AS": {[]float64{24, 30}, "1: 22±1.6 of 3, 2: 22±1.6 of 3, 3: 22±1.6 of 3, 3: 30±0 of 3",
			"1: 22±1.6 of 3, 2: 22±1.6 of 3, 3: 22±1.6 of 3, 3: 30±0 of 3"},
		"elsewhere, or liars": {[]float64{300, 1}, "1: 22±1.6 of 3, 2: 22±1.6 of 3, 3: 22±1.6 of 3",
			"1: 150.5±149.5 of 3, 2: 150.5±149.5 of 3, 3: 300±0 of 3, 3: 1±0 of 3"},
	} {
		m := New([32]byte{})
		learn(m, told{"a", "203.0.113.1", 20, 0}, told{"b", "203.0.114.1", 24, 0}, told{"c", "203.0.115.1", 22, 0})
		for i := range 3 {
			cells := append(german(tt.others[0]), at("198.20.7.0/24", "DE", 24940, tt.others[1]))
			m.Learn(fmt.Sprint(i), netip.AddrFrom4([4]byte{198, 51, byte(i), 1}), Network{"NL", 33915}, cells, noon)
		}
		if got := said(knows(m, "NL", 1136, noon)); got != tt.own {
			t.Errorf("%s: players of the AS have %q, want %q", name, got, tt.own)
		}
		if got := said(knows(m, "NL", 7, noon)); got != tt.new {
			t.Errorf("%s: players of a new AS have %q, want %q", name, got, tt.new)
		}
	}
}

// TestValues checks what a room's cells say of larger parts: an AS with many networks counts as one.
func TestValues(t *testing.T) {
	cells := []memory.Cell{
		at("198.18.1.0/24", "DE", 1, 10), at("198.18.2.0/24", "DE", 1, 20), at("198.20.1.0/24", "DE", 1, 30),
		at("198.22.1.0/24", "DE", 2, 50), at("198.24.1.0/24", "DE", 0, 70), at("2001:db8:1::/48", "FR", 3, 40),
		at("198.26.1.0/24", "FR", 3, -1), at("198.26.1.0/24", "", 3, 9), at("198.26.1.0/24", "FR", 3, 1e9),
		{Part: memory.Part{Country: "FR"}, MS: 5},
	}
	var got []string
	for _, v := range valuesOf(cells) {
		got = append(got, fmt.Sprintf("%c%c %d %x %d: %g±%g", v.country>>8, v.country&0xff, v.asn, v.prefix, v.kind, inMS(v.ms), inMS(v.spread)))
	}
	want := []string{
		"DE 0 0 1: 47.5±20.1", "DE 0 c6180000 3: 70±0", "DE 1 0 2: 22.5±8.3", "DE 1 c6120000 3: 15±5", "DE 1 c6140000 3: 30±0",
		"DE 2 0 2: 50±0", "DE 2 c6160000 3: 50±0", "FR 0 0 1: 40±0", "FR 3 0 2: 40±0", "FR 3 20010db8 4: 40±0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q,\nwant %q", got, want)
	}
}

// TestPoison checks that one room, and many rooms of one network, change nothing for others, before
// and after a cell is agreed on.
func TestPoison(t *testing.T) {
	honest := func(m *Memory, week int) {
		for i := range 5 {
			learn(m, told{fmt.Sprint("h", week, i), fmt.Sprintf("203.0.%d.1", 100+i), 20 + float64(i), time.Duration(week) * 7 * 24 * time.Hour})
		}
	}
	clean, poisoned := New([32]byte{}), New([32]byte{})
	for week := range 10 {
		for i := range 50 { // rooms of one network, before the honest ones and after them
			lie := told{fmt.Sprint("x", week, i), fmt.Sprintf("203.0.113.%d", i), 300, time.Duration(week) * 7 * 24 * time.Hour}
			if i == 25 {
				honest(poisoned, week)
			}
			learn(poisoned, lie)
		}
		honest(clean, week)
		then := noon.Add(time.Duration(week) * 7 * 24 * time.Hour)
		a, b := knows(clean, "NL", 1136, then), knows(poisoned, "NL", 1136, then)
		if len(a) != 3 || len(b) != 3 {
			t.Fatalf("in week %d: %q and %q", week, said(a), said(b))
		}
		for i := range a {
			if off := a[i].MS - b[i].MS; off > 2 || off < -2 {
				t.Errorf("in week %d: %q and %q", week, said(a), said(b))
			}
		}
	}
}

// TestBounds checks which cells and trials are dropped when there are too many.
func TestBounds(t *testing.T) {
	m := New([32]byte{})
	m.maxCells, m.maxTrials = 64, 16
	for n := range 40 { // 3 cells of an origin, 2 origins
		for i := range 3 {
			from := netip.AddrFrom4([4]byte{203, 0, byte(i), 1})
			m.Learn(fmt.Sprint(n, i), from, Network{"NL", uint32(n + 1)}, []memory.Cell{at("198.18.7.0/24", "DE", 24940, 20)},
				noon.Add(time.Duration(n)*time.Hour))
		}
		if s := m.Summary(); s.Cells > 64 || s.Cells != count(m) {
			t.Fatalf("%d cells, counted as %d", count(m), s.Cells)
		}
	}
	if s := m.Summary(); s.Cells < 56 || !s.Newest.Equal(noon.Add(39*time.Hour)) || s.Oldest.Before(noon.Add(19*time.Hour)) {
		t.Errorf("there is %+v", s)
	}
	first := trialKey{origin{country: 1}, part{country: 1, kind: ofCountry}}
	for i := range 2 {
		m.hear(first, sample{voice{uint32(i), uint32(i)}, 100, 0}, hours(noon))
	}
	for i := range 100 { // of one network
		key := first
		key.part.asn = uint32(i)
		key.part.kind = ofAS
		m.hear(key, sample{voice{77, 77}, 100, 0}, hours(noon)+1)
	}
	if t1, is := m.trials[first]; !is || t1.n != 2 || len(m.trials) > 16 {
		t.Errorf("of %d trials the one of two networks has %d values", len(m.trials), t1.n)
	}
	m.Expire(noon.Add(40 * 24 * time.Hour))
	if len(m.trials) > 0 {
		t.Errorf("%d trials are left", len(m.trials))
	}
}

func count(m *Memory) (n int) {
	for _, r := range m.rows {
		n += len(r)
	}
	return n
}

// random returns a memory of random cells, of few origins and parts, so that two have some in common.
func random(seed uint64) *Memory {
	r, m := rand.New(rand.NewPCG(seed, 1)), New([32]byte{})
	for range 40 {
		o := origin{uint32(r.IntN(3)), 'N'<<8 | 'L'}
		p := part{country: 'D'<<8 | 'E', asn: uint32(1 + r.IntN(3)), kind: ofAS}
		if r.IntN(2) == 0 {
			p.kind, p.prefix = ofPrefix4, uint32(r.IntN(4)+1)<<16
		}
		m.put(o, cell{p, uint16(1 + r.IntN(9)), uint16(r.IntN(3)), hours(noon) - uint32(r.IntN(5)), uint8(1 + r.IntN(3))})
	}
	if r.IntN(3) == 0 {
		m.Forget(noon.Add(-3 * time.Hour))
	}
	return m
}

func parsed(t *testing.T, b []byte) Document {
	t.Helper()
	d, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestMerge checks that the order of documents makes no difference, and neither does one that comes
// twice.
func TestMerge(t *testing.T) {
	for seed := range uint64(50) {
		var documents [][]byte
		for i := range uint64(3) {
			documents = append(documents, random(3*seed+i).Append(nil))
		}
		var want []byte
		for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 1, 0, 2, 0}, {2, 0, 1, 2}} {
			m := New([32]byte{})
			for _, i := range order {
				m.Merge(parsed(t, documents[i]), noon)
			}
			got := m.Append(nil)
			if want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("seed %d, order %v: %v, want %v", seed, order, parsed(t, got), parsed(t, want))
			}
		}
		m := random(3 * seed)
		version := m.Version()
		m.Merge(parsed(t, documents[0]), noon)
		if m.Version() != version {
			t.Errorf("seed %d: the memory's own document changes it", seed)
		}
	}
}

// TestForget checks that what was forgotten on demand does not come back from another host.
func TestForget(t *testing.T) {
	three := []told{{"a", "203.0.113.1", 20, 0}, {"b", "203.0.114.1", 24, 0}, {"c", "203.0.115.1", 22, 0}}
	a, b := New([32]byte{1}), New([32]byte{2})
	learn(a, three...)
	learn(a, told{"d", "203.0.116.1", 90, 0}, told{"e", "203.0.117.1", 90, 0}) // a trial
	learn(b, three...)
	a.Merge(parsed(t, Forgetting(noon.Add(10*time.Minute))), noon)
	a.Merge(parsed(t, b.Append(nil)), noon)
	if s := a.Summary(); s.Cells != 0 || !s.Forgot.Equal(noon.Add(time.Hour)) {
		t.Errorf("there is %+v", s)
	}
	b.Merge(parsed(t, a.Append(nil)), noon)
	if s := b.Summary(); s.Cells != 0 {
		t.Errorf("the other host has %+v", s)
	}
	learn(a, told{"f", "203.0.118.1", 90, 0})
	if s := a.Summary(); s.Cells != 0 {
		t.Errorf("a trial from before goes on: %+v", s)
	}
	learn(a, three...)
	if s := parsed(t, a.Append(nil)).String(); s != "0 cells of 0 networks" {
		t.Errorf("in the hour of the deletion it keeps %s", s)
	}
	later := []told{{"g", "203.0.113.1", 20, 2 * time.Hour}, {"h", "203.0.114.1", 24, 2 * time.Hour}, {"i", "203.0.115.1", 22, 2 * time.Hour}}
	learn(a, later...)
	if s := a.Summary(); s.Cells != 6 || s.Networks != 2 {
		t.Errorf("later there is %+v", s)
	}
}

// TestDocument checks a document's bytes against a golden text, and that none of it leads to a
// player, a server's address or a room.
func TestDocument(t *testing.T) {
	m := New([32]byte{1})
	learn(m, told{"BAKODI", "203.0.113.1", 20, 0}, told{"GUMIPA", "203.0.114.1", 24, 0}, told{"ROLETU", "203.0.115.1", 22, 0})
	learn(m, told{"TOSAKE", "203.0.116.1", 300, 0}, told{"NEMIDO", "203.0.117.1", 300, 0}) // a trial
	b := m.Append(nil)
	cells := "014445" + "00" + "dc0110" + "03" + "9c871e" + "024445" + "ecc201" + "dc0110" + "03" + "9c871e" + "034445" + "ecc201" + "c612" + "dc0110" + "03" + "9c871e"
	want := hex.EncodeToString([]byte(header)) + "00" + "02" + "4e4c00" + "03" + cells + "4e4cf008" + "03" + cells
	if got := hex.EncodeToString(b[:len(b)-sumLength]); got != want {
		t.Errorf("%s,\nwant %s", got, want)
	}
	for _, addr := range []string{"203.0.113.1", "203.0.114.1", "203.0.115.1", "203.0.116.1", "203.0.117.1", "198.18.7.0"} {
		a := netip.MustParseAddr(addr).As4()
		if bytes.Contains(b, a[:]) || bytes.Contains(b, a[:3]) || bytes.Contains(b, []byte(addr)) {
			t.Errorf("%s is in the document", addr)
		}
	}
	for _, room := range []string{"BAKODI", "GUMIPA", "ROLETU", "TOSAKE", "NEMIDO"} {
		if bytes.Contains(b, []byte(room)) {
			t.Errorf("%s is in the document", room)
		}
	}
	for i := range b {
		torn := slices.Clone(b)
		torn[i] ^= 0x10
		if _, err := Parse(torn); err == nil {
			t.Errorf("a document with byte %d changed is read", i)
		}
		if _, err := Parse(b[:i]); err == nil {
			t.Errorf("%d bytes of a document are read", i)
		}
	}
	if _, err := Parse([]byte(strings.Replace(string(b), "/1\n", "/2\n", 1))); err != ErrNewer {
		t.Errorf("a newer document: %v", err)
	}
}

// FuzzParse checks that any bytes are either a document or an error, and that each memory has
// exactly one document.
func FuzzParse(f *testing.F) {
	f.Add(New([32]byte{}).Append(nil))
	f.Add(Forgetting(noon))
	for seed := range uint64(3) {
		f.Add(random(seed).Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= len(header)+sumLength { // most changes would only break the sum
			b = sealed(b[:len(b)-sumLength])
		}
		d, err := Parse(b)
		if err != nil {
			return
		}
		m := &Memory{rows: d.rows, gone: d.gone}
		if again := m.Append(nil); !bytes.Equal(again, b) {
			t.Errorf("%x is read, and written as %x", b, again)
		}
		other := New([32]byte{})
		other.Merge(d, noon)
		knows(other, "NL", 1, noon)
	})
}

// sealed appends a document's sum to its bytes.
func sealed(b []byte) []byte { return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)) }

// TestMemoryOfCells checks the memory of a tenth of all cells and trials: all take 64 MB at most.
func TestMemoryOfCells(t *testing.T) {
	bytes, m := full(MaxCells/10, maxTrials/10)
	if most := uint64(6_400_000); bytes > most || m.Summary().Cells != MaxCells/10 {
		t.Errorf("%d cells and the trials take %d bytes, more than %d", m.Summary().Cells, bytes, most)
	}
}

// full returns a memory of many cells and trials, and the bytes that it takes.
func full(cells, trials int) (bytes uint64, m *Memory) {
	before := inUse()
	m = New([32]byte{})
	r := rand.New(rand.NewPCG(1, 2))
	for origins := cells / 170; m.cells < cells; {
		at := r.IntN(origins)
		o := origin{uint32(at), uint16('A'+at%20)<<8 | 'A'}
		p := part{country: uint16('A'+r.IntN(20))<<8 | 'B', asn: 1 + uint32(r.IntN(2000)), kind: ofPrefix4, prefix: uint32(r.IntN(1<<14)) << 16}
		m.put(o, cell{p, uint16(1 + r.IntN(3000)), uint16(r.IntN(300)), hours(noon) - uint32(r.IntN(999)), 3})
	}
	for i := range uint32(trials) {
		m.trials[trialKey{origin{i, 1}, part{kind: ofCountry}}] = trial{n: maxSamples}
	}
	return inUse() - before, m
}

// BenchmarkKnown measures a full memory: its bytes, and the look-ups of a room of four players from
// as many networks, for a list of 30,000 servers in 4,096 /16s, all of which the memory knows.
func BenchmarkKnown(b *testing.B) {
	bytes, m := full(MaxCells-100_000, maxTrials)
	r := rand.New(rand.NewPCG(3, 4))
	var servers []discovery.Server
	for range 30_000 {
		n := r.IntN(1 << 12)
		addr := netip.AddrFrom4([4]byte{byte(1 + n>>8), byte(n), byte(r.IntN(256)), byte(1 + r.IntN(250))})
		servers = append(servers, discovery.Server{Addr: netip.AddrPortFrom(addr, 27960), Country: string([]byte{byte('A' + n%20), 'B'}), ASN: uint32(1 + n%800)})
	}
	tree := topology.New(servers)
	var networks []Network
	for player := range uint32(4) {
		networks = append(networks, Network{"NL", 1 + player})
		for p := range memory.Parts(tree, topology.Prefix16) {
			small, _ := packed(p)
			m.put(origin{1 + player, 'N'<<8 | 'L'}, cell{small, 200, 50, hours(noon), 3})
		}
	}
	cells := 0
	for b.Loop() {
		cells = 0
		known := m.Known(networks, tree, noon)
		for player := range uint32(4) {
			cells += len(known[player])
		}
	}
	b.ReportMetric(float64(cells), "cells")
	b.ReportMetric(float64(bytes)/(MaxCells-100_000), "B/cell")
	b.ReportMetric(float64(len(m.Append(nil)))/float64(m.cells), "document-B/cell")
}

func inUse() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}
