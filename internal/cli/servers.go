package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/discovery/lan"
	"muster/discovery/master"
	"muster/internal/game"
)

// sources are the flags that say where the server list comes from.
type sources struct {
	masters  []string
	files    []string
	lan      lanMode
	locating locating
}

func (s *sources) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&s.masters, "master", nil, "ask this `HOST[:PORT]` for servers (repeatable; default: the game's own)")
	flags.StringArrayVar(&s.files, "servers", nil, "read servers from `FILE`, - is standard input (repeatable)")
	bindWord(cmd, &s.lan, "lan", lanAuto, []lanMode{lanAuto, lanOn, lanOff}, "look for servers on the local network, too (auto: unless --master or --servers says where they are)")
	s.locating.bind(flags)
}

// list is the server list for a game, from files if there are any, else from
// masters, with country and origin AS. Warnings are things that could not be
// had while the rest could.
func (s *sources) list(ctx context.Context, g game.Game, stdin io.Reader) (master.Listing, error) {
	listing, err := s.plainList(ctx, g, stdin)
	if err != nil {
		return listing, err
	}
	return listing, s.locating.annotate(listing.Servers)
}

func (s *sources) plainList(ctx context.Context, g game.Game, stdin io.Reader) (master.Listing, error) {
	if len(s.files) > 0 {
		return s.fromFiles(ctx, g, stdin)
	}
	return s.fromMasters(ctx, g)
}

func (s *sources) fromMasters(ctx context.Context, g game.Game) (master.Listing, error) {
	queries, err := g.Queries(s.masters...)
	if err != nil {
		return master.Listing{}, err
	}
	listing, err := master.Client{}.Fetch(ctx, queries...)
	if ctx.Err() != nil {
		return listing, ctx.Err()
	}
	if errors.Is(err, master.ErrEmpty) {
		return listing, hinted(fmt.Errorf("the master lists no server for %s", g.Name), "give a list of your own with --servers FILE")
	}
	return listing, err
}

func (s *sources) fromFiles(ctx context.Context, g game.Game, stdin io.Reader) (master.Listing, error) {
	var entries []master.Entry
	for _, file := range s.files {
		more, err := readList(file, stdin)
		if err != nil {
			return master.Listing{}, err
		}
		entries = append(entries, more...)
	}
	ours, others := split(entries, g)
	listing, err := master.Client{}.Resolve(ctx, ours, g.Port)
	if errors.Is(err, master.ErrEmpty) {
		return listing, emptyList(s.files, g, others)
	}
	if others > 0 {
		listing.Warnings = append(listing.Warnings, fmt.Errorf("left out %s of other games", some(others, "server")))
	}
	return listing, err
}

func readList(file string, in io.Reader) ([]master.Entry, error) {
	name := fileName(file)
	f, err := open(file, in)
	if err != nil {
		return nil, fmt.Errorf("cannot read the servers file %s: %w", name, reason(err))
	}
	defer f.Close()
	entries, err := master.ParseList(f, name)
	if errors.Is(err, master.ErrEmpty) {
		err = hinted(fmt.Errorf("%s lists no server", name), "put one server a line, such as 192.0.2.1:27960")
	}
	return entries, err
}

// split keeps the entries that may be the game's servers.
func split(entries []master.Entry, g game.Game) (ours []master.Entry, others int) {
	for _, e := range entries {
		if g.Takes(e.Type) {
			ours = append(ours, e)
		} else {
			others++
		}
	}
	return ours, others
}

func emptyList(files []string, g game.Game, others int) error {
	err := fmt.Errorf("no servers in %s", strings.Join(files, ", "))
	if others > 0 {
		return hinted(err, fmt.Sprintf("its %d servers are of other types; %s takes %s", others, g.Name, strings.Join(g.QStatTypes, ", ")))
	}
	return hinted(err, "put one server a line, such as 192.0.2.1:27960")
}

// some is a number of things.
func some(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// describe says how a list came out, and what is around, for a screen.
func describe(servers []discovery.Server, near []lan.Server, g game.Game) string {
	text := some(len(servers), g.Name+" server") + " listed"
	if len(near) > 0 {
		text += fmt.Sprintf(", and %d on the local network", len(near))
	}
	return text
}
