package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"muster/discovery"
)

// Venue is a candidate place: somewhere a server could be, and none is yet. It is measured
// as servers are, by its protocol, and never played on.
type Venue struct {
	Name string         `json:"name"`
	Addr netip.AddrPort `json:"addr"`
	// Protocol is how it is asked: beacon, tcp, or one of a game's servers.
	Protocol string `json:"protocol"`
}

// Venues are the candidate places of a room. In JSON they are a list, or read from a text
// as people write it; see [ParseVenues].
type Venues []Venue

const (
	// MaxVenues is how many candidate places a room has: a provider's regions, and the
	// group's own machines.
	MaxVenues = 32
	// maxVenueName is the longest name of one, in bytes: that of a beacon.
	maxVenueName = 48
	// defaultVenueProtocol and defaultVenuePort are of a line that names none: those of
	// muster beacon.
	defaultVenueProtocol, defaultVenuePort = "beacon", 7787
	// mostOfVenue is how often one is asked in a survey at most: no more than a moment's work.
	mostOfVenue = 20
	// noVenues is what people write who want none any more.
	noVenues = "none"
)

// ParseVenues reads candidate places as people write them, one a line. What is left out is
// a beacon's protocol and port; remarks are behind #.
//
//	Frankfurt, 192.0.2.1
//	our box in London, 198.51.100.2:443, tcp
//
// LookUp finds the address of a name; nil knows none, and a name is an error then.
func ParseVenues(text string, lookUp func(host string) (netip.Addr, error)) (Venues, error) {
	venues := Venues{}
	if strings.EqualFold(strings.TrimSpace(text), noVenues) {
		return venues, nil
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if len(venues) == MaxVenues {
			return nil, fmt.Errorf("more than %d places", MaxVenues)
		}
		v, err := parseVenue(line, lookUp)
		if err != nil {
			return nil, fmt.Errorf("place in line %d: %w", n, err)
		}
		venues = append(venues, v)
	}
	return venues, venues.check()
}

func parseVenue(line string, lookUp func(string) (netip.Addr, error)) (v Venue, err error) {
	parts := strings.Split(line, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	if len(parts) < 2 || len(parts) > 3 {
		return v, fmt.Errorf("%q is not NAME, ADDRESS[, PROTOCOL]", discovery.CleanText(line))
	}
	v.Name, v.Protocol = discovery.CleanText(parts[0]), defaultVenueProtocol
	if len(parts) == 3 {
		v.Protocol = strings.ToLower(parts[2])
	}
	host, port := parts[1], uint16(0)
	if v.Protocol == defaultVenueProtocol {
		port = defaultVenuePort
	}
	if v.Addr, err = netip.ParseAddrPort(host); err == nil {
		return v, nil
	}
	if name, digits, isThere := strings.Cut(host, ":"); isThere && !strings.Contains(digits, ":") {
		var number uint16
		if _, err := fmt.Sscanf(digits+"\n", "%d\n", &number); err != nil || number == 0 {
			return v, fmt.Errorf("%q has no port", discovery.CleanText(host))
		}
		host, port = name, number
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	switch {
	case port == 0:
		return v, fmt.Errorf("%q needs a port to be asked by %s", discovery.CleanText(host), discovery.CleanText(v.Protocol))
	case err == nil:
	case lookUp == nil:
		return v, fmt.Errorf("%q is no address such as 192.0.2.1:7787", discovery.CleanText(host))
	default:
		if addr, err = lookUp(host); err != nil {
			return v, err
		}
	}
	v.Addr = netip.AddrPortFrom(addr, port)
	return v, nil
}

// check refuses what nobody can ask, and what no list that people see should have in it.
func (vs Venues) check() error {
	if len(vs) > MaxVenues {
		return fmt.Errorf("%d places, of at most %d", len(vs), MaxVenues)
	}
	for i, v := range vs {
		switch reach := discovery.ReachOf(v.Addr.Addr()); {
		case v.Name == "" || len(v.Name) > maxVenueName || v.Name != discovery.CleanText(v.Name):
			return fmt.Errorf("a place has a name of 1 to %d bytes", maxVenueName)
		case reach == discovery.NoReach || v.Addr.Port() == 0 || v.Addr.Addr().Zone() != "" || v.Addr.Addr().Is4In6():
			return fmt.Errorf("%v is no address of a single machine", v.Addr)
		case !isWord(v.Protocol):
			return errors.New("a place's protocol is lower-case letters, digits, - and _")
		case slices.ContainsFunc(vs[:i], func(other Venue) bool { return other.Name == v.Name }):
			return fmt.Errorf("two places are called %s", v.Name)
		}
	}
	return nil
}

// Private reports whether one of them has an address that is somebody else's on every
// network: a host for everybody has nobody asked there.
func (vs Venues) Private() bool {
	return slices.ContainsFunc(vs, func(v Venue) bool { return discovery.ReachOf(v.Addr.Addr()) != discovery.InternetReach })
}

// UnmarshalJSON reads a list, or a text as people write it.
func (vs *Venues) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		venues, err := ParseVenues(text, nil)
		*vs = venues
		return err
	}
	var list []Venue
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	for i := range list {
		list[i].Addr = discovery.Canonical(list[i].Addr)
	}
	*vs = list
	return vs.check()
}

// Survey asks a peer to measure candidate places. What it finds does not depend on what the
// room does meanwhile.
type Survey struct {
	// Attempt tells it from the room's other surveys.
	Attempt int    `json:"attempt"`
	Places  Venues `json:"places"`
	Samples int    `json:"samples"`
	// After is how long this player waits first: those behind one address take turns.
	After discovery.Millis `json:"after_ms,omitempty"`
}

func (s Survey) check() error {
	switch err := s.Places.check(); {
	case err != nil:
		return err
	case s.Samples < 1 || s.Samples > mostOfVenue:
		return fmt.Errorf("%d samples", s.Samples)
	case s.After < 0 || s.After > maxTurn:
		return errors.New("a turn that never comes")
	}
	return nil
}

// Surveyed is what a peer found of them, by their place in the list.
type Surveyed struct {
	Attempt int        `json:"attempt"`
	Places  []Finalist `json:"places"`
}

func (s Surveyed) check() error {
	if len(s.Places) > MaxVenues {
		return fmt.Errorf("%d places", len(s.Places))
	}
	for i := range s.Places {
		if err := s.Places[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func (Survey) kind() string   { return "survey" }
func (Surveyed) kind() string { return "surveyed" }

// Sites is what a server at candidate places would be like for the group.
type Sites struct {
	// Answer says in a sentence where a server would suit, or be better; empty before it is
	// known. Better: a place would be much better than any server that there is.
	Answer string `json:"answer,omitempty"`
	Better bool   `json:"better,omitempty"`
	// Waiting are the players who still measure.
	Waiting []string `json:"waiting"`
	// Now is the best server that there is, whatever the room's limits, nil if none answers
	// all.
	Now *Figures `json:"now,omitempty"`
	// Sites are by the room's rule, the best first; those that not everybody reaches last.
	Sites []Site `json:"sites"`
}

// Site is what one place would be like.
type Site struct {
	Name string `json:"name"`
	// Suits: everybody reaches it, within the room's limits.
	Suits bool `json:"suits"`
	Figures
	// Silent are the players whom it did not answer.
	Silent []string           `json:"silent,omitempty"`
	RTT    map[string]float64 `json:"rtt_ms"`
}

// Figures are of the pings of all, in ms: the average, and who is worst off. They are 0
// where not all have one.
type Figures struct {
	MeanMS float64 `json:"mean_ms"`
	MaxMS  float64 `json:"max_ms"`
}

// String is such as 48/62.
func (f Figures) String() string { return fmt.Sprintf("%.0f/%.0f", f.MeanMS, f.MaxMS) }
