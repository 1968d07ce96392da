// Package listing gets the list of a game's servers from its masters, from files, and by asking everyone on the local
// network.
package listing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"muster/discovery"
	"muster/discovery/geo"
	"muster/discovery/lists/lan"
	"muster/discovery/lists/master"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/input"
	"muster/internal/term"
)

// LAN says whether to look for game servers on the local network, too.
type LAN string

// Auto looks around if the list is the game's own masters'. A user who names servers wants those.
const (
	Auto LAN = "auto"
	On   LAN = "on"
	Off  LAN = "off"
)

// Sources say where the server list comes from.
type Sources struct {
	// Masters replace the game's own, and Files replace masters.
	Masters, Files []string
	LAN            LAN
	// User returns what the user contributes to get lists; nil contributes nothing.
	User func() (game.User, error)
	// Cache keeps lists from the web.
	Cache master.Cache
	// Places tell a server's country and AS.
	Places geo.Options
	// In is the content of the file named -.
	In  io.Reader
	Log *slog.Logger
	// Say tells the user that something takes time.
	Say func(format string, args ...any)
}

// LooksAround reports whether to ask everyone on the local network.
func (s *Sources) LooksAround() bool {
	return s.LAN == On || s.LAN == Auto && len(s.Files) == 0 && len(s.Masters) == 0
}

// HasStdin reports whether standard input is a list.
func (s *Sources) HasStdin() bool { return slices.Contains(s.Files, input.Standard) }

// Game returns the list of a game's servers with country and origin AS, and the servers nearby. Without a list, those
// nearby must suffice: a LAN party may have no internet, and a game no master.
func (s *Sources) Game(ctx context.Context, g game.Game) (master.Listing, []lan.Server, error) {
	if s.LooksAround() || len(s.Files) == 0 {
		s.Say("looking for %s servers …", g.Name) // it takes seconds
	}
	var near []lan.Server
	var looking sync.WaitGroup
	if s.LooksAround() {
		looking.Go(func() {
			var err error
			if near, err = lan.Servers(ctx, g.Protocol(), g.LANPorts(), s.Log); err != nil {
				s.Log.Debug("cannot look for servers on the local network", "err", err)
			}
		})
	}
	from := s.fromMasters
	if len(s.Files) > 0 {
		from = s.fromFiles
	}
	listing, err := from(ctx, g)
	if err == nil {
		err = Annotate(listing.Servers, s.Places)
	}
	looking.Wait()
	var none *game.NoMasterError
	if errors.As(err, &none) && s.LooksAround() && len(near) == 0 {
		err = hint.With(fmt.Errorf("%w, and there is no server on the local network", err), none.Hint())
	}
	if err != nil && len(near) > 0 && ctx.Err() == nil {
		listing.Warnings = []error{fmt.Errorf("only the servers on the local network are listed: %s", hint.Plain(err.Error()))}
		err = nil
	}
	return listing, near, err
}

func (s *Sources) fromMasters(ctx context.Context, g game.Game) (master.Listing, error) {
	user, err := s.user()
	if err != nil {
		return master.Listing{}, err
	}
	sources, err := g.Sources(user, s.Masters...)
	if err != nil {
		return master.Listing{}, err
	}
	listing, err := master.Client{Cache: s.Cache, Service: g.SRV}.Fetch(ctx, sources...)
	if ctx.Err() != nil {
		return listing, ctx.Err()
	}
	if errors.Is(err, master.ErrEmpty) {
		return listing, hint.With(fmt.Errorf("nobody lists a server for %s", g.Name), "give a list of your own with --servers FILE")
	}
	return listing, err
}

func (s *Sources) user() (game.User, error) {
	if s.User == nil {
		return game.User{}, nil
	}
	return s.User()
}

// toldError is an error as a room shows it: with advice, and without package names.
type toldError struct {
	error
	text string
}

func (e *toldError) Error() string { return e.text }
func (e *toldError) Unwrap() error { return e.error }

func told(err error) error {
	text := hint.Plain(err.Error())
	if what := hint.Of(err); what != "" {
		text += ". What helps: " + what
	}
	return &toldError{err, text}
}

// howToList is the advice about an empty file.
const howToList = "put one server a line, such as 192.0.2.1:27960"

func (s *Sources) fromFiles(ctx context.Context, g game.Game) (master.Listing, error) {
	var ours []master.Entry
	var cut []error
	others := 0 // servers of other games
	for _, file := range s.Files {
		entries, warnings, err := ReadFile(file, s.In)
		if err != nil {
			return master.Listing{}, err
		}
		cut = append(cut, warnings...)
		for _, e := range entries {
			if g.Takes(e.Type) {
				ours = append(ours, e)
			} else {
				others++
			}
		}
	}
	listing, err := master.Client{Service: g.SRV}.Resolve(ctx, ours, g.Port)
	listing.Warnings = append(cut, listing.Warnings...)
	switch {
	case errors.Is(err, master.ErrEmpty) && others > 0:
		err = hint.With(fmt.Errorf("no servers in %s", strings.Join(s.Files, ", ")),
			fmt.Sprintf("its %d servers are of other types; %s takes %s", others, g.Name, strings.Join(g.QStatTypes, ", ")))
	case errors.Is(err, master.ErrEmpty):
		err = hint.With(fmt.Errorf("no servers in %s", strings.Join(s.Files, ", ")), howToList)
	case others > 0:
		listing.Warnings = append(listing.Warnings, fmt.Errorf("left out %s of other games", term.Count(others, "server")))
	}
	return listing, err
}

// ReadFile reads a list of servers from a file, with warnings about the lines that it leaves out.
func ReadFile(file string, in io.Reader) ([]master.Entry, []error, error) {
	name := input.Name(file)
	f, err := input.Open(file, in)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the servers file %s: %w", name, err)
	}
	defer f.Close()
	entries, cut, err := master.ParseList(f, name)
	if errors.Is(err, master.ErrEmpty) {
		err = hint.With(fmt.Errorf("%s lists no server", name), howToList)
	}
	return entries, cut, err
}

// Annotate gives servers their country and origin AS if the list does not.
func Annotate(servers []discovery.Server, places geo.Options) error {
	locator, err := geo.Open(places)
	if err != nil {
		return err
	}
	locator.Annotate(servers)
	return locator.Close()
}

// Locator returns a function that locates addresses for as long as the program runs. The first call opens the tables.
// Unusable files tell nothing.
func Locator(places geo.Options) func(netip.Addr) (country string, asn uint32) {
	locator := sync.OnceValue(func() *geo.Locator {
		locator, err := geo.Open(places)
		if err != nil {
			return nil // the list of servers reports it, since it uses the same files
		}
		return locator
	})
	return func(addr netip.Addr) (country string, asn uint32) {
		if l := locator(); l != nil {
			place := l.Locate(addr)
			return place.Country, place.ASN
		}
		return "", 0
	}
}

// With returns the list with the missing nearby servers appended.
func With(listed []discovery.Server, near []lan.Server) []discovery.Server {
	for _, s := range near {
		if !slices.ContainsFunc(listed, func(l discovery.Server) bool { return l.Addr == s.Addr }) {
			listed = append(listed, s.Server)
		}
	}
	return listed
}

// PlacesOf returns the indexes of the nearby servers in a list.
func PlacesOf(near []lan.Server, servers []discovery.Server) (places []int) {
	for i, s := range servers {
		if slices.ContainsFunc(near, func(n lan.Server) bool { return n.Addr == s.Addr }) {
			places = append(places, i)
		}
	}
	return places
}

// Describe summarises a list and the servers nearby for a screen.
func Describe(listed []discovery.Server, near []lan.Server, g game.Game) string {
	text := term.Count(len(listed), g.Name+" server") + " listed"
	if len(near) > 0 {
		text += fmt.Sprintf(", and %d on the local network", len(near))
	}
	return text
}

// apart separates the nearby servers that only this network reaches from the others.
func apart(near []lan.Server) (hidden, public []lan.Server) {
	for _, s := range near {
		if discovery.ReachOf(s.Addr.Addr()) == discovery.InternetReach {
			public = append(public, s)
		} else {
			hidden = append(hidden, s)
		}
	}
	return hidden, public
}
