// Package publichost is the host that muster serve runs. It holds rooms for everybody, in a file or in a cluster of
// hosts, with limits for strangers, until the operator ends it.
package publichost

import (
	"errors"
	"net"
	"os"
	"time"

	"muster/discovery"
	"muster/host/cluster"
	"muster/host/public"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/hint"
	"muster/internal/ingress"
	"muster/internal/listing"
)

// Settings are what the operator decides.
type Settings struct {
	// Listen is the address for players, and Between the one for other hosts.
	Listen, Between string
	// Store is the rooms' file. Cluster is where several hosts keep them.
	Store   string
	Cluster cluster.Config
	// Import and Export are files for rooms that only move.
	Import, Export string

	Lists  listing.Rooms
	Venues wire.Venues // what rooms get that look for a place
	Public public.Limits
	Memory int // of a room, in MiB
	Weeks  int // how long a standing room is kept
	// Remembers says that the host learns from its rooms how far networks are from each other.
	Remembers bool
	Webhooks  bool
	// Beacon says that the host answers measurements by UDP at the port where it listens.
	Beacon bool
	// Leagues is the file of the leagues that open rooms by keys; see [public.ReadLeagues].
	Leagues string

	// Discord is what operators said when the host itself answered Discord. It is refused.
	Discord string

	Ingress   ingress.Ingress
	Cert, Key string
	ACME      ingress.ACME
	// Texts are the flags' values by name.
	Texts map[string]string
}

// These limit strangers unless the operator says otherwise. docs/serve/run.md explains each.
const (
	RoomsAtAll    = 10_000
	RoomsByOne    = 8
	ServersOfOwn  = 2000
	MemoryOfRoom  = 64 // MiB: ten players over 13,000 servers, or coordinated ones over any list
	StandingAtAll = 1000
	StandingByOne = 3
	StandingWeeks = 8
	weeksKept     = 10 * 52
	MessagesOfOne = 50 // a second: a program reports ten times, and sends servers' facts as often
)

// ClusterPort is the default port at which hosts that share NATS listen for each other.
const ClusterPort = "7779"

// Check refuses settings that make no sense.
func (s *Settings) Check() error {
	if faults := s.Faults(); len(faults) > 0 {
		return faults[0]
	}
	return nil
}

// Faults returns all settings that make no sense.
func (s *Settings) Faults() (faults []error) {
	faults = s.limitFaults()
	add := func(err error) { faults = append(faults, err) }
	if _, _, err := net.SplitHostPort(s.Between); err != nil {
		add(hint.With(hint.Usagef("--cluster-listen: %q is no ADDRESS:PORT", s.Between),
			"say --cluster-listen 10.0.0.1:"+ClusterPort+", with the address by which the other hosts reach this one"))
	}
	if _, _, err := net.SplitHostPort(s.Listen); err != nil {
		add(hint.With(hint.Usagef("--listen: %q is no ADDRESS:PORT", s.Listen),
			"say --listen :7777, or --listen 127.0.0.1:7777 behind a proxy on this machine"))
	}
	if err := s.readLeagues(); err != nil {
		add(err)
	}
	if s.Discord != "" {
		add(hint.With(hint.Usagef("--discord: a program of its own opens rooms from Discord now, muster-discord"),
			"leave --discord out, and start muster-discord --config FILE beside the host; contrib/discord/README.md says how"))
	}
	if s.Cluster.URL != "" && s.Store != "" {
		add(hint.Usagef("--store and --nats are two places for the rooms: say one of them"))
	}
	if s.IsMove() && (s.Cluster.URL == "" || s.Import != "" && s.Export != "") {
		add(hint.Usagef("--import FILE and --export FILE need --nats URL, one at a time"))
	}
	switch {
	case (s.Cert == "") != (s.Key == ""):
		add(hint.Usagef("--tls-cert and --tls-key go together"))
	case s.Cert != "" && len(s.ACME.Names) > 0:
		add(hint.Usagef("--tls-cert and --acme are two ways to one certificate: say one of them"))
	case len(s.ACME.Names) > 0 && !s.ACME.Accepts:
		add(hint.With(hint.Usagef("--acme: an authority gives certificates to those who accept its terms"),
			"read them (https://letsencrypt.org/repository/ for Let's Encrypt), and say --acme-accept-terms"))
	}
	return faults
}

// limitFaults returns the limits that make no sense, and sets what follows from the others.
func (s *Settings) limitFaults() (faults []error) {
	add := func(err error) { faults = append(faults, err) }
	for _, limit := range []struct {
		flag           string
		n, least, most int
	}{{"max-rooms", s.Public.Rooms, 1, 1 << 30}, {"rooms-per-address", s.Public.PerAddress, 1, 1 << 30},
		{"max-players", s.Public.Players, 1, wire.MaxPlayers}, {"max-servers", s.Public.Servers, 1, discovery.MaxServers},
		{"room-memory", s.Memory, 1, 1 << 20}, {"message-rate", s.Public.Messages, 1, 1 << 20},
		{"standing-rooms", s.Public.Standing.Rooms, 0, 1 << 20}, {"standing-per-address", s.Public.Standing.PerAddress, 1,
			1 << 20}, {"standing-weeks", s.Weeks, 1, weeksKept}} {
		if limit.n < limit.least || limit.n > limit.most {
			add(hint.Usagef("--%s %d: say %d to %d", limit.flag, limit.n, limit.least, limit.most))
		}
	}
	if s.Public.Places < 0 || s.Public.Places > wire.MaxVenues {
		add(hint.Usagef("--max-places %d: say 0 to %d", s.Public.Places, wire.MaxVenues))
	}
	s.Public.Memory = s.Memory << 20
	s.Public.Standing.Keep = time.Duration(s.Weeks) * 7 * 24 * time.Hour
	if s.Public.Idle < time.Minute || s.Public.Idle > room.KeepEmpty {
		add(hint.Usagef("--idle %v: say %v to %v", s.Public.Idle, time.Minute, room.KeepEmpty))
	}
	return faults
}

// readLeagues reads the file of leagues, if there is one.
func (s *Settings) readLeagues() error {
	s.Public.Leagues = nil
	if s.Leagues == "" {
		return nil
	}
	file, err := os.Open(s.Leagues)
	if err == nil {
		defer file.Close()
		s.Public.Leagues, err = public.ReadLeagues(file)
	}
	if err != nil {
		return hint.With(hint.Usagef("--leagues %s: %s", s.Leagues, hint.Reason(err)), "docs/match.md has an example")
	}
	return nil
}

// DoubtProxy returns a warning about a proxy that the host does not know, or nil.
func (s *Settings) DoubtProxy() error {
	isEncrypted := s.Cert != "" || len(s.ACME.Names) > 0
	if public := s.Ingress.Public; !isEncrypted && public != nil && public.Scheme == "https" && len(s.Ingress.Proxies) == 0 {
		return errors.New("--public-url says https, so a proxy encrypts: name it with --trusted-proxy ADDRESS, or all who " +
			"come by it count as one, and share the limits for one address")
	}
	return nil
}

// IsMove reports whether rooms only move between a file and a cluster.
func (s *Settings) IsMove() bool { return s.Import != "" || s.Export != "" }
