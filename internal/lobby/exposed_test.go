package lobby

import (
	"testing"

	"muster/peer"
)

// TestPlacesWillSee checks what a player reads before a survey.
func TestPlacesWillSee(t *testing.T) {
	for places, want := range map[int]string{
		1: "1 place where our own server could be will see your address, too",
		9: "up to 5 places where our own server could be will see your address, too",
	} {
		if got := english(placesWillSee(peer.ExposingPlaces{Places: places}, 5)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
