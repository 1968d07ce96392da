package venue

import (
	"encoding/json"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/userfile"
)

// mostAnHour is how often a provider's machine is asked in an hour at most: it is there for everybody.
const mostAnHour = 8

// visits say when machines of providers were asked from this computer within the hour, and what they answered.
// A person's next search begins with them.
type visits map[string]visit

type visit struct {
	At    []time.Time      `json:"at"`
	State discovery.State  `json:"state"`
	RTT   discovery.Millis `json:"rtt_ms,omitzero"`
}

// readVisits reads what is left of the last searches. A file that is missing or damaged has nothing.
func readVisits(file string, now time.Time) visits {
	all := visits{}
	if data, err := userfile.Read(file); err == nil && json.Unmarshal(data, &all) != nil {
		all = visits{}
	}
	for at, v := range all {
		v.At = slices.DeleteFunc(v.At, func(at time.Time) bool { return at.After(now) || now.Sub(at) >= time.Hour })
		if all[at] = v; len(v.At) == 0 {
			delete(all, at)
		}
	}
	return all
}

func (vs visits) write(file string) error {
	data, err := json.Marshal(vs)
	if err != nil {
		return err
	}
	return userfile.Replace(file, data)
}

// rested returns the last result of a place that must be left alone for now.
func (vs visits) rested(place wire.Venue) (Result, bool) {
	v, was := vs[place.Addr.String()]
	isSo := was && len(place.Offers) > 0 && len(v.At)+samples > mostAnHour
	return Result{place, v.State, time.Duration(v.RTT)}, isSo
}

// note notes that a place was asked, and its result.
func (vs visits) note(r Result, now time.Time) {
	if at := r.Place.Addr.String(); len(r.Place.Offers) > 0 {
		vs[at] = visit{append(vs[at].At, slices.Repeat([]time.Time{now}, samples)...), r.State, discovery.Millis(r.RTT)}
	}
}
