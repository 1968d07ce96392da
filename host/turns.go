package host

import "time"

// So many players look at the finalists at the same moment, and the next ones
// after that time. Quake 3's servers answer ten questions at once and then ten a
// second, whoever asks.
const (
	wave         = 5
	betweenWaves = 500 * time.Millisecond
)

// turn is when one of so many players looks at the finalists first, and the time
// from look to look, 0 if a peer's own is long enough.
func turn(place, players int) (after, every time.Duration) {
	if waves := (players + wave - 1) / wave; waves > 2 {
		every = time.Duration(waves) * betweenWaves
	}
	return time.Duration(place/wave) * betweenWaves, every
}
