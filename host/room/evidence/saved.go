package evidence

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/line"
)

// Saved is the saved form of [PlayerResults].
type Saved struct {
	// Report holds the probes, as a frame of [wire.Report], and Looks the second looks.
	Report []byte      `json:"report,omitempty"`
	Looks  []savedLook `json:"looks,omitempty"`
	// Asked are the servers that the player was asked for, a bit each, unless All is set. Before is
	// their number when the order for more began. Own is how many others the player may bring up.
	Asked  []byte `json:"asked,omitempty"`
	All    bool   `json:"asked_all,omitempty"`
	Before int    `json:"before,omitempty"`
	Own    int    `json:"own,omitempty"`
	// Shown are the servers that the player's program was told to ask. Promised is the number that
	// the player was told, 0 for the whole list.
	Shown    []byte `json:"shown,omitempty"`
	Promised int    `json:"promised,omitempty"`
	// Delays are the delays of the player's own line.
	Delays line.Delays `json:"delays,omitempty"`
}

type savedLook struct {
	Server  int               `json:"server"`
	State   discovery.State   `json:"state"`
	RTT     discovery.Millis  `json:"rtt_ms,omitzero"`
	Quality selection.Quality `json:"quality,omitzero"`
	RTTs    []float64         `json:"rtts,omitempty"`
}

// Save returns the results for [Restore].
func (w *PlayerResults) Save() (Saved, error) {
	s := Saved{
		Asked: w.asked.servers, All: w.asked.all, Before: w.asked.before,
		Own: w.shown.own, Shown: w.shown.servers, Promised: w.shown.promised,
		Delays: w.delays,
	}
	if w.packed == nil {
		frame, err := wire.Marshal(wire.Report{Results: w.probes})
		if err != nil {
			return Saved{}, err
		}
		w.packed = frame.Data
	}
	s.Report = w.packed
	for _, server := range slices.Sorted(maps.Keys(w.looks)) {
		l := w.looks[server]
		s.Looks = append(s.Looks, savedLook{server, l.State, discovery.Millis(l.RTT), l.Quality, l.RTTs})
	}
	return s, nil
}

// Restore returns saved results for a list of servers. Listed is the length of the list. Any bytes
// are safe.
func Restore(s Saved, listed int) (w PlayerResults, err error) {
	w.asked = asked{all: s.All, servers: s.Asked, before: s.Before}
	w.shown = exposure{promised: s.Promised, servers: s.Shown, own: s.Own}
	w.delays = s.Delays
	report, err := wire.Unpack[wire.Report](s.Report)
	if err != nil {
		return PlayerResults{}, err
	}
	for _, result := range report.Results {
		if !isListed(result.Server, listed) {
			return PlayerResults{}, fmt.Errorf("a result of server %d of %d", result.Server, listed)
		}
		w.add(result)
	}
	for _, l := range s.Looks {
		if !isListed(l.Server, listed) {
			return PlayerResults{}, fmt.Errorf("a look at server %d of %d", l.Server, listed)
		}
		w.Look(Look{discovery.Result{Server: l.Server, State: l.State, RTT: time.Duration(l.RTT)}, l.Quality, l.RTTs})
	}
	return w, nil
}

func isListed(server, listed int) bool { return server >= 0 && server < listed }
