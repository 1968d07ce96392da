package discovery

import "time"

// Roll is a Protocol whose servers say who plays, to whoever asks for that.
type Roll interface {
	Protocol
	// Roll asks for it: its replies' Info has a Roster, and may have nothing else.
	Roll() Protocol
}

// Roster is who plays on a server, by its own word. Names are cleaned for display.
type Roster struct{ Players []Player }

// Player is one of them.
type Player struct {
	Name  string
	Score int
	// Ping is what the server measured; 0 is a bot, or not told.
	Ping time.Duration
}
