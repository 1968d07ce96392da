package ranges_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/geo/ranges"
)

func key(t testing.TB, addr string) uint64 {
	t.Helper()
	k, ok := ranges.Key(netip.MustParseAddr(addr))
	if !ok {
		t.Fatalf("%s has no key", addr)
	}
	return k
}

// steps returns two IPv4 ranges and two IPv6 ones, with gaps between them.
func steps(t testing.TB) []ranges.Step {
	return []ranges.Step{
		{Start: key(t, "1.0.0.0"), Number: 13335},
		{Start: key(t, "1.0.1.0"), Number: 0},
		{Start: key(t, "81.2.69.128"), Number: 20712},
		{Start: key(t, "81.2.69.192"), Number: 0},
		{Start: key(t, "2001:67c:2e8::"), Number: 3333},
		{Start: key(t, "2001:67c:2e9::"), Number: 4294967295},
		{Start: key(t, "2001:67c:2e9:1::"), Number: 0},
	}
}

func encoded(t testing.TB, steps []ranges.Step) []byte {
	t.Helper()
	var b bytes.Buffer
	header := ranges.Header{Name: "asn", Source: "somebody", Built: time.Unix(1666000000, 0).UTC()}
	if err := ranges.Encode(&b, header, steps); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func number(n uint32) uint32 { return n }

func TestATableTellsWhatWasEncoded(t *testing.T) {
	table, err := ranges.Decode(bytes.NewReader(encoded(t, steps(t))), number)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		addr string
		want uint32
	}{
		{"0.0.0.0", 0},
		{"0.255.255.255", 0},
		{"1.0.0.0", 13335},
		{"1.0.0.255", 13335},
		{"1.0.1.0", 0},
		{"81.2.69.127", 0},
		{"81.2.69.128", 20712},
		{"81.2.69.191", 20712},
		{"81.2.69.192", 0},
		{"255.255.255.255", 0},
		{"2001:67c:2e7:ffff:ffff:ffff:ffff:ffff", 0},
		{"2001:67c:2e8::", 3333},
		{"2001:67c:2e8:22::c100:68b", 3333},
		{"2001:67c:2e9::ffff:ffff:ffff:ffff", 4294967295},
		{"2001:67c:2e9:1::", 0},
		{"ffff:ffff:ffff:ffff::", 0},
		// Reserved: this address must never pass for 1.0.0.0.
		{"::100:0:0:0:0", 0},
		{"::ffff:1.0.0.0", 0},
	} {
		if got := table.Lookup(netip.MustParseAddr(c.addr)); got != c.want {
			t.Errorf("%s: %d, want %d", c.addr, got, c.want)
		}
	}
	if got := table.Lookup(netip.Addr{}); got != 0 {
		t.Errorf("no address: %d", got)
	}
}

func TestManyValuesTakeWiderIndices(t *testing.T) {
	for _, n := range []uint32{1, 2, 255, 256, 257, 65536, 65537} {
		var all []ranges.Step
		for i := range n {
			all = append(all, ranges.Step{Start: uint64(i+1) << 8, Number: i * 7})
		}
		table, err := ranges.Decode(bytes.NewReader(encoded(t, all)), number)
		if err != nil {
			t.Fatalf("%d values: %v", n, err)
		}
		last := netip.AddrFrom4([4]byte{byte(n >> 16), byte(n >> 8), byte(n), 9})
		if got := table.Lookup(last); got != (n-1)*7 {
			t.Errorf("%d values: the last is %d", n, got)
		}
	}
}

func TestHeaderIsReadAlone(t *testing.T) {
	file := encoded(t, steps(t))
	h, err := ranges.ReadHeader(bytes.NewReader(file[:40]))
	want := ranges.Header{Name: "asn", Source: "somebody", Built: time.Unix(1666000000, 0).UTC()}
	if err != nil || h != want {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestSameStepsSameBytes(t *testing.T) {
	if !bytes.Equal(encoded(t, steps(t)), encoded(t, steps(t))) {
		t.Error("two encodings differ")
	}
}

func TestEncodeWantsRisingStarts(t *testing.T) {
	for _, bad := range [][]ranges.Step{{{Start: 0}}, {{Start: 5}, {Start: 5}}, {{Start: 5}, {Start: 4}}} {
		if err := ranges.Encode(new(bytes.Buffer), ranges.Header{}, bad); err == nil {
			t.Errorf("%v was encoded", bad)
		}
	}
}

func TestATableThatIsCutOffIsMalformed(t *testing.T) {
	file := encoded(t, steps(t))
	for n := range len(file) {
		if _, err := ranges.Decode(bytes.NewReader(file[:n]), number); !errors.Is(err, discovery.ErrMalformed) {
			t.Fatalf("%d of %d bytes: %v", n, len(file), err)
		}
	}
}

func TestNames(t *testing.T) {
	header := ranges.Header{Name: "names", Source: "somebody", Built: time.Unix(1666000000, 0).UTC()}
	names := map[uint32]string{13335: "Cloudflare, Inc.", 7: "a\tb", 4294967295: ""}
	var b bytes.Buffer
	if err := ranges.EncodeNames(&b, header, names); err != nil {
		t.Fatal(err)
	}
	got, err := ranges.DecodeNames(bytes.NewReader(b.Bytes()))
	if err != nil || got[13335] != "Cloudflare, Inc." || len(got) != 3 {
		t.Errorf("%v, %v", got, err)
	}
	if h, err := ranges.ReadHeader(bytes.NewReader(b.Bytes())); h != header || err != nil {
		t.Errorf("%+v, %v", h, err)
	}
	for n := range b.Len() {
		if _, err := ranges.DecodeNames(bytes.NewReader(b.Bytes()[:n])); !errors.Is(err, discovery.ErrMalformed) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	for _, text := range []string{"x\ty\n", "7\n", "4294967296\tx\n", strings.Repeat("7\tx\n", 3<<20), "7\t" + strings.Repeat("x", 1<<20)} {
		b.Reset()
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
		if _, err := ranges.DecodeNames(&b); !errors.Is(err, discovery.ErrMalformed) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func FuzzDecodeNames(f *testing.F) {
	for _, text := range []string{"7\tx\n", "\t\n", "13335\tCloudflare, Inc.\n\x1b[2J"} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		names, err := ranges.DecodeNames(bytes.NewReader(file))
		if err != nil && !errors.Is(err, discovery.ErrMalformed) {
			t.Fatalf("untyped error %v", err)
		}
		for _, name := range names {
			if discovery.CleanText(name) != name {
				t.Fatalf("%q is not clean", name)
			}
		}
	})
}

func TestANilTableKnowsNothing(t *testing.T) {
	var table *ranges.Table[string]
	if got := table.Lookup(netip.MustParseAddr("8.8.8.8")); got != "" {
		t.Errorf("%q", got)
	}
}

func TestCountryNumbers(t *testing.T) {
	for _, code := range []string{"", "AD", "DE", "ZW"} {
		if got := ranges.CountryCode(ranges.CountryNumber(code)); got != code {
			t.Errorf("%q became %q", code, got)
		}
	}
}
