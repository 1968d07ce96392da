package discovery

import "time"

// Info is what a server says of itself. All text in it is cleaned for display
// (see [CleanText]) but stays the word of a stranger.
type Info struct {
	Name string
	Map  string
	// Mode is the game type in the protocol's own words: "0", "ctf", "duel".
	Mode    string
	Version string
	// Players counts taken seats, those of bots included.
	Players int
	// MaxPlayers counts the seats that are open to the public.
	MaxPlayers int
	// Bots is how many of Players are bots, as far as the protocol tells.
	Bots     int
	Password bool
	// GamePort is the port that players connect to; 0 is the queried port.
	GamePort uint16
	// AppID is the Steam application, or 0.
	AppID uint64
	// MinPing and MaxPing are the limits outside which the server refuses
	// players; 0 is no limit.
	MinPing, MaxPing time.Duration
}

// Free is the number of empty seats. A seat that a bot holds is not empty.
func (i *Info) Free() int { return max(0, i.MaxPlayers-i.Players) }
