package anomaly_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection/anomaly"
)

// TestNextDoorToEverything checks, in groups of all sizes, that a player who reports next to
// nothing for servers that others see far apart is named, and nobody else.
func TestNextDoorToEverything(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	lies := map[string]func(int, time.Duration) (discovery.State, time.Duration){
		"nothing": func(int, time.Duration) (discovery.State, time.Duration) { return discovery.Answered, 0 },
		"nothing, on the wire": func(int, time.Duration) (discovery.State, time.Duration) {
			return discovery.Answered, 50 * time.Microsecond
		},
		"up to a millisecond": func(int, time.Duration) (discovery.State, time.Duration) {
			return discovery.Answered, time.Duration(random.IntN(1000)) * time.Microsecond
		},
		"a hundredth": func(_ int, honest time.Duration) (discovery.State, time.Duration) {
			return discovery.Answered, honest / 100
		},
		"nothing for most": func(server int, honest time.Duration) (discovery.State, time.Duration) {
			if server%12 == 0 {
				return discovery.Answered, honest
			}
			return discovery.Answered, 0
		},
	}
	for name, lie := range lies {
		for _, players := range []int{2, 3, 4, 8} {
			t.Run(fmt.Sprint(name, ", one of ", players), func(t *testing.T) {
				for range 20 {
					p := newPlane(random, players)
					liar := p.lie(lie)
					found := anomaly.Find(p.servers.List, p.table)
					if len(found) != 1 || found[0].Player != liar {
						t.Fatalf("found %v, want %s alone", found, liar)
					}
				}
			})
		}
	}
}
