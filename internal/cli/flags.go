package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/discovery"
	"muster/discovery/geo"
	"muster/discovery/lists/master"
	"muster/discovery/plan"
	"muster/discovery/prober"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/listing"
	"muster/internal/lobby"
	"muster/peer"
	"muster/selection"
	"muster/selection/rules"
)

// value is a flag of a kind of our own.
type value struct {
	kind, standard string
	set            func(text string) error
}

func (v value) String() string        { return v.standard }
func (v value) Type() string          { return v.kind }
func (v value) Set(text string) error { return v.set(text) }

// each sets every part of a text with commas.
func each(set func(part string) error) func(string) error {
	return func(text string) error {
		for part := range strings.SplitSeq(text, ",") {
			if err := set(strings.TrimSpace(part)); err != nil {
				return err
			}
		}
		return nil
	}
}

// consent is what the user has said to something that Muster does only after a yes.
type consent string

const (
	notAsked  consent = ""
	consented consent = "true"
	declined  consent = "false"
)

// given is closed if the user has said yes, and nil if not.
func (c consent) given() <-chan struct{} {
	if c != consented {
		return nil
	}
	yes := make(chan struct{})
	close(yes)
	return yes
}

// bindYesNo adds a flag that says yes alone, and no with =false; without it neither is
// said.
func bindYesNo[W ~string](flags *pflag.FlagSet, to *W, name, help string) {
	flags.Var(value{"bool", "", func(text string) error {
		yes, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		*to = W(strconv.FormatBool(yes))
		return nil
	}}, name, help)
	flags.Lookup(name).NoOptDefVal = "true"
}

// bindWord adds a flag for one of some words, with completion. The words stand
// in its help.
func bindWord[W ~string](cmd *cobra.Command, to *W, name string, standard W, known []W, help string) {
	*to = standard
	bindKnown(cmd, value{"WORD", string(standard), func(text string) error {
		w, err := oneOf(known, text)
		if err == nil {
			*to = w
		}
		return err
	}}, name, texts(known), help)
}

// bindWords adds a flag for several of some words, with completion. What is given
// replaces the standard.
func bindWords[W ~string](cmd *cobra.Command, to *[]W, name string, standard []W, known []W, help string) {
	*to = standard
	isGiven := false
	bindKnown(cmd, value{"WORD,...", strings.Join(texts(standard), ","), each(func(part string) error {
		if !isGiven {
			isGiven, *to = true, nil
		}
		w, err := oneOf(known, part)
		*to = append(*to, w)
		return err
	})}, name, texts(known), help)
}

func bindKnown(cmd *cobra.Command, v value, name string, known []string, help string) {
	cmd.Flags().Var(v, name, help+": "+strings.Join(known, ", "))
	completeWords(cmd, name, known)
}

func completeWords(cmd *cobra.Command, flag string, list []string) {
	complete := cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(fmt.Sprintf("cli: completion of --%s: %v", flag, err)) // the flag was added just before
	}
}

func oneOf[W ~string](known []W, text string) (W, error) {
	if !slices.Contains(known, W(text)) {
		return "", fmt.Errorf("%q is none of %s", text, strings.Join(texts(known), ", "))
	}
	return W(text), nil
}

func texts[W ~string](list []W) []string {
	text := make([]string, len(list))
	for i, w := range list {
		text[i] = string(w)
	}
	return text
}

// pings is a flag of one or more pings, separated by commas.
func pings(to *[]time.Duration) value {
	return value{"PING,...", "", each(func(part string) error {
		d, err := parsePing(part)
		if err != nil {
			return err
		}
		*to = append(*to, d)
		return nil
	})}
}

// aPing is a flag of one ping.
func aPing(to *time.Duration, standard time.Duration) value {
	*to = standard
	return value{"PING", standard.String(), func(text string) (err error) {
		*to, err = parsePing(text)
		return err
	}}
}

// inMillis is what the help of such flags says.
const inMillis = "; a plain number is in milliseconds"

// parsePing reads a ping as players say it: a plain number is in milliseconds.
func parsePing(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if strings.Trim(text, "0123456789.") == "" {
		text += "ms"
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no ping such as 150, 150ms or 1.5s", strings.TrimSuffix(text, "ms"))
	}
	return d, nil
}

// parseTime reads a time that is no ping, such as how long to wait.
func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration such as 30s or 15m", text)
	}
	return d, nil
}

// weights is a flag of players and what they count, such as ann=2,bob=0.5.
func weights(to *map[string]float64) value {
	return value{"NAME=2,...", "", each(func(part string) error {
		at := strings.LastIndex(part, "=")
		if at < 1 {
			return fmt.Errorf("%q is not NAME=WEIGHT", part)
		}
		weight, err := strconv.ParseFloat(part[at+1:], 64)
		if err != nil || !selection.ValidWeight(weight) {
			return fmt.Errorf("the weight in %q is neither 0 nor a number from %v to %d", part, selection.MinWeight, selection.MaxWeight)
		}
		if *to == nil {
			*to = make(map[string]float64)
		}
		(*to)[strings.TrimSpace(part[:at])] = weight
		return nil
	})}
}

// networks is a flag of networks; an address is a network of one.
func networks(to *[]netip.Prefix) value {
	return value{"ADDRESS,…", "", each(func(part string) error {
		network, err := netip.ParsePrefix(part)
		if addr, isAddr := netip.ParseAddr(part); isAddr == nil {
			network, err = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
		}
		if err != nil {
			return fmt.Errorf("%q is neither an address nor a network such as 192.0.2.0/24", part)
		}
		*to = append(*to, network)
		return nil
	})}
}

// flagError says what is wrong with a flag in words for people who do not know
// Go's.
func flagError(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	dashed := func(name string) string {
		if len(name) == 1 {
			return "-" + name
		}
		return "--" + name
	}
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		err = fmt.Errorf("unknown flag %s", dashed(name))
		if like := flagLike(cmd, name); like != "" {
			return hint.With(usageError(err), fmt.Sprintf("did you mean --%s?", like))
		}
	case errors.As(err, &missing):
		err = fmt.Errorf("%s needs a value", dashed(missing.GetSpecifiedName()))
	case errors.As(err, &invalid):
		err = fmt.Errorf("--%s: %w", invalid.GetFlag().Name, unsuitable(invalid))
	}
	if reason := syscall.Errno(0); errors.As(err, &reason) {
		return err // as the flags are right, and a file is not
	}
	return hint.With(usageError(err), cmd.CommandPath()+" --help lists the flags")
}

// flagLike is the flag of a command that somebody may have meant by a word, empty if none is
// like it: what cobra would suggest if flags were commands.
func flagLike(cmd *cobra.Command, word string) string {
	var all cobra.Command
	all.SuggestionsMinimumDistance = 2
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			all.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	if like := all.SuggestionsFor(word); len(word) > 2 && len(like) > 0 {
		return like[0]
	}
	return ""
}

// unsuitable is why a flag does not take a value.
func unsuitable(invalid *pflag.InvalidValueError) error {
	switch given := invalid.GetValue(); invalid.GetFlag().Value.Type() {
	case "duration":
		return fmt.Errorf("%q is no duration such as 150ms or 1.5s", given)
	case "int", "uint16", "uint64":
		return fmt.Errorf("%q is no whole number that makes sense here", given)
	case "float64":
		return fmt.Errorf("%q is no number", given)
	case "bool":
		return fmt.Errorf("%q is neither true nor false", given)
	}
	return errors.Unwrap(invalid)
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

// gameFlag is the flag that names the game, with completion.
func (p *program) gameFlag(cmd *cobra.Command, id *string) {
	cmd.Flags().StringVar(id, "game", "", "the game, by `ID` (muster games lists them)")
	cmd.RegisterFlagCompletionFunc("game", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return p.completeGame()
	})
}

// bindSettings adds the flags that say what the group wants.
func bindSettings(cmd *cobra.Command, s *wire.Settings) {
	flags := cmd.Flags()
	for _, row := range wire.Table() {
		if row.Flag == "" {
			continue
		}
		switch to := row.Of(s).(type) {
		case *bool:
			flags.BoolVar(to, row.Flag, *to, row.Usage)
		case *wire.Decision:
			bindYesNo(flags, to, row.Flag, row.Usage)
		case *int:
			flags.IntVar(to, row.Flag, *to, row.Usage)
		case **int:
			flags.Var(number(to), row.Flag, row.Usage)
		case *wire.Limits:
			flags.Var(pings((*[]time.Duration)(to)), row.Flag, row.Usage+inMillis)
		case *discovery.Millis:
			parse, usage := parseTime, row.Usage
			if row.Unit == "ms" {
				parse, usage = parsePing, row.Usage+inMillis
			}
			flags.Var(value{"DURATION", "", func(text string) error {
				d, err := parse(text)
				if err != nil {
					return err
				}
				*to = discovery.Millis(d)
				return row.CheckTime(d)
			}}, row.Flag, usage)
			if flag := flags.Lookup(row.Flag); row.Alone != "" {
				flag.NoOptDefVal = row.Alone
				flag.Usage = strings.ReplaceAll(row.Usage, "`", "") + "``" // as in --long-look[=30s]: with a word before it people would type a blank
			}
		case *selection.Rule:
			bindWord(cmd, to, row.Flag, *to, selection.Rules(), row.Usage)
		case *string:
			switch {
			case row.Words != nil:
				bindWord(cmd, to, row.Flag, *to, row.Words, row.Usage)
			case row.IsWhole():
				flags.StringVar(to, row.Flag, *to, row.Usage)
			default: // as the page takes it
				flags.Var(value{"", *to, func(text string) error { *to = discovery.CleanText(text); return nil }}, row.Flag, row.Usage)
			}
		}
	}
}

// wantsEquals refuses a time that stands behind a flag that needs none, apart from it: it
// would be the name of a game.
func wantsEquals(cmd *cobra.Command, args []string) (err error) {
	for _, arg := range args {
		if _, bad := time.ParseDuration(arg); bad != nil {
			continue
		}
		for _, row := range wire.Table() {
			if row.Alone != "" && err == nil && cmd.Flags().Changed(row.Flag) {
				err = hint.With(usagef("%q stands alone: the time of --%s follows a =", arg, row.Flag), fmt.Sprintf("say --%s=%s", row.Flag, arg))
			}
		}
	}
	return err
}

// bindSources adds the flags that say where the server list comes from.
func (p *program) bindSources(cmd *cobra.Command, s *listing.Sources) {
	p.bindLists(cmd.Flags(), s)
	bindWord(cmd, &s.LAN, "lan", listing.Auto, []listing.LAN{listing.Auto, listing.On, listing.Off}, "look for servers on the local network, too (auto: unless --master or --servers says where they are)")
	s.User = p.steam().User
}

// bindLists adds those of them that have nothing to do with the local network and with
// the user of this machine.
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

// bindLaunch adds the flags that say how a player gets into the game.
func bindLaunch(cmd *cobra.Command, l *game.Launcher) {
	bindWord(cmd, &l.Starts, "launch", game.StartAsk, []game.Starts{game.StartAsk, game.StartAuto, game.StartNever}, "start the game at the end")
	cmd.Flags().StringVar(&l.Command, "launch-command", "", "start the game with this `TEMPLATE`, such as \"openarena +connect {address}\"")
	cmd.Flags().StringVar(&l.Version, "game-version", "", "the `VERSION` that you have of the game: servers are told of, and left out, that do not let it in (default: that of your games.toml)")
}

// checkLaunch refuses a template that cannot work, before anybody waits for it.
func checkLaunch(l *game.Launcher) error {
	if err := l.Check(); err != nil {
		return usagef("--launch-command: %s", hint.Plain(err.Error()))
	}
	return nil
}

// tuning is a flag of the strategies' thresholds, such as spread=60ms,members=20.
func tuning(o *discovery.PlanOptions) value {
	return value{"NAME=VALUE,...", "", each(func(part string) error { return plan.Tune(o, part) })}
}

// probing are the flags that say how servers are asked.
type probing struct {
	prober.Options
	// discreet is how many servers may see the player's address, 0 for no bound.
	discreet int
}

func (o *probing) bind(flags *pflag.FlagSet) {
	flags.Float64Var(&o.Rate, "rate", prober.DefaultRate, "ask `N` new servers a second; more may overflow a home router")
	flags.IntVar(&o.InFlight, "in-flight", prober.DefaultInFlight, "at most `N` servers asked and not yet answered")
	flags.IntVar(&o.Retries, "retries", prober.DefaultRetries, "ask up to `N` times more where no reply comes")
	flags.DurationVar(&o.Timeout, "timeout", prober.DefaultTimeout, "`DURATION` of silence that counts as no reply")
	flags.Var(value{"IP", "", func(text string) (err error) {
		if o.LocalAddr, err = netip.ParseAddr(text); err != nil {
			return fmt.Errorf("%q is not an IP address", text)
		}
		return nil
	}}, "listen-addr", "ask from this `IP` of the machine")
	flags.IntVar(&o.discreet, "discreet", 0, "show your address to at most `N` servers in a round, however many the others ask; 0 is no bound")
}

func (o *probing) check() error {
	switch {
	case !(o.Rate > 0):
		return usagef("--rate %v: at least one server has to be asked now and then", o.Rate)
	case o.InFlight < 1:
		return usagef("--in-flight %d: at least one server has to be under way", o.InFlight)
	case o.Retries < 0:
		return usagef("--retries %d is below 0", o.Retries)
	case o.discreet < 0 || o.discreet > 0 && o.discreet < wire.LeastDiscreet:
		return usagef("--discreet %d: say %d or more, or nothing could be chosen with you", o.discreet, wire.LeastDiscreet)
	case o.Timeout <= 0:
		return usagef("--timeout %v: a reply needs some time", o.Timeout)
	}
	return nil
}

// prober asks servers as the flags say.
func (o *probing) prober(p *program, protocol discovery.Protocol, rests func(time.Duration)) (*prober.Prober, error) {
	if o.Allowance == nil {
		o.Allowance = cmp.Or(p.allowance, prober.NewAllowance()) // for all games that this program asks for
	}
	options := o.Options
	options.Protocol, options.Rests, options.Logger = protocol, rests, p.logger()
	if o.Retries == 0 {
		options.Retries = -1 // the prober's zero is its default
	}
	return prober.New(options)
}

// asking is how a player's program asks servers, as the flags say.
func (p *program) asking(o *probing) lobby.Asking {
	return lobby.Asking{
		Prober: func(protocol discovery.Protocol, rests func(time.Duration)) (peer.Prober, error) {
			return o.prober(p, protocol, rests)
		},
		IsElsewhere: o.LocalAddr.IsValid(), Discreet: o.discreet,
	}
}

// planning are the flags that say in which order servers are asked, and when
// that is enough.
type planning struct {
	strategy discovery.Strategy
	options  discovery.PlanOptions
}

func (o *planning) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	bindWord(cmd, &o.strategy, "strategy", discovery.Adaptive, discovery.Strategies(), "order of probing")
	flags.IntVar(&o.options.Nearest, "nearest", 0, "look for the `N` nearest servers instead of all near ones (adaptive)")
	flags.Var(aPing(&o.options.MaxRTT, 200*time.Millisecond), "max-rtt", "the `PING` over which a server is not near"+inMillis)
	bindWord(cmd, &o.options.AutoStop, "auto-stop", discovery.StopDefault, discovery.AutoStops(), "when to stop (default: the strategy's)")
	flags.IntVar(&o.options.Window, "window", 100, "replies, `N`, that auto-stop looks back on")
	flags.Var(tuning(&o.options), "tune", "thresholds of the strategies (muster simulate --help lists them)")
	flags.Uint64Var(&o.options.Seed, "seed", 1, "the same `SEED` and replies give the same order")
}

// check refuses what no plan can be made of.
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

// bindRule adds the flag for the rule of the choice.
func bindRule(cmd *cobra.Command, rule *selection.Rule, standard selection.Rule, help string) {
	bindWord(cmd, rule, "by", standard, selection.Rules(), help)
}

// bindLimits adds the flag for the limits of the choice.
func bindLimits(flags *pflag.FlagSet, limits *[]time.Duration) {
	flags.Var(pings(limits), "max-rtt", "nobody may have a ping over this; of several the strictest that can be kept holds"+inMillis)
}

// bindFilters adds the flags for the servers that are no choice, and for who counts
// how much.
func bindFilters(flags *pflag.FlagSet, c *selection.Criteria, when string) {
	bindAsked(flags, c, when, "map", "mode", "no-password")
	flags.Var(weights(&c.Weights), "weights", when+"players who count for more or less than 1")
}

// bindAsked adds the flags for what is asked of servers, all of them or only some.
func bindAsked(flags *pflag.FlagSet, c *selection.Criteria, when string, only ...string) {
	for _, row := range selection.Asked() {
		if len(only) > 0 && !slices.Contains(only, row.Flag) {
			continue
		}
		switch to := row.Of(c).(type) {
		case *string:
			flags.StringVar(to, row.Flag, "", when+row.Usage)
		case *bool:
			flags.BoolVar(to, row.Flag, false, when+row.Usage)
		case **int:
			flags.Var(number(to), row.Flag, when+row.Usage)
		}
	}
}

// number is a flag's number from 0 on, which may be missing.
func number(to **int) value {
	return value{"N", "", func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return fmt.Errorf("%q is no number from 0 on", text)
		}
		*to = &n
		return nil
	}}
}

// needsLimit refuses a rule about limits that has none.
func needsLimit(rule selection.Rule, limits []time.Duration) error {
	if rules.Of(rule).NeedsLimit && len(limits) == 0 {
		return hint.With(usagef("--by %s needs a limit", rule), "say what is too much, such as --max-rtt 150ms, or a ladder, --max-rtt 100ms,150ms")
	}
	return nil
}
