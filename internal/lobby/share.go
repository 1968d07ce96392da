package lobby

import (
	"context"
	"time"

	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/favourites"
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

// mayShare asks the player whether the lists of a game may come into the room, once a game.
func (y *Player) mayShare(ctx context.Context, id string, lists sentence.Sentence) bool {
	y.sharing.Lock()
	defer y.sharing.Unlock()
	if may, isSaid := y.shared[id]; isSaid {
		return may
	}
	ctx, cancel := context.WithTimeout(ctx, shareTime)
	defer cancel()
	answer, ok := y.Launcher.Console.Ask(ctx, y.Desk.Screen.Words("term.share", "lists", lists)+" ")
	if y.shared == nil {
		y.shared = map[string]bool{}
	}
	y.shared[id] = ok && answer != "" && y.Launcher.Console.Yes(answer)
	return y.shared[id]
}

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
	what := sentence.Of("term.favourites", "n", len(likes))
	if len(hides) > 0 {
		what = sentence.Of("term.favourites-and", "favourites", what, "n", len(hides))
	}
	if y.Shares == SharesAsked {
		if !y.Desk.hasPerson() {
			return m
		}
		if !y.mayShare(ctx, id, what) {
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
		y.Desk.Screen.Tell("term.share-newest", "n", wire.MaxBrought, "lists", what)
	}
	m.Favourites, m.Hidden = of(likes), of(hides)
	return m
}
