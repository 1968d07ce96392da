package lobby

import (
	"context"
	"fmt"
	"time"

	"muster/host/wire"
	"muster/internal/favourites"
	"muster/internal/term"
)

// Sharing says whether a room gets the user's lists.
type Sharing string

const (
	SharesAsked Sharing = "ask"
	SharesAll   Sharing = "always"
	SharesNone  Sharing = "never"
)

// shareTime is how long a player may take to answer. After that, typed lines are votes again.
const shareTime = time.Minute

// brings returns the servers of a game that the player shares with the room. Without the player's
// consent there are none.
func (y *Player) brings(ctx context.Context, id string) (m wire.Bring) {
	m.Game = id
	kept, err := favourites.Read(y.Favourites)
	if err != nil || y.Shares == SharesNone {
		return m // Home reports what is wrong with the file
	}
	likes, hides := kept.Of(favourites.Favourite, id), kept.Of(favourites.Hidden, id)
	if len(likes)+len(hides) == 0 {
		return m
	}
	what := term.Count(len(likes), "favourite")
	if len(hides) > 0 {
		what += fmt.Sprintf(" and %s", term.Count(len(hides), "hidden server"))
	}
	if y.Shares == SharesAsked {
		if y.Desk.Page == nil && !(term.IsTerminal(y.Desk.In) && y.Desk.Screen.IsTerminal) {
			return m
		}
		ctx, cancel := context.WithTimeout(ctx, shareTime)
		defer cancel()
		answer, ok := y.Launcher.Console.Ask(ctx, fmt.Sprintf("share your %s with this room? [y/N] ", what))
		if !ok || answer == "" || !y.Launcher.Console.Yes(answer) {
			return m
		}
	}
	of := func(list []favourites.Server) (brought []wire.Brought) {
		for _, s := range list[max(0, len(list)-wire.MaxBrought):] { // the newest
			brought = append(brought, wire.Brought{Addr: s.Addr, Name: s.Name})
		}
		return brought
	}
	if most := max(len(likes), len(hides)); most > wire.MaxBrought {
		y.Desk.Screen.Say("a room takes %d favourites and as many hidden servers of a player: it gets those "+
			"that you added last, of your %s", wire.MaxBrought, what)
	}
	m.Favourites, m.Hidden = of(likes), of(hides)
	return m
}
