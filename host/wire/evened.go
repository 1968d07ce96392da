package wire

import (
	"fmt"
	"time"

	"muster/discovery"
	"muster/selection/even"
)

// Delay tells a program how long to hold the packets of its player's game in a round, half of the
// time each way. The program starts the game through its own line then. With 0 an open line passes everything on
// at once, and a game that starts later goes directly.
type Delay struct {
	Round int              `json:"round"`
	By    discovery.Millis `json:"by_ms"`
}

// Status asks a program what the server to which it was sent says of its players. The answer is [Pings].
type Status struct {
	Round int `json:"round"`
}

// Pings are the pings that the game's server lists.
type Pings struct {
	Round int         `json:"round"`
	Pings []NamedPing `json:"pings"`
}

// NamedPing is a player's ping in ms, by the player's name in the game. No two players share it.
type NamedPing struct {
	Name string  `json:"name"`
	MS   float64 `json:"ms"`
}

func (Delay) kind() string  { return "delay" }
func (Status) kind() string { return "status" }
func (Pings) kind() string  { return "pings" }

func (d Delay) check() error {
	if by := time.Duration(d.By); by < 0 || by > even.MaxAdded*time.Millisecond {
		return fmt.Errorf("a delay of %v", by)
	}
	return nil
}

// MaxPings bounds the players of a server whose pings a program reports.
const MaxPings = 255

func (p Pings) check() error {
	if len(p.Pings) > MaxPings {
		return fmt.Errorf("pings of %d players", len(p.Pings))
	}
	for _, one := range p.Pings {
		if one.MS < 0 || one.MS > float64(MaxRTT.Milliseconds()) {
			return fmt.Errorf("a ping of %v ms", one.MS)
		}
	}
	return nil
}

// Evened says how a match's pings are made even while people play.
type Evened struct {
	// Agreed are the sides whose captains have agreed, a first.
	Agreed []Side `json:"agreed,omitempty"`
	// AddedMS are the delays by player, in ms, while people play. Only players whose programs delay the
	// game stand in it.
	AddedMS map[string]int `json:"added_ms,omitempty"`
	// Ended is the person who has ended it for all.
	Ended string `json:"ended,omitempty"`
}
