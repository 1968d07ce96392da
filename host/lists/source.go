package lists

import (
	"context"
	"log/slog"
	"time"

	"muster/discovery"
	"muster/host/public"
	"muster/host/room"
	"muster/host/wire"
)

// Source is where lists come from. All but List may be nil.
type Source struct {
	// List gets the server list of a game, annotated with country and origin AS as far as
	// they are known.
	List func(ctx context.Context, game string) ([]discovery.Server, error)
	// Local returns the servers of a game on the networks of this host, in the list that List
	// got last. Said is what that list says of its servers, and Age how old it is, if people
	// should know.
	Local func(game string) []room.LocalServer
	Said  func(game string) discovery.Said
	Age   func(game string) string
	// Gap returns how long a server of a game needs peace before it answers an address again.
	Gap func(game string) time.Duration
	// Log takes what went wrong, and need not stop a room.
	Log *slog.Logger
}

// Longest bounds how long getting a list may take: several masters, asked twice each.
const Longest = time.Minute

// Fetch gets the list that a room wants, within a host's limits.
func (l *Lists) Fetch(
	ctx context.Context, from Source, limits *public.Limits, wanted room.Fetch, settings wire.Settings,
) (listed room.Listed) {
	ctx, cancel := context.WithTimeout(ctx, Longest)
	defer cancel()
	if from.Gap != nil {
		listed.Gap = from.Gap(wanted.Game)
	}
	if limits != nil && len(wanted.Servers) == 0 {
		wanted.Also = nil // a list of one room's own would crowd out the one that all others share
	}
	if len(wanted.Servers) > 0 {
		servers, err := limits.Listed(wanted.Servers)
		from.note(err)
		servers, err = limits.With(servers, wanted.Also)
		from.note(err)
		listed.List = l.Share(servers, nil)
		listed.Kept = l.KeepApart(ctx, listed.List)
		l.KeepOwn(ctx, wanted.Servers) // for longer, if it is
		return listed
	}
	servers, err := from.List(ctx, wanted.Game)
	if err != nil {
		listed.Err = err
		return listed
	}
	if from.Age != nil {
		listed.Note = from.Age(wanted.Game)
	}
	if from.Said != nil {
		listed.Said = from.Said(wanted.Game)
	}
	if from.Local != nil {
		listed.Local = from.Local(wanted.Game)
	}
	servers, err = limits.With(servers, wanted.Also)
	from.note(err)
	servers, listed.Note = limits.Fitting(servers, settings, listed.Note)
	listed.List = l.Share(servers, listed.Local)
	listed.Kept = l.KeepApart(ctx, listed.List)
	return listed
}

// note logs that nobody knows where some servers are: the search does without.
func (s Source) note(err error) {
	if err != nil {
		s.Log.Warn("places not known", "error", err)
	}
}
