package wire

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// Decision is a switch that Muster sets by itself as long as no one else has. In JSON it is true,
// false or null.
type Decision string

// These are the decisions.
const (
	Undecided Decision = ""
	Yes       Decision = "true"
	No        Decision = "false"
)

// MarshalJSON writes true, false or null.
func (d Decision) MarshalJSON() ([]byte, error) { return []byte(cmp.Or(string(d), "null")), nil }

// UnmarshalJSON reads true, false or null.
func (d *Decision) UnmarshalJSON(data []byte) error {
	var is *bool
	if err := json.Unmarshal(data, &is); err != nil {
		return err
	}
	*d = Undecided
	if is != nil {
		*d = Decision(strconv.FormatBool(*is))
	}
	return nil
}

// Limits are RTTs, strictest first; in JSON they are a list of milliseconds.
type Limits []time.Duration

// MaxLimits is how many limits a room may try one after the other.
const MaxLimits = 8

// MarshalJSON writes a list of milliseconds, even an empty one.
func (l Limits) MarshalJSON() ([]byte, error) {
	ms := make([]float64, len(l))
	for i, limit := range l {
		ms[i] = float64(limit) / float64(time.Millisecond)
	}
	return json.Marshal(ms)
}

// UnmarshalJSON reads a list of milliseconds in any order.
func (l *Limits) UnmarshalJSON(data []byte) error {
	var ms []float64
	if err := json.Unmarshal(data, &ms); err != nil {
		return err
	}
	if len(ms) > MaxLimits {
		return impossible("refused.limits", "n", len(ms))
	}
	*l = nil
	for _, limit := range ms {
		if !(limit > 0) || limit > float64(MaxRTT.Milliseconds()) {
			return impossible("refused.limit", "ms", limit)
		}
		*l = append(*l, time.Duration(limit*float64(time.Millisecond)))
	}
	slices.Sort(*l)
	return nil
}
