package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/discovery/protocol/beacon"
	"muster/discovery/regions"
	"muster/internal/game"
	"muster/internal/home"
	"muster/internal/lobby"
)

// playing holds the flags for a player's part in a room.
type playing struct {
	player   lobby.Player
	launcher game.Launcher
	probing  probing
	// noBrowser leaves the player's own page closed.
	noBrowser bool
	// portMap says whether the router may be asked to let others in. later is closed once the user allows
	// what portMap leaves open; a nil channel never is.
	portMap consent
	later   <-chan struct{}
}

// bindPlayer adds the flags for who plays, and how.
func (y *playing) bindPlayer(cmd *cobra.Command) {
	cmd.Flags().StringVar(&y.launcher.Player, "name", defaultName(), "your `NAME` in the room")
	cmd.Flags().BoolVar(&y.noBrowser, "no-browser", false, "do not open your page in a browser")
	cmd.Flags().BoolVar(&y.player.Agrees, "yes", false, "where the room looks for a place, providers' machines may see your address: do not ask")
	bindLaunch(cmd, &y.launcher)
}

func (y *playing) bindCanHost(flags *pflag.FlagSet) {
	flags.BoolVar(&y.player.CanHost, "can-host", false,
		"you could host the game; if no server suits, the others measure this computer (UDP "+fmt.Sprint(beacon.Port)+")")
}

// check refuses flags with which nobody can play, and reads the file of --regions.
func (y *playing) check(p *program) error {
	err := checkLaunch(&y.launcher)
	if err == nil {
		err = y.probing.check()
	}
	if err == nil {
		err = y.probing.readRegions(p.in)
	}
	return err
}

// take takes what a page says of this computer and its player.
func (y *playing) take(s home.Self) (err error) {
	y.launcher.Player, y.player.CanHost = cmp.Or(s.Name, y.launcher.Player), s.CanHost
	switch {
	case s.Auto == nil:
	case *s.Auto:
		y.launcher.Starts = game.StartAuto
	case y.launcher.Starts == game.StartAuto:
		y.launcher.Starts = game.StartAsk
	}
	if strings.TrimSpace(s.Regions) != "" {
		y.probing.Pings, err = regions.ParseDump(s.Regions)
	}
	return err
}

// allowed returns a channel that is closed once the router may be asked. It is nil if that never
// happens.
func (y *playing) allowed() <-chan struct{} {
	if y.portMap == notAsked {
		return y.later
	}
	return y.portMap.given()
}

// part returns the player's part, following the flags.
func (y *playing) part(p *program) *lobby.Player {
	y.player.Launcher, y.player.Asking, y.player.Allowed = &y.launcher, p.asking(&y.probing), y.allowed()
	y.player.Favourites = favouritesFile()
	return &y.player
}
