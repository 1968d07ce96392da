package lists

import (
	"context"
	"log/slog"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/public"
	"muster/host/room"
	"muster/host/wire"
)

// Source gets lists. All its fields but List may be nil.
type Source struct {
	// List gets the server list of a game. Servers have country and origin AS where they are known.
	List func(ctx context.Context, game string) ([]discovery.Server, error)
	// Local returns the servers of a game on this host's networks, from the list that List got
	// last. Said is what that list says about its servers. Age is how old the list is, if people
	// should know.
	Local func(game string) []room.LocalServer
	Said  func(game string) discovery.Said
	Age   func(game string) sentence.Sentence
	// Gap returns how long a game's server must be left alone before it answers an address again.
	Gap func(game string) time.Duration
	// Log takes errors that need not stop a room.
	Log *slog.Logger
}

// Longest bounds how long getting a list may take: several masters, each asked twice.
const Longest = time.Minute

// Fetch gets a room's list, within a host's limits.
func (l *Lists) Fetch(
	ctx context.Context, from Source, limits *public.Limits, wanted room.Fetch, settings wire.Settings,
) (listed room.Listed) {
	ctx, cancel := context.WithTimeout(ctx, Longest)
	defer cancel()
	if from.Gap != nil {
		listed.Gap = from.Gap(wanted.Game)
	}
	if limits != nil && len(wanted.Servers) == 0 {
		wanted.Also = nil // a list for one room alone would displace the list that all others share
	}
	if len(wanted.Servers) > 0 {
		servers, err := limits.Listed(wanted.Servers)
		from.note(err)
		servers, err = limits.With(servers, wanted.Also)
		from.note(err)
		listed.List = l.Share(servers, nil)
		listed.Kept = l.KeepApart(ctx, listed.List)
		l.KeepOwn(ctx, wanted.Servers) // the store keeps an existing one for longer
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

// note logs that the places of some servers are unknown. The search does without them.
func (s Source) note(err error) {
	if err != nil {
		s.Log.Warn("places not known", "error", err)
	}
}
