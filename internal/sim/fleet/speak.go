package fleet

import (
	"net/netip"

	"muster/discovery"
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
	// Version is what servers say they run. Without it Quake III servers say
	// what the world has, and A2S servers "1.0.0.0": generated worlds know
	// Quake III's version only.
	Version string
}

// defaultA2SVersion has the form that the Source engine's games give theirs.
const defaultA2SVersion = "1.0.0.0"

// sign has a server tell which game it plays.
func (o Options) sign(info *discovery.Info) {
	if info.AppID == 0 {
		info.AppID = o.Game.AppID
	}
	switch {
	case o.Game.Version != "":
		info.Version = o.Game.Version
	case o.Kind == A2S:
		info.Version = defaultA2SVersion
	}
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

func (o Options) speaker() speaker {
	if o.Kind == A2S {
		return a2sSpeaker{seed: o.World.Seed, open: o.NoChallenge}
	}
	return quake3Speaker{seed: o.World.Seed, protocol: o.Game.Protocol}
}
