package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"muster/discovery/protocol/beacon"
)

// canHost is whether this machine answers as a beacon while its player is in a room, so that
// the others see what a server here would give them.
type canHost struct {
	isWanted bool
	portMap  consent
	// later is closed once the user allows what portMap does not say yet; nil never is.
	later <-chan struct{}
}

func (c *canHost) bind(flags *pflag.FlagSet) {
	flags.BoolVar(&c.isWanted, "can-host", false,
		"you could host the game; once all say so, programs measure each other's computers (UDP "+fmt.Sprint(beacon.Port)+")")
}

// allowed is closed once the router may be asked, nil if that will never be.
func (c *canHost) allowed() <-chan struct{} {
	if c.portMap == notAsked {
		return c.later
	}
	return c.portMap.given()
}
