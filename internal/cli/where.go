package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/discovery/names"
	"muster/discovery/prober"
	"muster/host/wire"
	"muster/internal/hint"
	"muster/internal/option"
	"muster/internal/term"
	"muster/internal/userfile"
	"muster/internal/venue"
)

// placesFormat names the form in which places are printed as JSON.
const placesFormat = "muster.places/1"

// placeRow is a place in that form.
type placeRow struct {
	Name     string           `json:"name"`
	Provider string           `json:"provider"`
	Region   string           `json:"region"`
	Country  string           `json:"country"`
	State    discovery.State  `json:"state"`
	RTT      discovery.Millis `json:"rtt_ms,omitzero"`
}

// writePlaces prints places as JSON.
func writePlaces(to io.Writer, rows []placeRow) error {
	return json.NewEncoder(to).Encode(struct {
		Format string     `json:"format"`
		Places []placeRow `json:"places"`
	}{placesFormat, rows})
}

// listPlaces is the command that lists the built-in places.
type listPlaces struct {
	*program
	asJSON bool
}

func newPlaces(p *program) *cobra.Command {
	l := &listPlaces{program: p}
	cmd := &cobra.Command{
		GroupID: toLook,
		Use:     "places",
		Short:   "Machines of providers that anybody may time",
		Long: `Places lists the machines that come with Muster: one or more of a provider in a
city, documented for measurements by everybody or offered for trying the network.
muster where, and rooms that look for a place, ask one in each city, and only
after a yes. Your own list is another matter: --places FILE; see docs/places.md.`,
		Example: `  muster places
  muster places --json | jq -r '.places[] | select(.country == "DE") | .provider'`,
		RunE: func(*cobra.Command, []string) error { return l.run() },
	}
	cmd.Flags().BoolVar(&l.asJSON, "json", false, "print the list as JSON")
	return cmd
}

func (l *listPlaces) run() error {
	machines := venue.Table()
	if l.asJSON {
		rows := []placeRow{}
		for _, m := range machines {
			rows = append(rows, placeRow{Name: m.City, Provider: m.Offer.Provider, Region: m.Offer.Region, Country: m.Country})
		}
		return writePlaces(l.out, rows)
	}
	table := term.Table{
		Columns: []term.Column{term.Left("Place"), term.Left("Country"), term.Left("Provider"), term.Left("Region"), term.Left("Asked by"), term.Left("Seen")},
		Spare:   []string{"Seen", "Asked by"},
	}
	for _, m := range machines {
		by := []string{}
		for _, way := range [][2]string{{"HTTPS", m.URL}, {"TCP", m.TCP}, {"UDP", m.UDP}} {
			if way[1] != "" {
				by = append(by, way[0])
			}
		}
		table.Add(m.City, m.Country, m.Offer.Provider, m.Offer.Region, strings.Join(by, ", "), m.Seen)
	}
	table.Write(l.out)
	l.screen.Say("%s in %s, as of %s", term.Count(len(machines), "machine"), term.Count(len(venue.Builtin()), "place"), venue.ReadAt)
	return nil
}

// whereCommand is the command that measures places for one person.
type whereCommand struct {
	*program
	game        string
	probing     probing
	places      wire.Venues
	yes, asJSON bool
}

func newWhere(w *whereCommand) *cobra.Command {
	p := w.program
	cmd := &cobra.Command{
		GroupID: toLook,
		Use:     "where [GAME]",
		Short:   "Where a server of your own would be near you",
		Long: `Where asks machines of providers in many places, and says where a server would
have the lowest ping for you. It asks first those far apart, and then the
neighbours of the best. They see your address, so it says how many of which
providers, and asks before.

For a group: muster host GAME --places builtin.`,
		Example: `  muster where
  muster where valheim --places our-places.txt
  muster where --yes --json`,
		Args: oneGame,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed(placesFlag) {
				w.places = venue.Builtin()
			}
			if len(args) > 0 || w.game != "" {
				var err error
				if w.game, err = p.pickGame(cmd.Context(), w.game, args); err != nil {
					return err
				}
			}
			return w.run(cmd.Context())
		},
	}
	flags, section := cmd.Flags(), option.Sections(cmd)
	section("What you look for")
	p.gameFlag(cmd, &w.game)
	p.bindVenues(cmd, &w.places, "default: builtin")
	flags.BoolVar(&w.yes, "yes", false, "the providers may see your address: do not ask")
	section("What is shown")
	flags.BoolVar(&w.asJSON, "json", false, "print the places as JSON, the best first")
	section("How places are asked")
	w.probing.bind(flags)
	retries := flags.Lookup("retries") // each place is asked some times anyway
	w.probing.Retries, retries.DefValue = 0, "0"
	section("Other")
	return cmd
}

func (w *whereCommand) run(ctx context.Context) error {
	if err := w.probing.check(); err != nil {
		return err
	}
	able, most := venue.Asks(w.places, w.probing.Discreet)
	if most == 0 {
		return hint.With(usagef("there are no places to ask"), "leave out --places none, or name a file with places")
	}
	if isAllowed, err := w.consents(ctx, able); !isAllowed {
		return err
	}
	visits, err := userfile.State("places-asked.json")
	if err != nil {
		return err
	}
	search := venue.Search{
		Visits: visits,
		Places: able, Most: most,
		Ask: func(by discovery.Protocol) (*prober.Prober, error) {
			return w.probing.prober(w.program, by, names.Resolver{}, nil)
		},
		Told: func(asked int) { w.screen.Say("%d of %d places asked", asked, most) },
	}
	found, err := search.Run(ctx)
	if err != nil {
		return err
	}
	for _, name := range found.Near {
		w.screen.Say("%s", w.screen.Wrap(name+" answers nearer than light could: left out, because many machines, or one elsewhere, "+
			"answer for it", 0))
	}
	if found.Remembered > 0 {
		w.screen.Say("%s", w.screen.Wrap(term.Count(found.Remembered, "place")+" not asked again, because nobody should ask one more "+
			"than eight times an hour: what they answered last counts", 0))
	}
	if found.IsProxied {
		w.screen.Say("%s", w.screen.Wrap("these pings cannot be true: places far apart answer as if they were next door, so "+
			"something on your line answers for them, such as a proxy or a VPN. Try again without it", 0))
	}
	if w.asJSON {
		if err := writePlaces(w.out, rowsOf(found.Results)); err != nil {
			return err
		}
	} else {
		tableOf(found.Results).Write(w.out)
	}
	if len(found.Results) == 0 || found.Results[0].RTT == 0 {
		return hint.With(fmt.Errorf("%w: none of %d places answered", errNothing, len(found.Results)),
			"is there a firewall that lets only browsers out? muster doctor looks")
	}
	return nil
}

func (w *whereCommand) consents(ctx context.Context, places wire.Venues) (bool, error) {
	if w.yes {
		return true, nil
	}
	exposed := venue.Exposure(places, w.probing.Discreet) + " will see your address"
	if !w.isAsked() {
		return false, hint.With(usagef("%s", exposed), "say --yes if they may")
	}
	w.screen.Say("%s", w.screen.Wrap(exposed, 0))
	console := w.desk().Console(w.in, func() {})
	answer, ok := console.Ask(ctx, "Measure? [Y/n] ")
	return ok && w.screen.Yes(answer), nil
}

// offered returns the provider and region of the machine that was asked, both empty if nobody says.
func offered(v wire.Venue) wire.Offer {
	if len(v.Offers) == 0 {
		return wire.Offer{}
	}
	return v.Offers[0]
}

func rowsOf(results []venue.Result) []placeRow {
	rows := []placeRow{}
	for _, r := range results {
		by := offered(r.Place)
		rows = append(rows, placeRow{r.Place.Name, by.Provider, by.Region, r.Place.Country, r.State, discovery.Millis(r.RTT)})
	}
	return rows
}

func tableOf(results []venue.Result) *term.Table {
	table := &term.Table{Columns: []term.Column{term.Left("Place"), term.Left("Provider"), term.Right("Ping")}}
	for _, r := range results {
		by, ping := offered(r.Place), "no answer"
		if r.RTT > 0 {
			ping = fmt.Sprintf("%.0f ms", float64(r.RTT)/float64(time.Millisecond))
		}
		table.Add(r.Place.Name, strings.TrimSpace(by.Provider+" "+by.Region), ping)
	}
	return table
}
