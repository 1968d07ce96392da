package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/checkup"
	"muster/internal/handout"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/option"
	"muster/internal/publichost"
	"muster/internal/term"
)

// serving is the command that runs a public host.
type serving struct {
	*program
	publichost.Settings
	log       string       // the format of the log
	plain     *term.Screen // standard error while the screen writes to the log; nil before that
	command   *cobra.Command
	checkOnly bool
	downloads handout.Options
}

func serveCommand(p *program) (*serving, *cobra.Command) {
	s := &serving{program: p}
	cmd := &cobra.Command{
		GroupID: toPlay,
		Use:     "serve",
		Short:   "Hold rooms for everybody",
		Long: `Serve holds rooms for whoever opens one: on its page, with muster host --at, or by
POST /api/rooms. The rooms survive a restart. docs/serve.md leads from nothing to
a public host.

Each flag can also stand in the table [serve] of ` + configFile("config.toml") + `,
with _ for -, or in the environment, as MUSTER_SERVE_MAX_ROOMS for --max-rooms.

muster serve rooms lists, explains, closes and moves the rooms of a running host, and
muster serve limits says which networks run into its limits. muster serve memory shows
what the host has learnt from its rooms of the distances between networks, and deletes
it.`,
		Example: `  muster serve --listen 127.0.0.1:7777 --trusted-proxy 127.0.0.1 --public-url https://muster.example
  muster serve --listen :443 --tls-cert cert.pem --tls-key key.pem --public-url https://muster.example
  muster serve --nats nats://10.0.0.1,nats://10.0.0.2,nats://10.0.0.3 --node host1 --public-url https://muster.example`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.command, s.Texts = cmd, option.TextsOf(cmd.Flags())
			if s.checkOnly {
				return s.checkConfig()
			}
			return s.run(cmd.Context())
		},
	}
	flags, section := cmd.Flags(), option.Sections(cmd)
	section("By what people reach it")
	flags.StringVar(&s.Listen, "listen", ":"+invite.DefaultPort, "`ADDRESS` to listen on")
	bindIngress(flags, &s.Ingress)
	flags.BoolVar(&s.Beacon, "beacon", true, "answer measurements by UDP at the port of --listen, as muster beacon does, so that "+
		"pages and programs know how far the host is")
	section("Encryption")
	s.bindEncryption(flags)
	section("Where rooms are kept")
	s.bindStore(flags)
	s.bindCluster(flags)
	flags.BoolVar(&s.Remembers, "memory", true, "learn from the rooms how far networks are from each other, without anybody's "+
		"address, so that later rooms ask fewer servers; muster serve memory shows and deletes it")
	section("What strangers may")
	s.bindLimits(flags)
	flags.BoolVar(&s.Webhooks, "webhooks", false, "post for rooms by webhooks that their organisers give: https only, "+
		"never into private networks, and so often an hour for a room and for a network")
	flags.StringVar(&s.Leagues, "leagues", "", "let leagues open rooms by keys, with limits of their own: `FILE` has a line "+
		"NAME KEY ROOMS for each; see docs/match.md")
	flags.StringVar(&s.Discord, "discord", "", "refused: muster-discord does it now, with its own `FILE`")
	flags.Lookup("discord").Hidden = true
	section("Places for rooms that look for one")
	p.bindVenues(cmd, &s.Venues, "default: none")
	section("What the page gives")
	bindDownloads(flags, &s.downloads)
	section("Where servers are listed")
	p.bindLists(flags, &s.Lists.Sources)
	section("The log, and the settings")
	s.log = "text"
	formats := []string{"text", "json"}
	option.Known(cmd, option.New("WORD", s.log, func(text string) error {
		format, err := option.OneOf(formats, text)
		if err == nil {
			s.logAs(format)
		}
		return err
	}), "log-format", formats, "how the log is written")
	flags.BoolVar(&s.checkOnly, checkOnly, false, "do not serve, but say what would keep the host from starting: all of it at once, "+
		"without changing or sending anything")
	section("Other")
	option.Record(flags)
	cmd.AddCommand(newServeMemory(p), newServeRooms(p), newServeLimits(p))
	return s, cmd
}

// bindStore adds the flags for the place of everything that a host keeps.
func (s *serving) bindStore(flags *pflag.FlagSet) {
	flags.StringVar(&s.Store, "store", "", "keep the rooms in `FILE` (default: rooms.db in the state folder)")
	flags.StringVar(&s.Cluster.URL, "nats", "", "keep the rooms in NATS JetStream at `URL`, several with commas between "+
		"them: many hosts share them then, and any of them takes anybody")
	flags.StringVar(&s.Cluster.Credentials, "nats-credentials", "", "the `FILE` of credentials that NATS asks for")
	flags.StringVar(&s.Cluster.CA, "nats-ca", "", "trust the authority in `FILE.pem` for NATS's certificate")
	flags.IntVar(&s.Cluster.Replicas, "replicas", 0, "keep everything on `N` of NATS's servers (default: on all, three at most)")
}

// bindCluster adds the flags for a host among several.
func (s *serving) bindCluster(flags *pflag.FlagSet) {
	flags.StringVar(&s.Cluster.Node, "node", "", "this host's `NAME` among those that share NATS, each its own (default: the machine's)")
	flags.StringVar(&s.Between, "cluster-listen", ":"+publichost.ClusterPort,
		"where the other hosts connect to this one: `ADDRESS`, on a network of yours; with a port alone they come to the "+
			"address at which NATS sees this host")
	flags.StringVar(&s.Import, "import", "", "do not serve, but take the rooms of `FILE`, a --store that is not served any "+
		"more, or a backup, over into NATS")
	flags.StringVar(&s.Export, "export", "", "do not serve, but write all rooms in NATS to `FILE`: a backup, or a --store for one host")
}

func (s *serving) bindEncryption(flags *pflag.FlagSet) {
	flags.StringVar(&s.Cert, "tls-cert", "", "encrypt with the certificate in `FILE.pem`, which may be renewed while the host runs")
	flags.StringVar(&s.Key, "tls-key", "", "the certificate's key, `FILE.pem`")
	flags.StringArrayVar(&s.ACME.Names, "acme", nil, "encrypt with a certificate for `NAME` from Let's Encrypt or another "+
		"authority that speaks ACME, and renew it (repeatable)")
	flags.BoolVar(&s.ACME.Accepts, "acme-accept-terms", false, "you accept that authority's terms")
	flags.StringVar(&s.ACME.Email, "acme-email", "", "where the authority sends warnings, `ADDRESS`")
	flags.StringVar(&s.ACME.Cache, "acme-cache", "", "keep account and certificates in `FOLDER` (default: acme in the state folder)")
	flags.StringVar(&s.ACME.Directory, "acme-directory", "", "the authority's `URL` (default: Let's Encrypt)")
	flags.StringVar(&s.ACME.CA, "acme-ca", "", "trust the certificate in `FILE.pem` for that URL")
}

// bindLimits adds the flags that limit strangers.
func (s *serving) bindLimits(flags *pflag.FlagSet) {
	flags.IntVar(&s.Public.Rooms, "max-rooms", publichost.RoomsAtAll, "hold at most `N` rooms")
	flags.IntVar(&s.Public.PerAddress, "rooms-per-address", publichost.RoomsByOne, "at most `N` of them opened from one address (IPv6: /64)")
	flags.IntVar(&s.Public.Players, "max-players", wire.MaxPlayers, "at most `N` players in a room")
	flags.DurationVar(&s.Public.Idle, "idle", room.KeepEmpty, "end a room after a `DURATION` without anybody's program in it")
	flags.IntVar(&s.Public.Standing.Rooms, "standing-rooms", publichost.StandingAtAll,
		"keep at most `N` rooms from one evening to the next; 0 keeps none")
	flags.IntVar(&s.Public.Standing.PerAddress, "standing-per-address", publichost.StandingByOne,
		"at most `N` of them opened from one address (IPv6: /64)")
	flags.IntVar(&s.Weeks, "standing-weeks", publichost.StandingWeeks, "for at most `N` weeks without anybody's program in one")
	flags.IntVar(&s.Memory, "room-memory", publichost.MemoryOfRoom,
		"at most `MIB` for what a room's players measure: longer lists are thinned out where players are not coordinated")
	flags.IntVar(&s.Public.Messages, "message-rate", publichost.MessagesOfOne,
		"hear a player's program more slowly that says more than `N` messages a second")
	flags.IntVar(&s.Public.Places, "max-places", wire.MaxVenues,
		"at most `N` places that a room has its players measure for a server of their own; 0 is none")
	flags.IntVar(&s.Public.Servers, "max-servers", publichost.ServersOfOwn, "at most `N` servers in a list that an organiser brings")
}

// run serves until ctx ends.
func (s *serving) run(ctx context.Context) error {
	if err := s.Check(); err != nil {
		return err
	}
	if err := s.NameNode(); err != nil {
		return err
	}
	s.logAs(s.log) // its lines contain the node's name from here on
	log := s.logs()
	s.Begin(log, s.log == "json")
	s.doubtProxy()
	h, end, err := publichost.New(ctx, &s.Settings, log)
	if err != nil {
		return err
	}
	defer end()
	if s.IsMove() {
		return h.Move(ctx, s.screen.Say)
	}
	games, err := s.games()
	if err != nil {
		return err
	}
	programs, err := s.programs(ctx, log)
	if err != nil {
		return err
	}
	defer programs.Close()
	return h.Serve(ctx, publichost.Rooms{Games: games, Programs: programs,
		Began: func(page string, rooms int) { s.says(log, page, rooms) }, Reread: s.configuredNow})
}

// doubtProxy warns about a proxy that the host does not know.
func (s *serving) doubtProxy() {
	if doubt := s.DoubtProxy(); doubt != nil {
		s.warn(doubt)
	}
}

// programs returns the programs that the host gives to people without Muster.
func (s *serving) programs(ctx context.Context, log *slog.Logger) (*handout.Handout, error) {
	say := func(format string, args ...any) { log.Info(fmt.Sprintf(format, args...)) }
	warn := func(warnings ...error) {
		for _, w := range warnings {
			log.Warn("not every program is given", "why", discovery.CleanText(hint.Plain(w)))
		}
	}
	return s.downloads.Open(ctx, s.logger(), say, warn)
}

// configuredNow returns the command as a start would configure it now: with the same command line and
// environment, and the current config.toml.
func (s *serving) configuredNow() (*publichost.Settings, error) {
	p := *s.program
	next, cmd := serveCommand(&p)
	var failed error
	s.command.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed || failed != nil {
			return
		}
		for _, text := range option.Given(f) {
			if failed = cmd.Flags().Set(f.Name, text); failed != nil {
				return
			}
		}
	})
	if failed == nil {
		failed = p.grant(cmd)
	}
	if failed != nil {
		return nil, failed
	}
	next.Texts = option.TextsOf(cmd.Flags())
	return &next.Settings, next.Check()
}

// checkOnly is the flag with which a command only says what would keep it from starting.
const checkOnly = "check-config"

// flagName matches a flag in an error.
var flagName = regexp.MustCompile(`--[a-z-]+`)

// checkConfig says what would keep the host from starting.
func (s *serving) checkConfig() error {
	faults := checkup.Find(&s.Settings, time.Now())
	if s.trouble != nil {
		faults = slices.Insert(faults, 0, s.trouble)
	}
	if _, err := s.games(); err != nil {
		faults = append(faults, err)
	}
	if s.downloads.Folder != "" {
		if _, err := os.ReadDir(s.downloads.Folder); err != nil {
			faults = append(faults, fmt.Errorf("--downloads %s: %w", s.downloads.Folder, hint.Reason(err)))
		}
	}
	s.doubtProxy()
	s.warn(checkup.Doubts(&s.Settings, time.Now())...)
	for _, fault := range faults {
		s.say(fault)
		if flag := flagName.FindString(fault.Error()); flag != "" && s.origins[flag[2:]] != "" {
			s.screen.Say("      %s is set in %s", flag, s.origins[flag[2:]])
		}
	}
	if len(faults) > 0 {
		return told{errors.Join(faults...)}
	}
	fmt.Fprintln(s.out, "the settings make sense")
	return nil
}

// newServe returns the command that runs a public host.
func newServe(p *program) *cobra.Command {
	_, cmd := serveCommand(p)
	return cmd
}

// logAs chooses the format of the log. In JSON everything on standard error is part of the log,
// also the command's own lines and its last error.
func (s *serving) logAs(format string) {
	s.log = format
	if s.plain == nil {
		s.plain = s.screen
	}
	s.screen = s.plain
	if format == "json" {
		s.screen = term.NewScreen(term.Terminal{Writer: publichost.Lines(s.logs())}, catalogue.InEnglish())
	}
}

func (s *serving) logs() *slog.Logger {
	to := s.screen.Writer
	if s.log == "json" {
		to = s.plain.Writer
	}
	return publichost.NewLog(to, s.log == "json", s.verbose, s.Cluster.Node)
}

// says tells the operator where the page is, and how many rooms the host starts with.
func (s *serving) says(log *slog.Logger, page string, rooms int) {
	if s.log == "json" {
		log.Info("serving", "page", page, "rooms", rooms)
		return
	}
	fmt.Fprintf(s.out, "page  %s\n", s.out.Bold(page))
	s.screen.Say("rooms for everybody, of which %d are from before; Ctrl-C ends it, and the rooms go on with the next start", rooms)
}
