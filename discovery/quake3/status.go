package quake3

import "time"

// Player is one line of a server's status.
type Player struct {
	// Name is cleaned for display (see [CleanName]) when it was parsed.
	Name  string
	Score int
	// Ping is what the server measured, in whole milliseconds; 0 marks a bot.
	Ping time.Duration
}
