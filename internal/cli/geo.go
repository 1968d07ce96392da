package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"muster/discovery/geo"
	"muster/internal/hint"
	"muster/internal/input"
	"muster/internal/release"
	"muster/internal/release/fetch"
	"muster/internal/tables"
	"muster/internal/term"
)

// tablesFolder is where fetched tables of addresses are kept.
func tablesFolder() string { return filepath.Join(xdg.CacheHome, "muster", "tables") }

// places is the command that tells what is known of addresses.
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
	addrs, err := g.addresses(args)
	if err != nil {
		return err
	}
	switch {
	case g.update:
		err = g.fetch(ctx)
	case g.forget:
		err = g.takeAway()
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
		g.say(trouble) // those that came with Muster serve
	}
	if g.asJSON {
		return json.NewEncoder(g.out).Encode(placesDocument(locator, addrs))
	}
	if len(args) == 0 {
		g.listTables(locator, time.Now())
		return nil
	}
	t := term.Table{Columns: []term.Column{term.Whole("ADDRESS"), term.Left("COUNTRY"), term.Left("AS"), term.Left("NAME"), term.Left("BY")}, Spare: []string{"BY", "NAME"}}
	for _, addr := range addrs {
		a := locator.Explain(addr)
		asn, by := term.None, says(a.CountryFrom)
		if a.ASN != 0 {
			asn = fmt.Sprintf("AS%d", a.ASN)
		}
		if other := says(a.ASNFrom); other != by {
			by = strings.Trim(by+"; "+other, "; ")
		}
		if a.Unrouted && by == "" {
			by = "an address that leads to no one place on the internet"
		}
		t.Add(addr, cmp.Or(a.Country, term.None), asn, a.Name, by)
	}
	t.Write(g.out)
	return nil
}

// says is a source, with its date, for people; muster geo alone says who made it.
func says(s *geo.Source) string {
	switch {
	case s == nil:
		return ""
	case s.Built.IsZero():
		return s.Name
	case s.Path == "":
		return "Muster's table of " + s.Built.Format(time.DateOnly)
	case filepath.Dir(s.Path) == tablesFolder():
		return "the table fetched, of " + s.Built.Format(time.DateOnly)
	}
	return fmt.Sprintf("%s of %s", s.Name, s.Built.Format(time.DateOnly))
}

// addresses are those of the command line and of standard input.
func (g *places) addresses(args []string) (addrs []netip.Addr, err error) {
	for _, text := range args {
		if text != input.Standard {
			addr, err := parseAddress(text)
			if err != nil {
				return nil, hint.With(usageError(err), "names are not looked up: say the address")
			}
			addrs = append(addrs, addr)
			continue
		}
		lines := bufio.NewScanner(g.in)
		for n := 1; lines.Scan(); n++ {
			text := strings.TrimSpace(lines.Text())
			if text == "" || text[0] == '#' {
				continue
			}
			addr, err := parseAddress(text)
			if err != nil {
				return nil, hint.With(fmt.Errorf("line %d: %w", n, err), "a line is an address, or ADDRESS:PORT")
			}
			addrs = append(addrs, addr)
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("cannot read standard input: %w", hint.Reason(err))
		}
	}
	return addrs, nil
}

// parseAddress reads an address, with or without a port.
func parseAddress(text string) (netip.Addr, error) {
	if addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")); err == nil {
		return addr.Unmap().WithZone(""), nil
	}
	addr, err := netip.ParseAddrPort(text)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("%q is no address such as 192.0.2.1 or 2001:db8::1", text)
	}
	return addr.Addr().Unmap().WithZone(""), nil
}

// fetch keeps the newest release's tables if they are newer.
func (g *places) fetch(ctx context.Context) error {
	keys, err := release.ProjectKeys()
	if g.key != "" {
		if keys, err = release.ParseKeys(g.key); err != nil {
			return hint.With(usageError(err), "--key takes the second line of a minisign.pub")
		}
	}
	switch {
	case err != nil:
		return err
	case g.page == "":
		return hint.With(errors.New("this program was built from source, and was not told where the project has its releases"), "say --releases URL, and --key with the project's key")
	case keys.None():
		return hint.With(errors.New("this program was built without the project's key, and could not tell whose the tables are"), "say --key with the project's key")
	}
	if err := fetch.Check(g.page); err != nil {
		return hint.With(usagef("--releases: %v", err), "say the address below which the files are in latest/download/")
	}
	g.screen.Say("fetching tables of addresses from %s", g.page)
	news, err := tables.Update(ctx, fetch.Source{Page: g.page, Keys: keys}, tablesFolder())
	switch {
	case errors.Is(err, fetch.ErrWrong):
		return hint.With(err, "nothing was changed; look at the project's release page, and try again later")
	case err != nil:
		return hint.With(err, "nothing was changed; the tables that are here go on to serve")
	case len(news) == 0:
		fmt.Fprintln(g.out, "The newest release has no newer tables than those that are here.")
	}
	for _, s := range news {
		fmt.Fprintf(g.out, "%s of %s (%s)\n", s.Field, s.Built.Format(time.DateOnly), s.Name)
	}
	if len(news) > 0 {
		g.screen.Say("kept in %s; muster geo --forget takes them away", tablesFolder())
	}
	return nil
}

func (g *places) takeAway() error {
	there, err := tables.Forget(tablesFolder())
	switch {
	case err != nil:
		return err
	case !there:
		fmt.Fprintln(g.out, "There are no fetched tables: those that came with Muster serve.")
	default:
		fmt.Fprintln(g.out, "The fetched tables are gone: those that came with Muster serve again.")
	}
	return nil
}

func (g *places) listTables(l *geo.Locator, now time.Time) {
	t := term.Table{Columns: []term.Column{term.Whole("TABLE"), term.Left("OF"), term.Left("AGE"), term.Left("BY"), term.Left("FILE")}, Spare: []string{"FILE", "BY"}}
	for _, s := range l.Sources() {
		t.Add(s.Field, s.Built.Format(time.DateOnly), s.Age(now), s.Name, cmp.Or(s.Path, "in this program"))
	}
	t.Write(g.out)
}

// placeEntry is an address in the output of muster geo --json.
type placeEntry struct {
	Addr    netip.Addr `json:"addr"`
	Country string     `json:"country,omitempty"`
	ASN     uint32     `json:"asn,omitempty"`
	ASName  string     `json:"as_name,omitempty"`
	// CountryBy and ASNBy are the places in Tables of what says so; nil: the user's own
	// overrides, or nobody.
	CountryBy *int `json:"country_by,omitempty"`
	ASNBy     *int `json:"asn_by,omitempty"`
	// Unrouted: the internet does not route it to one place.
	Unrouted bool `json:"unrouted,omitempty"`
}

// tableEntry is a table there.
type tableEntry struct {
	Field geo.Field `json:"field"`
	Name  string    `json:"name"`
	Built time.Time `json:"built"`
	File  string    `json:"file,omitempty"`
}

func placesDocument(l *geo.Locator, addrs []netip.Addr) any {
	document := struct {
		Format string       `json:"format"`
		Tables []tableEntry `json:"tables"`
		Places []placeEntry `json:"places"`
	}{Format: "muster.places/1", Places: []placeEntry{}}
	sources := l.Sources()
	for _, s := range sources {
		document.Tables = append(document.Tables, tableEntry{s.Field, s.Name, s.Built, s.Path})
	}
	by := func(s *geo.Source) *int {
		if s == nil {
			return nil
		}
		if i := slices.Index(sources, *s); i >= 0 {
			return &i
		}
		return nil
	}
	for _, addr := range addrs {
		a := l.Explain(addr)
		document.Places = append(document.Places, placeEntry{addr, a.Country, a.ASN, a.Name, by(a.CountryFrom), by(a.ASNFrom), a.Unrouted})
	}
	return document
}
