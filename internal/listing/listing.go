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

// MinReach returns the least reach of the addresses that names in the lists may lead to. The user's own list
// may name servers of the user's networks, and a stranger's may not.
func (s *Sources) MinReach() discovery.Reach {
	if len(s.Files)+len(s.Masters) > 0 {
		return discovery.NoReach
	}
	return discovery.InternetReach
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
		err = Annotate(listing.Servers, listing.Led, s.Places)
	}
	looking.Wait()
	if _, is := errors.AsType[*game.NoMasterError](err); is && s.LooksAround() && len(near) == 0 {
		err = hint.Say("list.none-near", "why", err)
	}
	if err != nil && len(near) > 0 && ctx.Err() == nil {
		listing.Warnings = []error{hint.Say("list.only-near", "why", err)}
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
		return listing, hint.Say("list.nobody", "game", g.Name).Advising("list.nobody-hint", "files", "--servers FILE")
	}
	return listing, err
}

func (s *Sources) user() (game.User, error) {
	if s.User == nil {
		return game.User{}, nil
	}
	return s.User()
}

// forRoom returns an error as a room shows it, with advice and without package names.
func forRoom(err error) error {
	says := hint.Sentences(err)
	if len(says) == 1 {
		return hint.Brief(err)
	}
	return hint.Say("list.helps", "why", err, "advice", says[1:])
}

// example is how a list names a server.
const example = "192.0.2.1:27960"

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
		err = hint.Say("list.none-in", "files", strings.Join(s.Files, ", ")).
			Advising("list.other-types-hint", "n", others, "game", g.Name, "types", strings.Join(g.QStatTypes, ", "))
	case errors.Is(err, master.ErrEmpty):
		err = hint.Say("list.none-in", "files", strings.Join(s.Files, ", ")).Advising("list.one-a-line-hint", "example", example)
	case others > 0:
		listing.Warnings = append(listing.Warnings, hint.Say("list.left-out", "n", others))
	}
	return listing, err
}

// ReadFile reads a list of servers from a file, with warnings about the lines that it leaves out.
func ReadFile(file string, in io.Reader) ([]master.Entry, []error, error) {
	name := input.Name(file)
	f, err := input.Open(file, in)
	if err != nil {
		return nil, nil, hint.Say("list.unread", "file", name, "why", hint.Reason(err))
	}
	defer f.Close()
	entries, cut, err := master.ParseList(f, name)
	if errors.Is(err, master.ErrEmpty) {
		err = hint.Say("list.empty", "file", name).Advising("list.one-a-line-hint", "example", example)
	}
	return entries, cut, err
}

// Annotate gives servers their country and origin AS if the list does not.
func Annotate(servers []discovery.Server, led map[netip.AddrPort]netip.Addr, places geo.Options) error {
	locator, err := geo.Open(places)
	if err != nil {
		return err
	}
	locator.Annotate(servers)
	for i, s := range servers {
		if to, is := led[s.Addr]; is {
			one := []discovery.Server{{Addr: netip.AddrPortFrom(to, s.Addr.Port()), Country: s.Country, ASN: s.ASN}}
			locator.Annotate(one)
			servers[i].Country, servers[i].ASN = one[0].Country, one[0].ASN
		}
	}
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

// splitByReach separates the nearby servers that only this network reaches from the others.
func splitByReach(near []lan.Server) (hidden, public []lan.Server) {
	for _, s := range near {
		if discovery.ReachOf(s.Addr.Addr()) == discovery.InternetReach {
			public = append(public, s)
		} else {
			hidden = append(hidden, s)
		}
	}
	return hidden, public
}
