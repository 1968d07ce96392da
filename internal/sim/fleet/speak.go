package fleet

import (
	"fmt"
	"net/netip"

	"muster/discovery"
	"muster/internal/sim"
)

// Kind is the protocol that a fleet's servers speak.
type Kind string

// The kinds of servers.
const (
	Quake3 Kind = "quake3"
	A2S    Kind = "a2s"
)

// Game is what a fleet's game calls itself.
type Game struct {
	// Name is what one asks a master for: "Quake3Arena".
	Name string
	// Protocol is the version of the game's protocol: 68, 71.
	Protocol int
	// AppID is the Steam application of servers that have none of their own.
	AppID uint64
	// Version is what servers say they run that have none of their own.
	Version string
}

// sign is what a server of the game tells of itself.
func (g Game) sign(s sim.Server) discovery.Info {
	info := s.Info
	if info.AppID == 0 {
		info.AppID = g.AppID
	}
	if info.Version == "" {
		info.Version = g.Version
	}
	return info
}

// speaker is the protocol of a fleet's servers.
type speaker interface {
	// answer gives the datagrams of a reply, or none if the request is not one.
	answer(speech) [][]byte
}

// speech is a request to a server.
type speech struct {
	server  int
	info    *discovery.Info
	from    netip.AddrPort
	request []byte
}

func speakerOf(o Options) (speaker, error) {
	switch o.Kind {
	case Quake3:
		return quake3Speaker{seed: o.World.Seed, protocol: o.Game.Protocol}, nil
	case A2S:
		return a2sSpeaker{seed: o.World.Seed, open: o.NoChallenge}, nil
	}
	return nil, fmt.Errorf("fleet: unknown kind of servers %q (known: %s, %s)", o.Kind, Quake3, A2S)
}
