package ranges

import (
	"bytes"
	"compress/gzip"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"muster/discovery"
)

func number(n uint32) uint32 { return n }

// twoRanges is a body written by hand: 7 from 1.0.0.0 on, 9 from 1.0.1.0 on.
var twoRanges = []byte{
	1,       // version
	2, 7, 2, // two values: 7, 9
	2,     // two ranges
	24, 8, // shifts
	0, 0, // mantissas
	0, 1, // indices
}

func TestABodyByHand(t *testing.T) {
	table, err := parse(twoRanges, number)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(table.starts, []uint64{1 << 24, 1<<24 + 1<<8}) ||
		!slices.Equal(table.index, []uint32{0, 1}) || !slices.Equal(table.values, []uint32{7, 9}) {
		t.Errorf("%+v", table)
	}
	again, err := appendBody(nil, []Step{{1 << 24, 7}, {1<<24 + 1<<8, 9}})
	if err != nil || !bytes.Equal(again, twoRanges) {
		t.Errorf("% x, %v", again, err)
	}
}

func TestHostileBodies(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}
	for name, c := range map[string]struct {
		body []byte
		want string
	}{
		"empty":                 {nil, "version 0"},
		"of another version":    {[]byte{2, 0, 0}, "version 2"},
		"too many values":       {[]byte{1, 200, 1, 1, 1}, "more elements"},
		"hugely many values":    {append([]byte{1}, huge...), "more elements"},
		"a value twice":         {[]byte{1, 2, 7, 0, 0}, "out of order"},
		"a value over 32 bits":  {append([]byte{1, 1}, huge...), "out of order"},
		"values over 32 bits":   {[]byte{1, 2, 255, 255, 255, 255, 15, 1, 0}, "out of order"},
		"too many ranges":       {[]byte{1, 1, 7, 9, 0, 0}, "more elements"},
		"no mantissas":          {[]byte{1, 1, 7, 1, 0}, "more ranges"},
		"an endless mantissa":   {[]byte{1, 1, 7, 1, 0, 0x80, 0x80}, "cut off in a number"},
		"a shift of 64":         {[]byte{1, 1, 7, 1, 64, 0, 0}, "beyond the last address"},
		"a shift of 255":        {[]byte{1, 1, 7, 1, 255, 0, 0}, "beyond the last address"},
		"a start that wraps":    {[]byte{1, 1, 7, 2, 63, 63, 0, 0, 0, 0}, "beyond the last address"},
		"no indices":            {[]byte{1, 1, 7, 1, 0, 0}, "cut off in the indices"},
		"an index beyond":       {[]byte{1, 1, 7, 1, 0, 0, 1}, "index beyond"},
		"ranges without values": {[]byte{1, 0, 1, 0, 0, 0}, "index beyond"},
		"more than a table":     {append(slices.Clone(twoRanges), 0), "trailing"},
	} {
		table, err := parse(c.body, number)
		if table != nil || !errors.Is(err, discovery.ErrMalformed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("a body that has %s: %v, want %q", name, err, c.want)
		}
	}
}

// A megabyte that unpacks to a gigabyte must cost no more than the limit.
func TestABombIsRefused(t *testing.T) {
	var member bytes.Buffer
	z := gzip.NewWriter(&member)
	z.Write(make([]byte, 1<<20))
	z.Close()
	bomb := bytes.NewReader(bytes.Repeat(member.Bytes(), 1024))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Decode(bomb, number)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, discovery.ErrMalformed) || !strings.Contains(err.Error(), "more than") {
		t.Errorf("%v", err)
	}
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 8*maxBody {
		t.Errorf("allocated %d MB", spent>>20)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(twoRanges)
	f.Add([]byte{1, 0, 0})
	f.Add([]byte{1, 2, 255, 255, 255, 255, 15, 1, 0})
	f.Add([]byte{1, 1, 7, 2, 63, 63, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, body []byte) {
		table, err := parse(body, number)
		if err != nil {
			if !errors.Is(err, discovery.ErrMalformed) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		checkSound(t, table, body)
	})
}

// checkSound checks that an accepted table keeps what lookups rely on, and that
// encoding it again gives the same table.
func checkSound(t *testing.T, table *Table[uint32], body []byte) {
	if 3*len(table.starts) > len(body) {
		t.Fatalf("%d ranges out of %d bytes", len(table.starts), len(body))
	}
	var steps []Step
	for i, start := range table.starts {
		steps = append(steps, Step{start, table.values[table.index[i]]})
	}
	again, err := appendBody(nil, steps)
	if err != nil {
		t.Fatal(err)
	}
	back, err := parse(again, number)
	if err != nil || !slices.Equal(back.starts, table.starts) {
		t.Fatalf("%v, starts %v, before %v", err, back.starts, table.starts)
	}
	for i, s := range steps {
		if back.values[back.index[i]] != s.Number {
			t.Fatalf("range %d changed its number", i)
		}
	}
}

// FuzzDecode goes through the compressed form, where the checksum stops most inputs.
func FuzzDecode(f *testing.F) {
	var file bytes.Buffer
	if err := Encode(&file, Header{Name: "asn"}, []Step{{1 << 24, 7}, {1 << 40, 0}}); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Fuzz(func(t *testing.T, file []byte) {
		if _, err := Decode(bytes.NewReader(file), number); err != nil && !errors.Is(err, discovery.ErrMalformed) {
			t.Fatalf("untyped error %v", err)
		}
	})
}
