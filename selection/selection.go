package selection

import (
	"net/netip"
	"time"

	"muster/discovery"
)

// Rule is how the group's server is chosen.
type Rule string

// The rules of MUSST (NetGames 2005, §3.2 and §6), and minimax.
const (
	// Mean: the lowest average RTT.
	Mean Rule = "mean"
	// Threshold: the lowest average among servers where nobody is over the limit.
	Threshold Rule = "threshold"
	// Fairness: the smallest sample standard deviation.
	Fairness Rule = "fairness"
	// Minimax: the lowest worst RTT.
	Minimax Rule = "minimax"
	// FairThreshold: the fairest among servers where nobody is over the limit.
	FairThreshold Rule = "fair-threshold"
)

// Wish is what the group wants of its server.
type Wish struct {
	By Rule
	// Limits are the RTTs that nobody may be over, tried from the strictest.
	// Rules without a threshold take the last as a cap if there is one.
	Limits []time.Duration
	// Seats is how many free seats the group needs; 0 asks for none.
	Seats int
	// Map and Mode, if not empty, must be the server's, letter case apart.
	Map, Mode string
	// Weights of players who count for more or less than 1.
	Weights map[string]float64
	// Top is how many servers the ranking holds; 0 is all.
	Top int
	// Keep is the server of the last round: it stays unless another is worth
	// the move. The zero value keeps nothing.
	Keep netip.AddrPort
}

// Servers is the list a table's rows stand for, and what is known of each.
type Servers struct {
	List []discovery.Server
	// Infos holds what each server says of itself; nil where nobody heard.
	Infos []*discovery.Info
}
