package memory

import (
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"time"

	"muster/discovery"
)

// Format is the format of the memories that this package reads and writes.
const Format = "muster.rtts/1"

// maxFile is the largest file, in bytes, that is read.
const maxFile = 256 * Max

// document is a memory as a document:
//
//	{"format":"muster.rtts/1","parts":[
//	 {"country":"DE","asn":3320,"prefix":"192.0.2.0/24","rtt_ms":12.3,"spread_ms":0.4,"count":2,"seen":"2026-11-26T20:00:00Z"},…]}
type document struct {
	Format string `json:"format"`
	Parts  []row  `json:"parts"`
}

type row struct {
	Country string           `json:"country"`
	ASN     uint32           `json:"asn,omitempty"`
	Prefix  netip.Prefix     `json:"prefix,omitzero"`
	RTT     discovery.Millis `json:"rtt_ms"`
	Spread  discovery.Millis `json:"spread_ms"`
	Count   int              `json:"count"`
	Seen    time.Time        `json:"seen"`
}

// Write writes a memory as one line of JSON.
func Write(w io.Writer, cells []Cell) error {
	d := document{Format: Format, Parts: make([]row, len(cells))}
	for i, c := range cells {
		d.Parts[i] = row{c.Country, c.ASN, c.Prefix, millis(c.MS), millis(c.Spread), c.Count, c.Seen}
	}
	return json.NewEncoder(w).Encode(d)
}

func millis(ms float64) discovery.Millis { return discovery.Millis(ms * float64(time.Millisecond)) }

// Read reads a memory. The error for content that [Write] cannot have written wraps
// [discovery.ErrMalformed].
func Read(r io.Reader) ([]Cell, error) {
	malformed := func(format string, args ...any) ([]Cell, error) {
		return nil, fmt.Errorf("memory: %w: "+format, append([]any{discovery.ErrMalformed}, args...)...)
	}
	var d document
	if err := json.NewDecoder(io.LimitReader(r, maxFile)).Decode(&d); err != nil {
		return malformed("%w", err)
	}
	if d.Format != Format {
		return malformed("the format is %q", discovery.CleanText(d.Format))
	}
	if len(d.Parts) > Max {
		return malformed("over %d parts", Max)
	}
	cells := make([]Cell, len(d.Parts))
	for i, p := range d.Parts {
		c := Cell{
			Part{p.Country, p.ASN, p.Prefix},
			time.Duration(p.RTT).Seconds() * 1000, time.Duration(p.Spread).Seconds() * 1000, p.Count, p.Seen,
		}
		if !c.IsSound() {
			return malformed("part %d", i+1)
		}
		cells[i] = c
	}
	return cells, nil
}
