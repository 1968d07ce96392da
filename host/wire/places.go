package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/lists/address"
)

// Venue is a candidate place: a location for a server that does not exist yet. Players measure it
// like a server, by its protocol, but never play on it.
type Venue struct {
	// Name is what people read. It is unique in a list.
	Name string `json:"name"`
	// Addr is the machine that is asked. A host name stays a name: each player's program looks it up.
	Addr hostport.AddrPort `json:"addr"`
	// Protocol is how programs ask it: beacon, tcp, or the protocol of a game's servers.
	Protocol string `json:"protocol"`
	// URL is what a browser asks by HTTPS. Without one a browser asks a beacon at Addr by ICE, and
	// anything else not at all.
	URL string `json:"url,omitempty"`
	// Country is where the place is, in two letters (ISO 3166-1). Lat and Lon are its position in
	// degrees; both 0 mean unknown.
	Country string  `json:"country,omitempty"`
	Lat     float64 `json:"lat,omitempty"`
	Lon     float64 `json:"lon,omitempty"`
	// Offers are providers of servers there. The machine that is asked is the first one's.
	Offers []Offer `json:"offers,omitempty"`
}

// Offer is a provider who has servers at a place, and the provider's own name for it.
type Offer struct {
	Provider string `json:"provider"`
	Region   string `json:"region,omitempty"`
}

// Equal reports whether two places are the same in everything.
func (v Venue) Equal(other Venue) bool {
	return v.Name == other.Name && v.Addr == other.Addr && v.Protocol == other.Protocol && v.URL == other.URL &&
		v.Country == other.Country && v.Lat == other.Lat && v.Lon == other.Lon && slices.Equal(v.Offers, other.Offers)
}

// Venues are the candidate places of a room. JSON has them as a list, or as a text that
// [ParseVenues] reads.
type Venues []Venue

// Equal reports whether two lists have the same places in the same order.
func (vs Venues) Equal(others Venues) bool { return slices.EqualFunc(vs, others, Venue.Equal) }

const (
	// MaxVenues is how many candidate places a room may have: the built-in ones, and the group's own
	// machines.
	MaxVenues = 96
	// maxOffers is how many providers a place may have, and maxOffer the length of a provider's or a
	// region's name in bytes.
	maxOffers, maxOffer = 12, 48
	// maxVenueURL is the longest address for browsers, in bytes.
	maxVenueURL = 200
	// maxVenueName is the longest name of a place, in bytes. It is the limit of a beacon's name.
	maxVenueName = 48
	// defaultVenueProtocol and defaultVenuePort apply to a line that names neither: those of muster
	// beacon.
	defaultVenueProtocol, defaultVenuePort = "beacon", 7787
	// maxOfVenue is the largest number of queries to one place in a survey. They take only a
	// moment.
	maxOfVenue = 20
	// noVenues is the text that removes all places.
	noVenues = "none"
)

// ParseVenues reads candidate places as people write them, one a line. Protocol and port default to
// a beacon's, and remarks follow a #.
//
//	Frankfurt, 192.0.2.1
//	our box in London, 198.51.100.2:443, tcp
//
// lookUp finds the address of a name. If it is nil, a name is an error.
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
			return nil, impossible("refused.places-more", "n", MaxVenues)
		}
		v, err := parseVenue(line, lookUp)
		if err != nil {
			var refusal *Refusal
			if !errors.As(err, &refusal) {
				return nil, fmt.Errorf("place in line %d: %w", n, err)
			}
			return nil, impossible("refused.place-line", "n", n, "why", refusal.Says)
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
		return v, impossible("refused.place-form", "line", quoted(line))
	}
	v.Name, v.Protocol = discovery.CleanText(parts[0]), defaultVenueProtocol
	if len(parts) == 3 {
		v.Protocol = strings.ToLower(parts[2])
	}
	host, port := parts[1], uint16(0)
	if v.Protocol == defaultVenueProtocol {
		port = defaultVenuePort
	}
	at, err := address.One(host)
	if err != nil {
		return v, impossible("refused.place-address", "address", quoted(host))
	}
	port = cmp.Or(at.Port, port)
	addr, err := netip.ParseAddr(at.Host)
	switch {
	case port == 0:
		return v, impossible("refused.place-port", "address", quoted(host), "protocol", v.Protocol)
	case err == nil:
	case lookUp == nil:
		return v, impossible("refused.place-address", "address", quoted(host))
	default:
		if addr, err = lookUp(at.Host); err != nil {
			return v, err
		}
	}
	v.Addr = hostport.At(netip.AddrPortFrom(addr, port))
	return v, nil
}

// quoted returns a text between quotation marks, cleaned.
func quoted(text string) string { return strconv.Quote(discovery.CleanText(text)) }

// check refuses places that cannot be queried, and names that pages should not show.
func (vs Venues) check() error {
	if len(vs) > MaxVenues {
		return impossible("refused.places-too-many", "n", len(vs), "most", MaxVenues)
	}
	for i, v := range vs {
		switch reach := discovery.ReachOf(v.Addr.Addr()); {
		case v.Name == "" || len(v.Name) > maxVenueName || v.Name != discovery.CleanText(v.Name):
			return impossible("refused.place-name", "n", maxVenueName)
		case reach == discovery.NoReach || v.Addr.Port() == 0 || hostport.HasZone(v.Addr.Addr()) || v.Addr.Addr().Is4In6():
			return impossible("refused.place-machine", "address", v.Addr)
		case !isWord(v.Protocol):
			return impossible("refused.place-protocol")
		case !v.isDescribed():
			return impossible("refused.place-described", "name", v.Name)
		case slices.ContainsFunc(vs[:i], func(other Venue) bool { return other.Name == v.Name }):
			return impossible("refused.places-named", "name", v.Name)
		}
	}
	return nil
}

// isDescribed reports whether all that is said of a place besides its name and machine can be so.
func (v Venue) isDescribed() bool {
	isCountry := v.Country == "" || len(v.Country) == 2 && strings.Trim(v.Country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	isPosition := math.Abs(v.Lat) <= 90 && math.Abs(v.Lon) <= 180 // false for NaN
	isOffered := len(v.Offers) <= maxOffers && !slices.ContainsFunc(v.Offers, func(o Offer) bool {
		return o.Provider == "" || len(o.Provider) > maxOffer || len(o.Region) > maxOffer ||
			o.Provider != discovery.CleanText(o.Provider) || o.Region != discovery.CleanText(o.Region)
	})
	return isCountry && isPosition && isOffered && (v.URL == "" || v.site() != "")
}

// site returns the host that browsers ask, empty if there is none or the address is none that a page
// should ask: https, a host and a path in ASCII, no user, no fragment.
func (v Venue) site() string {
	u, err := url.Parse(v.URL)
	isPlain := len(v.URL) <= maxVenueURL && !strings.ContainsFunc(v.URL, func(r rune) bool { return r <= ' ' || r > '~' })
	if err != nil || !isPlain || u.Scheme != "https" || u.User != nil || strings.Contains(v.URL, "#") {
		return ""
	}
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err != nil && !hostport.IsHostName(host) {
		return ""
	}
	return host
}

// Origins returns the web origins that browsers ask, each once.
func (vs Venues) Origins() (origins []string) {
	for _, v := range vs {
		if u, err := url.Parse(v.URL); err == nil && v.site() != "" && !slices.Contains(origins, "https://"+u.Host) {
			origins = append(origins, "https://"+u.Host)
		}
	}
	return origins
}

// Private reports whether any place has a private address. On a public host nobody may probe such
// addresses, because every network has its own machine at such an address. A name is not private: each
// player's program refuses the addresses that it must not lead to.
func (vs Venues) Private() bool {
	return slices.ContainsFunc(vs, func(v Venue) bool {
		site, err := netip.ParseAddr(v.site())
		return discovery.ReachOf(v.Addr.Addr()) != discovery.InternetReach ||
			err == nil && discovery.ReachOf(site) != discovery.InternetReach
	})
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
		list[i].Addr = hostport.At(discovery.Canonical(list[i].Addr.AddrPort))
	}
	*vs = list
	return vs.check()
}

// Placed returns the settings of a room. If it looks for a place and names none, it gets the host's own.
// Without those it is refused, and so is a room without a game that looks for servers.
func (s Settings) Placed(own Venues) (Settings, error) {
	switch {
	case s.Game == "" && s.Seeks != SeekPlace:
		return s, Refuse(ReasonAction, "refused.game-unsaid").Advising("refused.game-unsaid-hint")
	case s.Seeks == "" || len(s.Places) > 0:
	case len(own) == 0:
		return s, Refuse(ReasonAction, "refused.places-none").Advising("refused.places-none-hint", "flag", "--places builtin")
	default:
		s.Places = own
	}
	return s, nil
}

// Survey asks a peer to measure candidate places. The result does not depend on what the room does
// meanwhile.
type Survey struct {
	// Attempt tells it from the room's other surveys.
	Attempt int    `json:"attempt"`
	Places  Venues `json:"places"`
	Samples int    `json:"samples"`
	// After is how long this player waits first, because players behind one address take turns.
	After discovery.Millis `json:"after_ms,omitempty"`
}

func (s Survey) check() error {
	switch err := s.Places.check(); {
	case err != nil:
		return err
	case s.Samples < 1 || s.Samples > maxOfVenue:
		return fmt.Errorf("%d samples", s.Samples)
	case s.After < 0 || s.After > maxTurn:
		return errors.New("a turn that never comes")
	}
	return nil
}

// Surveyed is a peer's result for them, by their place in the list.
type Surveyed struct {
	Attempt int        `json:"attempt"`
	Places  []Finalist `json:"places"`
	// More says that further results follow.
	More bool `json:"more,omitempty"`
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

// Places are the candidates of a round that looks for a place. In the rest of the room's state each stands like
// a server, under its address in At.
type Places struct {
	Candidates []Candidate `json:"candidates"`
	// Machines is how many machines will see the address of a player who measures, at most. Providers are whose
	// they are, the one with the most first.
	Machines  int             `json:"machines"`
	Providers []ProviderCount `json:"providers"`
	// People are the players by name.
	People map[string]Surveying `json:"people"`
}

// Candidate is a candidate place, as people see it.
type Candidate struct {
	// At is the address under which the place stands for a server. Nobody can join it.
	At      string  `json:"at"`
	Name    string  `json:"name"`
	Country string  `json:"country,omitempty"`
	Lat     float64 `json:"lat,omitempty"`
	Lon     float64 `json:"lon,omitempty"`
	// Offers are the providers there, the one whose machine is measured first.
	Offers []Offer `json:"offers,omitempty"`
	// IsHome says that it is the computer of a player who may host.
	IsHome bool `json:"home,omitempty"`
}

// ProviderCount is a provider with a number of machines.
type ProviderCount struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// Surveying is how far a player is.
type Surveying struct {
	Asked    int  `json:"asked"`
	Answered int  `json:"answered"`
	Done     bool `json:"done,omitempty"`
	// Browser says that the player measures with the page.
	Browser bool `json:"browser,omitempty"`
}
