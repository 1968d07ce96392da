package fleet

import (
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"muster/internal/sim"
)

// Options says which servers a fleet stands for, and how they talk.
type Options struct {
	// World has the servers, and their distances from the places.
	World *sim.World
	// Kind is the protocol of the servers.
	Kind Kind
	// Game is what they play.
	Game Game
	// Port is the first of the ports that servers listen on, and MasterPort the
	// master's; the system chooses where they are 0.
	Port, MasterPort uint16
	// Home is the place of whoever asks from an address without a seat.
	Home int
	// OneAddress puts all servers on 127.0.0.1, each on a port and a socket of
	// its own. It is so in any case on systems without the rest of 127.0.0.0/8.
	OneAddress bool
	// NoChallenge lets A2S servers tell about themselves without a challenge,
	// as old ones do; players and rules need one still.
	NoChallenge bool
	// Sent, if not nil, hears of each reply right after it was sent. It must
	// return at once: it holds up the replies behind it.
	Sent func(Exchange)
	// Logger hears of what goes wrong; nil is silence.
	Logger *slog.Logger
}

// Exchange is a query that was answered.
type Exchange struct {
	Server, Place int
	Source        netip.AddrPort
	// RTT is what the world has for this packet pair.
	RTT time.Duration
	// Held is how long the reply was held back in fact, from the arrival of the
	// query, as stamped by the kernel where it does that, to the sending.
	Held time.Duration
}

func (o Options) check() error {
	switch w := o.World; {
	case w == nil || len(w.Servers) == 0 || len(w.Places) == 0 || len(w.Places) > maxPlaces:
		return fmt.Errorf("fleet: needs a world with servers and 1 to %d places", maxPlaces)
	case o.Home < 0 || o.Home >= len(w.Places):
		return fmt.Errorf("fleet: the world has no place %d", o.Home)
	case o.Kind != Quake3 && o.Kind != A2S:
		return fmt.Errorf("fleet: unknown kind of servers %q (known: %s, %s)", o.Kind, Quake3, A2S)
	}
	return nil
}
