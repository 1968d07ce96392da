package wire

import "time"

// Seats is a room's wait for seats: for all of the group on one of the best servers, or for
// those who did not get in. It stays to be seen once the room has given up.
type Seats struct {
	// Need is how many seats are wanted at once. For are those who are left outside, if the
	// others are in.
	Need int      `json:"need"`
	For  []string `json:"for,omitempty"`
	// Began is when the wait did, and Until when the room gives up.
	Began time.Time `json:"began"`
	Until time.Time `json:"until"`
	// Servers are those that are watched, the best first, and Instead such as have seats
	// now.
	Servers []SeatsOn `json:"servers"`
	Instead []SeatsOn `json:"instead,omitempty"`
	// By is whose program looks just now.
	By string `json:"by,omitempty"`
	// Target is where seats are free by now, by its address, and LaunchAt when everyone goes
	// there.
	Target   string    `json:"target,omitempty"`
	LaunchAt time.Time `json:"launch_at,omitzero"`
	// News is what happened last, in a sentence, if that was no mere look.
	News string `json:"news,omitempty"`
	// Over is why the room has given up, in a sentence, and Chance what it saw meanwhile.
	Over   string `json:"over,omitempty"`
	Chance string `json:"chance,omitempty"`
}

// SeatsOn is what is known of the seats of a server.
type SeatsOn struct {
	Addr string `json:"addr"`
	ServerCard
	MeanMS float64            `json:"mean_ms"`
	MaxMS  float64            `json:"max_ms"`
	RTT    map[string]float64 `json:"rtt_ms"`
	// Free is how many were free at At, -1 if that is not known.
	Free int       `json:"free"`
	At   time.Time `json:"at,omitzero"`
	// Next is when it is asked again; zero if it is not. Checks: somebody has heard that
	// there are seats enough, and another is to see whether that is so.
	Next   time.Time `json:"next,omitzero"`
	Checks bool      `json:"checks,omitempty"`
	// Asked is how many questions the whole room has put to it while it waited.
	Asked int `json:"asked"`
	// Most were free at once meanwhile, at MostAt; mostly it was From to To.
	Most   int       `json:"most"`
	MostAt time.Time `json:"most_at,omitzero"`
	From   int       `json:"from"`
	To     int       `json:"to"`
	// Dropped is why it is watched no more.
	Dropped string `json:"dropped,omitempty"`
}
