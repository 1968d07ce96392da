package cli

import (
	"cmp"
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/discovery"
	"muster/discovery/geo"
	"muster/discovery/lists/master"
	"muster/discovery/names"
	"muster/discovery/plan"
	"muster/discovery/prober"
	"muster/discovery/regions"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/input"
	"muster/internal/listing"
	"muster/internal/lobby"
	"muster/internal/option"
	"muster/internal/venue"
	"muster/peer"
	"muster/selection"
	"muster/selection/rules"
)

// consent is the user's answer to something that Muster does only after a yes.
type consent string

const (
	notAsked  consent = ""
	consented consent = "true"
	declined  consent = "false"
)

// given returns a closed channel if the user has said yes, and nil otherwise.
func (c consent) given() <-chan struct{} {
	if c != consented {
		return nil
	}
	yes := make(chan struct{})
	close(yes)
	return yes
}

// completeGame returns the IDs of all games, for the shell.
func (p *program) completeGame() (ids []string, _ cobra.ShellCompDirective) {
	games, err := p.games()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	for _, g := range games.All() {
		ids = append(ids, g.ID+"\t"+g.Name)
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// gameFlag adds the flag that names the game, with completion.
func (p *program) gameFlag(cmd *cobra.Command, id *string) {
	cmd.Flags().StringVar(id, "game", "", "the game, by `ID` (muster games lists them)")
	cmd.RegisterFlagCompletionFunc("game", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return p.completeGame()
	})
}

func (p *program) bindSettings(cmd *cobra.Command, s *wire.Settings, in wire.Section) {
	flags := cmd.Flags()
	for _, row := range wire.Table() {
		if row.Section != in {
			continue
		}
		switch to := row.Of(s).(type) {
		case *bool:
			flags.BoolVar(to, row.Flag, *to, row.Usage)
		case *wire.Decision:
			option.YesNo(flags, to, row.Flag, row.Usage)
		case *int:
			flags.IntVar(to, row.Flag, *to, row.Usage)
		case **int:
			flags.Var(option.Number(to), row.Flag, row.Usage)
		case *wire.Limits:
			flags.Var(option.Pings((*[]time.Duration)(to)), row.Flag, row.Usage+option.InMillis)
		case *discovery.Millis:
			parse, usage := option.ParseTime, row.Usage
			if row.Unit == "ms" {
				parse, usage = option.ParsePing, row.Usage+option.InMillis
			}
			flags.Var(option.New("DURATION", "", func(text string) error {
				d, err := parse(text)
				if err != nil {
					return err
				}
				*to = discovery.Millis(d)
				return row.CheckTime(d)
			}), row.Flag, usage)
			if flag := flags.Lookup(row.Flag); row.Alone != "" {
				flag.NoOptDefVal = row.Alone
				// Like --long-look[=30s]: after a word, people would type a blank.
				flag.Usage = strings.ReplaceAll(row.Usage, "`", "") + "``"
			}
		case *wire.Law:
			flags.Var(option.New("NAME|FILE", "", func(text string) (err error) {
				to.Law, err = p.law(text)
				return err
			}), row.Flag, row.Usage)
		case *selection.Rule:
			option.Word(cmd, to, row.Flag, *to, selection.Rules(), row.Usage)
		case *string:
			switch {
			case row.Choices != nil:
				known := slices.DeleteFunc(slices.Clone(row.Choices), func(word string) bool { return word == "" })
				option.Word(cmd, to, row.Flag, *to, known, row.Usage)
				flags.Lookup(row.Flag).NoOptDefVal = row.Alone
			case row.IsWhole():
				flags.StringVar(to, row.Flag, *to, row.Usage)
			default: // the page takes it this way
				flags.Var(option.New("", *to, func(text string) error { *to = discovery.CleanText(text); return nil }), row.Flag, row.Usage)
			}
		}
	}
}

// wantsEquals refuses a value that is separated by a blank from a flag with an optional one. It would
// be taken for the name of a game.
func wantsEquals(cmd *cobra.Command, args []string) (err error) {
	for _, arg := range args {
		_, bad := time.ParseDuration(arg)
		for _, row := range wire.Table() {
			isValue := row.Choices == nil && bad == nil || slices.Contains(row.Choices, arg)
			if row.Alone != "" && isValue && err == nil && cmd.Flags().Changed(row.Flag) {
				err = hint.With(usagef("%q stands alone: the value of --%s follows a =", arg, row.Flag), fmt.Sprintf("say --%s=%s", row.Flag, arg))
			}
		}
	}
	return err
}

// bindSources adds the flags for where the server list comes from.
func (p *program) bindSources(cmd *cobra.Command, s *listing.Sources) {
	p.bindLists(cmd.Flags(), s)
	option.Word(cmd, &s.LAN, "lan", listing.Auto, []listing.LAN{listing.Auto, listing.On, listing.Off},
		"look for servers on the local network, too (auto: unless --master or --servers says where they are)")
	s.User = p.steam().User
}

// bindLists adds those flags that do not depend on the local network or on this machine's user.
func (p *program) bindLists(flags *pflag.FlagSet, s *listing.Sources) {
	s.In, s.LAN, s.User, s.Cache = p.in, listing.Off, p.steam().Machine, master.Cache(filepath.Join(xdg.CacheHome, "muster", "lists"))
	flags.StringArrayVar(&s.Masters, "master", nil, "ask this `HOST[:PORT]` for servers (repeatable; default: the game's own)")
	flags.StringArrayVar(&s.Files, "servers", nil, "read servers from `FILE`, - is standard input (repeatable)")
	s.Places.Tables = tablesFolder()
	bindPlaces(flags, &s.Places)
}

// bindPlaces adds the flags for the user's own databases of addresses.
func bindPlaces(flags *pflag.FlagSet, o *geo.Options) {
	flags.StringVar(&o.CountryDB, "country-db", "", "country database, `FILE.mmdb` (default: the table that Muster has)")
	flags.StringVar(&o.ASDB, "as-db", "", "origin AS database, `FILE.mmdb` (default: the table that Muster has)")
	flags.StringVar(&o.Overrides, "geo-overrides", "", "your own places, `FILE` with lines prefix,country,asn")
}

// bindLaunch adds the flags for how a player gets into the game.
func bindLaunch(cmd *cobra.Command, l *game.Launcher) {
	option.Word(cmd, &l.Starts, "launch", game.StartAsk, []game.Starts{game.StartAsk, game.StartAuto, game.StartNever},
		"start the game at the end")
	cmd.Flags().StringVar(&l.Command, "launch-command", "", "start the game with this `TEMPLATE`, such as \"openarena +connect {address}\"")
	cmd.Flags().StringVar(&l.Version, "game-version", "", "the `VERSION` that you have of the game: servers are told of, "+
		"and left out, that do not let it in (default: that of your games.toml)")
}

// checkLaunch refuses a template that cannot work, before anybody waits for it.
func checkLaunch(l *game.Launcher) error {
	if err := l.Check(); err != nil {
		return usagef("--launch-command: %s", hint.Plain(err))
	}
	return nil
}

// tuning returns a flag for the strategies' thresholds, such as spread=60ms,members=20.
func tuning(o *discovery.PlanOptions) option.Value {
	return option.New("NAME=VALUE,...", "", option.Each(func(part string) error { return plan.Tune(o, part) }))
}

// probing holds the flags for how servers are asked.
type probing struct {
	prober.Options
	lobby.Asking
	// memory says that the program uses and keeps what rooms measured from this computer.
	memory bool
	// regions is the file with what the player's game prints about its regions.
	regions string
}

// bindRoom adds the flags that only rooms need.
func (o *probing) bindRoom(flags *pflag.FlagSet) {
	flags.BoolVar(&o.memory, "memory", true, "look first where servers were near before, and remember what this room measures, "+
		"in a file on your computer")
	flags.StringVar(&o.regions, "regions", "", "take your pings from `FILE`, where you pasted what the game prints about its "+
		"regions (muster games ID says how); - is standard input")
}

// readRegions reads the file of --regions. "-" is in.
func (o *probing) readRegions(in io.Reader) error {
	if o.regions == "" {
		return nil
	}
	f, err := input.Open(o.regions, in)
	if err != nil {
		return hint.Say("list.unread", "file", input.Name(o.regions), "why", hint.Reason(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, regions.MaxDump+1))
	if err == nil {
		o.Pings, err = regions.ParseDump(string(text))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", input.Name(o.regions), err)
	}
	return nil
}

func (o *probing) bind(flags *pflag.FlagSet) {
	flags.Float64Var(&o.Rate, "rate", prober.DefaultRate, "ask `N` new servers a second; more may overflow a home router")
	flags.IntVar(&o.InFlight, "in-flight", prober.DefaultInFlight, "at most `N` servers asked and not yet answered")
	flags.IntVar(&o.Retries, "retries", prober.DefaultRetries, "ask up to `N` times more where no reply comes")
	flags.DurationVar(&o.Timeout, "timeout", prober.DefaultTimeout, "`DURATION` of silence that counts as no reply")
	flags.Var(option.New("IP", "", func(text string) (err error) {
		if o.LocalAddr, err = netip.ParseAddr(text); err != nil {
			return fmt.Errorf("%q is not an IP address", text)
		}
		return nil
	}), "listen-addr", "ask from this `IP` of the machine")
	flags.IntVar(&o.Discreet, "discreet", 0, "show your address to at most `N` servers in a round, however many the others ask; 0 is no bound")
}

func (o *probing) check() error {
	switch {
	case !(o.Rate > 0):
		return usagef("--rate %v: at least one server has to be asked now and then", o.Rate)
	case o.InFlight < 1:
		return usagef("--in-flight %d: at least one server has to be under way", o.InFlight)
	case o.Retries < 0:
		return usagef("--retries %d is below 0", o.Retries)
	case o.Discreet < 0 || o.Discreet > 0 && o.Discreet < wire.MinDiscreet:
		return usagef("--discreet %d: say %d or more, or nothing could be chosen with you", o.Discreet, wire.MinDiscreet)
	case o.Timeout <= 0:
		return usagef("--timeout %v: a reply needs some time", o.Timeout)
	}
	return nil
}

// prober returns a prober that follows the flags.
func (o *probing) prober(
	p *program, protocol discovery.Protocol, by names.Resolver, rests func(time.Duration),
) (*prober.Prober, error) {
	if o.Allowance == nil {
		o.Allowance = cmp.Or(p.allowance, prober.NewAllowance()) // shared by all games that this program asks for
	}
	options := o.Options
	options.Protocol, options.Names, options.Rests, options.Logger = protocol, by, rests, p.logger()
	if o.Retries == 0 {
		options.Retries = -1 // the prober's zero is its default
	}
	return prober.New(options)
}

// asking returns how a player's program asks servers, following the flags.
func (p *program) asking(o *probing) lobby.Asking {
	o.Prober = func(protocol discovery.Protocol, by names.Resolver, rests func(time.Duration)) (peer.Prober, error) {
		return o.prober(p, protocol, by, rests)
	}
	o.IsElsewhere, o.Forgets = o.LocalAddr.IsValid(), !o.memory
	return o.Asking
}

// planning holds the flags for the order in which servers are asked, and for when to stop.
type planning struct {
	strategy discovery.Strategy
	options  discovery.PlanOptions
}

func (o *planning) bindNear(flags *pflag.FlagSet) {
	flags.Var(option.Ping(&o.options.MaxRTT, 200*time.Millisecond), "max-rtt", "the `PING` over which a server is not near"+option.InMillis)
	flags.IntVar(&o.options.Nearest, "nearest", 0, "look for the `N` nearest servers instead of all near ones (adaptive)")
}

// bindOrder adds the other flags.
func (o *planning) bindOrder(cmd *cobra.Command) {
	flags := cmd.Flags()
	option.Word(cmd, &o.strategy, "strategy", discovery.Adaptive, discovery.Strategies(), "order of probing")
	option.Word(cmd, &o.options.AutoStop, "auto-stop", discovery.StopDefault, discovery.AutoStops(), "when to stop (default: the strategy's)")
	flags.IntVar(&o.options.Window, "window", 100, "replies, `N`, that auto-stop looks back on")
	flags.Var(tuning(&o.options), "tune", "thresholds of the strategies (muster simulate --help lists them)")
	flags.Uint64Var(&o.options.Seed, "seed", 1, "the same `SEED` and replies give the same order")
}

// check refuses flags that no plan can be made from.
func (o *planning) check() error {
	switch {
	case o.options.Nearest < 0:
		return usagef("--nearest %d is below 0", o.options.Nearest)
	case o.options.Nearest > 0 && o.strategy != discovery.Adaptive:
		return hint.With(usagef("--nearest is for the adaptive strategy, not for %s", o.strategy), "leave out --strategy")
	case o.options.MaxRTT <= 0:
		return usagef("--max-rtt %v: no server is that near", o.options.MaxRTT)
	case o.options.Window < 1:
		return usagef("--window %d: auto-stop looks at one reply at least", o.options.Window)
	}
	return nil
}

// bindAsked adds the flags for what servers must offer: those named in only, or all.
func bindAsked(flags *pflag.FlagSet, to *selection.Wishes, when string, only ...string) {
	for _, row := range selection.Asked() {
		if len(only) > 0 && !slices.Contains(only, row.Flag) {
			continue
		}
		switch to := row.Of(to).(type) {
		case *string:
			flags.StringVar(to, row.Flag, "", when+row.Usage)
		case *bool:
			flags.BoolVar(to, row.Flag, false, when+row.Usage)
		case **int:
			flags.Var(option.Number(to), row.Flag, when+row.Usage)
		}
	}
}

// needsLimit refuses a rule that needs a limit and has none.
func needsLimit(rule selection.Rule, limits []time.Duration) error {
	if rules.Of(rule).NeedsLimit && len(limits) == 0 {
		return hint.With(usagef("--by %s needs a limit", rule), "say what is too much, such as --max-rtt 150ms, or a ladder, "+
			"--max-rtt 100ms,150ms")
	}
	return nil
}

// placesFlag is the flag of candidate places, and their key in the table of settings.
const placesFlag = "places"

// bindVenues adds the flag that says which candidate places there are. standard says what holds without it.
func (p *program) bindVenues(cmd *cobra.Command, to *wire.Venues, standard string) {
	cmd.Flags().Var(option.New("FILE", "", func(text string) error {
		places, err := venue.Choose(cmd.Context(), *to, text, p.in)
		if err == nil {
			*to = places
		}
		return err
	}), placesFlag, "places where you could have a server, one a line of `FILE`: NAME, ADDRESS[, PROTOCOL]; the word builtin "+
		"stands for those of muster places, and none for no place (repeatable; "+standard+")")
}
