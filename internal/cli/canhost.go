package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"muster/discovery/protocol/beacon"
)

// canHost says whether this machine answers as a beacon while its player is in a room. The others
// then measure how a server here would do.
type canHost struct {
	isWanted bool
	portMap  consent
	// later is closed once the user allows what portMap leaves open; a nil channel never is.
	later <-chan struct{}
}

func (c *canHost) bind(flags *pflag.FlagSet) {
	flags.BoolVar(&c.isWanted, "can-host", false,
		"you could host the game; once all say so, programs measure each other's computers (UDP "+fmt.Sprint(beacon.Port)+")")
}

// allowed returns a channel that is closed once the router may be asked. It is nil if that never
// happens.
func (c *canHost) allowed() <-chan struct{} {
	if c.portMap == notAsked {
		return c.later
	}
	return c.portMap.given()
}
