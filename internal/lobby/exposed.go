package lobby

import (
	"muster/discovery/sentence"
	"muster/peer"
)

// placesWillSee tells a player how many places will see their address, before any is asked. A place is
// where a server could be.
func placesWillSee(e peer.ExposingPlaces, discreet int) sentence.Sentence {
	if discreet > 0 {
		e.Places = min(e.Places, discreet)
	}
	return sentence.Of("term.places-see", "n", e.Places)
}
