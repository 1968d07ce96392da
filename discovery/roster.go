package discovery

import "time"

// Roll is a Protocol whose servers tell their players' names on request.
type Roll interface {
	Protocol
	// Roll returns the protocol that asks for them. The Info in its replies has a
	// Roster, and may have nothing else.
	Roll() Protocol
}

// Roster lists a server's players, as the server tells. Names are cleaned for display.
type Roster struct{ Players []Player }

// Player is one player of a [Roster].
type Player struct {
	Name  string
	Score int
	// Ping is what the server measured. It is 0 for a bot, or if the server does not tell.
	Ping time.Duration
}
