package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"muster/discovery/geo"
	"muster/internal/release"
	"muster/internal/release/fetch"
	"muster/internal/tables"
)

// tablesFolder returns where fetched tables of addresses are kept.
func tablesFolder() string { return filepath.Join(xdg.CacheHome, "muster", "tables") }

// places is the command that shows what is known about addresses.
type places struct {
	*program
	options                geo.Options
	update, forget, asJSON bool
	page, key              string
}

func newGeo(p *program) *cobra.Command {
	g := &places{program: p, options: geo.Options{Tables: tablesFolder()}}
	cmd := &cobra.Command{
		GroupID: toLook,
		Use:     "geo [ADDRESS…]",
		Short:   "In which country and network an address is",
		Long: `Geo says what the tables know of addresses: the country, the network (AS) that
announces it, and which table says so. Without an address it lists the tables.
Muster asks near countries and networks first; a wrong label costs probes, and
what counts in the end is the ping.

The tables come with Muster. Each year some 4 % of the addresses get another
network: --update fetches those of the project's newest release, and keeps them
if the project's signature holds and they are newer. From then on discover, host,
serve and geo go by them, until a newer Muster has newer ones; --forget takes
them away.

An address may be ADDRESS:PORT; - reads addresses from standard input.`,
		Example: `  muster geo 8.8.8.8 2606:4700:4700::1111
  muster geo --json - <addresses.txt
  muster geo --update`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return g.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&g.update, "update", false, "fetch newer tables from the project's newest release")
	flags.BoolVar(&g.forget, "forget", false, "take fetched tables away: those that came with Muster serve again")
	flags.BoolVar(&g.asJSON, "json", false, "print what is known as JSON")
	bindPlaces(flags, &g.options)
	flags.StringVar(&g.page, "releases", release.Page(), "with --update, the project's releases are at `URL`")
	flags.StringVar(&g.key, "key", "", "with --update, trust this minisign key in place of the project's")
	return cmd
}

func (g *places) run(ctx context.Context, args []string) error {
	if g.update && g.forget {
		return usagef("--update and --forget exclude each other")
	}
	addrs, err := tables.Addresses(args, g.in)
	if err != nil {
		return err
	}
	switch {
	case g.update:
		err = g.fetch(ctx)
	case g.forget:
		var there bool
		if there, err = tables.Forget(tablesFolder()); err == nil && there {
			fmt.Fprintln(g.out, "The fetched tables are gone: those that came with Muster serve again.")
		} else if err == nil {
			fmt.Fprintln(g.out, "There are no fetched tables: those that came with Muster serve.")
		}
	}
	if err != nil || (g.update || g.forget) && len(args) == 0 {
		return err
	}
	locator, err := geo.Open(g.options)
	if err != nil {
		return err
	}
	defer locator.Close()
	if trouble := locator.Trouble(); trouble != nil {
		g.say(trouble) // the tables that came with Muster serve instead
	}
	if g.asJSON {
		return json.NewEncoder(g.out).Encode(tables.Document(locator, addrs))
	}
	if len(args) == 0 {
		tables.List(locator, time.Now()).Write(g.out)
		return nil
	}
	tables.Explain(locator, addrs, tablesFolder()).Write(g.out)
	return nil
}

// fetch downloads the newest release's tables if they are newer.
func (g *places) fetch(ctx context.Context) error {
	keys, err := keysOf(g.key)
	if err != nil {
		return err
	}
	return tables.Fetch(ctx, fetch.Source{Page: g.page, Keys: keys}, tablesFolder(), g.screen, g.out)
}
