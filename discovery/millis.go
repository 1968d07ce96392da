package discovery

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// maxMillis bounds the times in documents: no round trip takes an hour.
const maxMillis = 3_600_000

// MS returns a time in milliseconds, the unit of scores, sentences and documents.
func MS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Millis is a duration that JSON has in milliseconds with three decimals.
type Millis time.Duration

func (m Millis) String() string {
	return strconv.FormatFloat(float64(time.Duration(m).Microseconds())/1000, 'f', 3, 64)
}

// MarshalJSON writes milliseconds with three decimals.
func (m Millis) MarshalJSON() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalJSON reads milliseconds, to the microsecond.
func (m *Millis) UnmarshalJSON(text []byte) error {
	ms, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(ms >= 0 && ms <= maxMillis) {
		return fmt.Errorf("%q is no time in milliseconds", bytes.Trim(text, `"`))
	}
	*m = Millis(time.Duration(ms*1000+0.5) * time.Microsecond)
	return nil
}
