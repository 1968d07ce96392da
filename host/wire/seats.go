package wire

import (
	"time"

	"muster/discovery/sentence"
)

// Seats is a room's wait for seats: seats for the whole group on one of the best servers, or for
// players who did not get in. Pages still see it after the room has given up.
type Seats struct {
	// Need is how many seats the room wants at once. For are the players who are left outside, if
	// the others are in.
	Need int      `json:"need"`
	For  []string `json:"for,omitempty"`
	// Began is when the wait began, and Until when the room gives up.
	Began time.Time `json:"began"`
	Until time.Time `json:"until"`
	// Servers are the watched servers, the best first. Instead are other servers with free seats.
	Servers []SeatsOn `json:"servers"`
	Instead []SeatsOn `json:"instead,omitempty"`
	// By names the player whose program is checking.
	By string `json:"by,omitempty"`
	// Target is the address of a server that has free seats now, and LaunchAt is when everyone goes
	// there.
	Target   string    `json:"target,omitempty"`
	LaunchAt time.Time `json:"launch_at,omitzero"`
	// News is the last event; a mere check is none.
	News sentence.Sentence `json:"news,omitzero"`
	// Over says why the room has given up, and Chance what it saw meanwhile. They end without a stop.
	Over   sentence.Sentence `json:"over,omitzero"`
	Chance sentence.Sentence `json:"chance,omitzero"`
}

// SeatsOn is what the room knows of a server's seats.
type SeatsOn struct {
	Addr string `json:"addr"`
	ServerCard
	MeanMS float64            `json:"mean_ms"`
	MaxMS  float64            `json:"max_ms"`
	RTT    map[string]float64 `json:"rtt_ms"`
	// Free is how many were free at At, -1 if that is unknown.
	Free int       `json:"free"`
	At   time.Time `json:"at,omitzero"`
	// Next is when the server is asked again. It is zero if it is not asked again. Checks says that
	// one player saw enough seats, and a second player must confirm this.
	Next   time.Time `json:"next,omitzero"`
	Checks bool      `json:"checks,omitempty"`
	// Asked is how many queries the whole room has sent it during the wait.
	Asked int `json:"asked"`
	// Max is the largest number of seats that were free at once, at MaxAt. Mostly it was From to
	// To.
	Max   int       `json:"most"`
	MaxAt time.Time `json:"most_at,omitzero"`
	From  int       `json:"from"`
	To    int       `json:"to"`
	// Dropped says why the server is no longer watched.
	Dropped sentence.Sentence `json:"dropped,omitzero"`
}
