package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/discovery"
	"muster/host"
	"muster/host/access"
	"muster/host/between"
	"muster/host/cluster"
	"muster/host/public"
	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/handout"
	"muster/internal/hint"
	"muster/internal/ingress"
	"muster/internal/invite"
	"muster/internal/listing"
	"muster/internal/netinfo"
	"muster/internal/ownhost"
	"muster/internal/release"
	"muster/internal/term"
	"muster/internal/userfile"
	"muster/internal/webhook"
	"muster/selection"
	"muster/web"
)

// serving is the command that holds rooms for everybody.
type serving struct {
	*program
	listen, store string
	cluster       cluster.Config
	between       string // where other hosts connect
	others        *between.Mesh
	// importFrom and exportTo are files for rooms that only move.
	importFrom, exportTo string
	log                  string       // how the log is written
	plain                *term.Screen // standard error, where the screen writes into the log; nil before that is known
	command              *cobra.Command
	settings             map[string]string // what the flags were set to, by their names
	checkOnly            bool
	downloads            downloads
	lists                listing.Rooms
	public               public.Limits
	memory               int // of a room, MiB
	webhooks             bool
	weeks                int // that a standing room is kept

	ingress   ingress.Ingress
	cert, key string
	acme      ingress.ACME
	proxies   []netip.Prefix
	names     []string
	metrics   []netip.Prefix
}

// What strangers may, unless the operator says otherwise. docs/serve.md says of each why.
const (
	roomsAtAll    = 10_000
	roomsByOne    = 8
	serversOfOwn  = 2000
	memoryOfRoom  = 64 // MiB: ten players over 13,000 servers, or coordinated ones over any list
	standingAtAll = 1000
	standingByOne = 3
	standingWeeks = 8
	weeksKept     = 10 * 52
	messagesOfOne = 50 // a second: a program reports ten times, and tells what servers say as often
)

// drainTime is how long a host that is to end gives its store to take the rooms: with
// what has to be given up then it ends within five seconds, long before service
// managers and containers kill it.
const drainTime = 2500 * time.Millisecond

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
with _ for -, or in the environment, as MUSTER_SERVE_MAX_ROOMS for --max-rooms.`,
		Example: `  muster serve --listen 127.0.0.1:7777 --trusted-proxy 127.0.0.1 --public-url https://muster.example
  muster serve --listen :443 --tls-cert cert.pem --tls-key key.pem --public-url https://muster.example
  muster serve --nats nats://10.0.0.1,nats://10.0.0.2,nats://10.0.0.3 --node host1 --public-url https://muster.example`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.command, s.settings = cmd, textsOf(cmd.Flags())
			if s.checkOnly {
				return s.checkConfig(cmd.Context())
			}
			return s.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.listen, "listen", ":"+invite.DefaultPort, "`ADDRESS` to listen on")
	flags.StringVar(&s.store, "store", "", "keep the rooms in `FILE` (default: rooms.db in the state folder)")
	s.bindCluster(flags)
	s.bindIngress(flags)
	s.bindLimits(flags)
	flags.BoolVar(&s.webhooks, "webhooks", false, "post for rooms by webhooks that their organisers give: https only, never into private networks, and so often an hour for a room and for a network")
	s.downloads.bind(flags)
	p.bindLists(flags, &s.lists.Sources)
	s.log = "text"
	formats := []string{"text", "json"}
	bindKnown(cmd, value{"WORD", s.log, func(text string) error {
		format, err := oneOf(formats, text)
		if err == nil {
			s.logAs(format)
		}
		return err
	}}, "log-format", formats, "how the log is written")
	flags.BoolVar(&s.checkOnly, "check-config", false, "do not serve, but say whether the settings make sense")
	record(flags)
	inSections(cmd, ofServe())
	return s, cmd
}

// clusterPort is where hosts that share NATS listen for each other, if the operator does not
// say where.
const clusterPort = "7779"

// bindCluster adds the flags that say where many hosts keep their rooms.
func (s *serving) bindCluster(flags *pflag.FlagSet) {
	flags.StringVar(&s.cluster.URL, "nats", "", "keep the rooms in NATS JetStream at `URL`, several with commas between them: many hosts share them then, and any of them takes anybody")
	flags.StringVar(&s.cluster.Credentials, "nats-credentials", "", "the `FILE` of credentials that NATS asks for")
	flags.StringVar(&s.cluster.CA, "nats-ca", "", "trust the authority in `FILE.pem` for NATS's certificate")
	flags.StringVar(&s.cluster.Node, "node", "", "this host's `NAME` among those that share NATS, each its own (default: the machine's)")
	flags.StringVar(&s.between, "cluster-listen", ":"+clusterPort, "where the other hosts connect to this one: `ADDRESS`, on a network of yours; with a port alone they come to the address at which NATS sees this host")
	flags.StringVar(&s.importFrom, "import", "", "do not serve, but take the rooms of `FILE`, a --store that is not served any more, or a backup, over into NATS")
	flags.StringVar(&s.exportTo, "export", "", "do not serve, but write all rooms in NATS to `FILE`: a backup, or a --store for one host")
	flags.IntVar(&s.cluster.Replicas, "replicas", 0, "keep everything on `N` of NATS's servers (default: on all, three at most)")
}

// bindIngress adds the flags that say how people get at the host.
func (s *serving) bindIngress(flags *pflag.FlagSet) {
	flags.Var(value{"URL", "", func(text string) (err error) {
		s.ingress.Public, err = invite.ParseBase(text)
		return err
	}}, "public-url", "by what people reach this host, such as https://muster.example: `URL` for links")
	flags.Var(networks(&s.proxies), "trusted-proxy", "believe X-Forwarded-For, -Host and -Proto of the reverse proxy at `ADDRESS` or in a network (repeatable)")
	flags.StringVar(&s.cert, "tls-cert", "", "encrypt with the certificate in `FILE.pem`, which may be renewed while the host runs")
	flags.StringVar(&s.key, "tls-key", "", "the certificate's key, `FILE.pem`")
	flags.StringArrayVar(&s.acme.Names, "acme", nil, "encrypt with a certificate for `NAME` from Let's Encrypt or another authority that speaks ACME, and renew it (repeatable)")
	flags.BoolVar(&s.acme.Accepts, "acme-accept-terms", false, "you accept that authority's terms")
	flags.StringVar(&s.acme.Email, "acme-email", "", "where the authority sends warnings, `ADDRESS`")
	flags.StringVar(&s.acme.Cache, "acme-cache", "", "keep account and certificates in `FOLDER` (default: acme in the state folder)")
	flags.StringVar(&s.acme.Directory, "acme-directory", "", "the authority's `URL` (default: Let's Encrypt)")
	flags.StringVar(&s.acme.CA, "acme-ca", "", "trust the certificate in `FILE.pem` for that URL")
	flags.StringArrayVar(&s.names, "host-name", nil, "a `NAME` more that leads to this host, which browsers may ask for (repeatable)")
	flags.Var(networks(&s.metrics), "metrics-from", "let programs at `ADDRESS` or in a network have /metrics, too (repeatable)")
}

// bindLimits adds the flags that say what strangers may.
func (s *serving) bindLimits(flags *pflag.FlagSet) {
	flags.IntVar(&s.public.Rooms, "max-rooms", roomsAtAll, "hold at most `N` rooms")
	flags.IntVar(&s.public.PerAddress, "rooms-per-address", roomsByOne, "at most `N` of them opened from one address (IPv6: /64)")
	flags.IntVar(&s.public.Players, "max-players", wire.MaxPlayers, "at most `N` players in a room")
	flags.DurationVar(&s.public.Idle, "idle", room.KeepEmpty, "end a room after a `DURATION` without anybody's program in it")
	flags.IntVar(&s.public.Standing.Rooms, "standing-rooms", standingAtAll, "keep at most `N` rooms from one evening to the next; 0 keeps none")
	flags.IntVar(&s.public.Standing.PerAddress, "standing-per-address", standingByOne, "at most `N` of them opened from one address (IPv6: /64)")
	flags.IntVar(&s.weeks, "standing-weeks", standingWeeks, "for at most `N` weeks without anybody's program in one")
	flags.IntVar(&s.memory, "room-memory", memoryOfRoom, "at most `MIB` for what a room's players measure: longer lists are thinned out where players are not coordinated")
	flags.IntVar(&s.public.Messages, "message-rate", messagesOfOne, "hear a player's program more slowly that says more than `N` messages a second")
	flags.IntVar(&s.public.Places, "max-places", wire.MaxVenues, "at most `N` places that a room has its players measure for a server of their own; 0 is none")
	flags.IntVar(&s.public.Servers, "max-servers", serversOfOwn, "at most `N` servers in a list that an organiser brings")
}

// run serves until ctx ends.
func (s *serving) run(ctx context.Context) error {
	if err := s.check(); err != nil {
		return err
	}
	if err := s.nameNode(); err != nil {
		return err
	}
	s.logAs(s.log) // whose lines say the node's name from here on
	log := s.logs()
	s.begins(log)
	s.warnOfProxy()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	hangups, end := hearHangups() // from here on: none ends the host
	defer end()
	getCertificates, err := s.encrypt(ctx, log)
	if err != nil {
		return err
	}
	if s.isMove() {
		return s.move(ctx, log)
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
	listener, err := ownhost.Listen(s.listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	kept, err := s.open(ctx, log)
	if err != nil {
		return err
	}
	s.supply(games, kept, log)
	defer s.lists.Begin(ctx)()
	var relay host.Relay
	var loads func() (string, map[string]int, time.Duration)
	if many, is := kept.(*cluster.Cluster); is {
		defer s.others.Close()
		s.others.Join(many.Doors)
		relay, loads = s.others, many.Loads
	}
	var announce func(host.Post)
	if s.webhooks {
		posts := &webhook.Poster{}
		defer posts.Close()
		announce = func(p host.Post) { posts.Post(webhook.Post(p)) }
	}
	rooms, err := host.New(host.Config{
		Announce: announce,
		List:     s.lists.List, Said: s.lists.Said, Age: s.lists.Age, Store: kept, Relay: relay, Loads: loads, Page: web.Handler(), Logger: log, Files: int(min(netinfo.FileLimit(), math.MaxInt32)), Public: &s.public,
		Get:         programs,
		Fingerprint: s.ingress.Fingerprint(), Proxies: s.proxies, Names: slices.Concat(netinfo.Names(), s.ingress.Names(), s.names), MetricsFrom: s.metrics, Locate: listing.Locator(s.lists.Places),
		PublicURL: s.ingress.Public, ConnectLink: games.ConnectLink, GameName: games.Name, Gap: games.Gap, Editions: games.Editions, Games: s.lists.Choices(),
	})
	if err != nil {
		return errors.Join(hint.With(err, "is the store from a newer muster, or damaged? muster serve --store OTHER begins anew"), kept.Close())
	}
	stop := rooms.Serve(listener, s.ingress.TLS(), stoppedServing(cancel))
	var work sync.WaitGroup
	work.Go(getCertificates)
	work.Go(func() { s.reloadOn(ctx, hangups, rooms, games, log) })
	defer work.Wait()
	at := discovery.Canonical(netip.MustParseAddrPort(listener.Addr().String()))
	s.says(log, s.ingress.Outside(at, access.Key{}).Page("/"), len(rooms.Rooms()))
	<-ctx.Done()
	log.Info("draining: rooms are saved, and everybody is told to come back")
	hurry, done := context.WithTimeout(context.Background(), drainTime)
	rooms.Drain(hurry) // while /readyz says so to whoever sends people here
	done()
	stop()
	err = rooms.Close()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}

// programs is what the host gives to who has no Muster.
func (s *serving) programs(ctx context.Context, log *slog.Logger) (*handout.Handout, error) {
	say := func(format string, args ...any) { log.Info(fmt.Sprintf(format, args...)) }
	warn := func(warnings ...error) {
		for _, w := range warnings {
			log.Warn("not every program is given", "why", hint.Plain(discovery.CleanText(w.Error())))
		}
	}
	return s.handout(ctx, s.downloads, say, warn)
}

// supply says where rooms get their games, their lists and what strangers may from.
func (s *serving) supply(games game.Table, kept store.Store, log *slog.Logger) {
	if many, is := kept.(*cluster.Cluster); is {
		s.public.Hosts = many.Hosts
		s.lists.Once = onceForAll(many)
	}
	s.lists.Games, s.lists.Public, s.lists.Log = games, s.ingress.PublicAddress, log
	s.lists.Say = func(format string, args ...any) { log.Debug(fmt.Sprintf(format, args...)) }
	s.lists.Warn = func(warnings ...error) {
		for _, w := range warnings[:min(1, len(warnings))] { // a list can have thousands
			log.Warn("of a list of servers not everything is taken", "why", hint.Plain(w.Error()), "warnings", len(warnings))
		}
	}
	build := release.Running()
	s.public.Games, s.public.Version, s.public.Commit, s.public.Date = s.choices(games), build.Version, build.Commit, build.Date
	s.public.Own = s.ownLists(games)
	s.public.Annotate = func(servers []discovery.Server) error { return listing.Annotate(servers, s.lists.Places) }
}

// ownLists reads the lists that organisers bring.
func (s *serving) ownLists(games game.Table) func(string, []string, netip.Addr) ([]netip.AddrPort, error) {
	most := s.public.Servers
	return func(id string, lines []string, from netip.Addr) ([]netip.AddrPort, error) {
		g, err := games.Find(id)
		if err != nil {
			g = game.Game{ID: id, Name: id} // an organiser's own
		}
		servers, err := listing.Own(g, lines, from, most)
		if err != nil {
			err = &wire.Refusal{Reason: wire.ReasonMalformed, Message: hint.Plain(err.Error()), Hint: hint.Of(err)}
		}
		return servers, err
	}
}

// check refuses flags that make no sense.
func (s *serving) check() error {
	for _, limit := range []struct {
		flag           string
		n, least, most int
	}{{"max-rooms", s.public.Rooms, 1, 1 << 30}, {"rooms-per-address", s.public.PerAddress, 1, 1 << 30}, {"max-players", s.public.Players, 1, wire.MaxPlayers}, {"max-servers", s.public.Servers, 1, discovery.MaxServers}, {"room-memory", s.memory, 1, 1 << 20}, {"message-rate", s.public.Messages, 1, 1 << 20}, {"standing-rooms", s.public.Standing.Rooms, 0, 1 << 20}, {"standing-per-address", s.public.Standing.PerAddress, 1, 1 << 20}, {"standing-weeks", s.weeks, 1, weeksKept}} {
		if limit.n < limit.least || limit.n > limit.most {
			return usagef("--%s %d: say %d to %d", limit.flag, limit.n, limit.least, limit.most)
		}
	}
	if s.public.Places < 0 || s.public.Places > wire.MaxVenues {
		return usagef("--max-places %d: say 0 to %d", s.public.Places, wire.MaxVenues)
	}
	s.public.Memory = s.memory << 20
	s.public.Standing.Keep = time.Duration(s.weeks) * 7 * 24 * time.Hour
	if s.public.Idle < time.Minute || s.public.Idle > room.KeepEmpty {
		return usagef("--idle %v: say %v to %v", s.public.Idle, time.Minute, room.KeepEmpty)
	}
	if _, _, err := net.SplitHostPort(s.between); err != nil {
		return hint.With(usagef("--cluster-listen: %q is no ADDRESS:PORT", s.between), "say --cluster-listen 10.0.0.1:"+clusterPort+", with the address by which the other hosts reach this one")
	}
	if _, _, err := net.SplitHostPort(s.listen); err != nil {
		return hint.With(usagef("--listen: %q is no ADDRESS:PORT", s.listen), "say --listen :7777, or --listen 127.0.0.1:7777 behind a proxy on this machine")
	}
	switch {
	case s.cluster.URL != "" && s.store != "":
		return usagef("--store and --nats are two places for the rooms: say one of them")
	case s.isMove() && (s.cluster.URL == "" || s.importFrom != "" && s.exportTo != ""):
		return usagef("--import FILE and --export FILE need --nats URL, one at a time")
	case (s.cert == "") != (s.key == ""):
		return usagef("--tls-cert and --tls-key go together")
	case s.cert != "" && len(s.acme.Names) > 0:
		return usagef("--tls-cert and --acme are two ways to one certificate: say one of them")
	case len(s.acme.Names) > 0 && !s.acme.Accepts:
		return hint.With(usagef("--acme: an authority gives certificates to those who accept its terms"), "read them (https://letsencrypt.org/repository/ for Let's Encrypt), and say --acme-accept-terms")
	}
	return nil
}

// warnOfProxy tells the operator of a proxy that the host does not know.
func (s *serving) warnOfProxy() {
	isEncrypted := s.cert != "" || len(s.acme.Names) > 0
	if public := s.ingress.Public; !isEncrypted && public != nil && public.Scheme == "https" && len(s.proxies) == 0 {
		s.warn(errors.New("--public-url says https, so a proxy encrypts: name it with --trusted-proxy ADDRESS, or all who come by it count as one, and share the limits for one address"))
	}
}

// encrypt gets the certificate, if there is one to be had. Get has an authority give the
// first one, once the host listens.
func (s *serving) encrypt(ctx context.Context, log *slog.Logger) (get func(), err error) {
	switch {
	case s.cert != "":
		return func() {}, s.ingress.EncryptRenewed(s.cert, s.key, log)
	case len(s.acme.Names) == 0:
		return func() {}, nil
	}
	if s.ingress.Public == nil {
		s.ingress.Public = &url.URL{Scheme: "https", Host: s.acme.Names[0]}
	}
	s.names = append(s.names, s.acme.Names...)
	if s.acme.Cache == "" {
		account, err := userfile.State("acme/account")
		if err != nil {
			return nil, fmt.Errorf("no folder for certificates: %w", err)
		}
		s.acme.Cache = filepath.Dir(account)
	}
	if _, port, _ := net.SplitHostPort(s.listen); port != "443" && port != "https" {
		log.Warn("the authority connects to port 443 of the name: have it lead to this program", "listen", s.listen)
	}
	return s.ingress.EncryptByACME(ctx, s.acme, log)
}

// open opens the store. Without one a public host does not start: a restart would
// lose what hundreds of people wait for.
func (s *serving) open(ctx context.Context, log *slog.Logger) (store.Store, error) {
	if s.cluster.URL != "" {
		s.cluster.Logger, s.cluster.Takes = log, room.SavedVersion
		if err := s.meet(log); err != nil {
			return nil, err
		}
		kept, err := cluster.Open(ctx, s.cluster)
		if err != nil {
			s.others.Close()
			return nil, err
		}
		return kept, nil
	}
	file := s.store
	if file == "" {
		var err error
		if file, err = userfile.State("rooms.db"); err != nil {
			return nil, fmt.Errorf("no folder for the rooms: %w", err)
		}
	}
	kept, err := store.Open(file)
	if err != nil {
		return nil, hint.With(fmt.Errorf("cannot keep rooms in %s: %w", file, hint.Reason(err)), "is the folder there, and writable? another muster needs another file: --store FILE")
	}
	kept.Warn = func(err error) { log.Error("the store", "error", err) }
	if damage := kept.Damage(); damage != nil {
		log.Error("the store was damaged", "error", damage)
	}
	return kept, nil
}

// meet listens for the other hosts.
func (s *serving) meet(log *slog.Logger) error {
	listener, err := net.Listen("tcp", s.between)
	if err != nil {
		return hint.With(fmt.Errorf("cannot listen on %s for other hosts: %w", s.between, hint.Reason(err)), "several hosts on one machine each need a --cluster-listen, such as --cluster-listen 127.0.0.1:7780")
	}
	if s.others, err = between.New(listener, s.cluster.Node, log); err != nil {
		listener.Close()
		return err
	}
	s.cluster.Door = func(seen net.IP) string {
		door := s.others.Door(seen)
		address, _, _ := strings.Cut(door, " ")
		log.Info("other hosts reach this one", "at", address)
		return door
	}
	return nil
}

// nameNode gives the host the machine's name if the user gave it none. Who only moves
// rooms is another than the host on the same machine.
func (s *serving) nameNode() error {
	if s.cluster.Node != "" {
		return nil
	}
	machine, err := os.Hostname()
	if err != nil && s.cluster.URL != "" {
		return hint.With(fmt.Errorf("this machine has no name: %w", err), "give this host one: --node NAME")
	}
	if s.isMove() {
		machine += "-move"
	}
	s.cluster.Node = cluster.NodeName(machine)
	return nil
}

// choices are the games that rooms may be opened for.
func (s *serving) choices(games game.Table) []public.Game {
	var listed []string
	for _, g := range s.lists.Choices() {
		listed = append(listed, g.ID)
	}
	var choices []public.Game
	for _, g := range games.All() {
		choices = append(choices, public.Game{Game: wire.Game{ID: g.ID, Name: g.Name, Silent: g.Silent}, By: ruleOf(g), Listed: slices.Contains(listed, g.ID), Steam: g.OnSteam()})
	}
	return choices
}

// ruleOf is a game's rule, unless it needs a limit, which the organiser has to say.
func ruleOf(g game.Game) selection.Rule {
	if g.Rule == "" {
		return selection.Mean
	}
	return g.Rule
}

// onceForAll has one host of a cluster fetch a list for all of them.
func onceForAll(many *cluster.Cluster) func(context.Context, string, func(context.Context) (listing.List, error)) (listing.List, time.Time, error) {
	return func(ctx context.Context, id string, fetch func(context.Context) (listing.List, error)) (listing.List, time.Time, error) {
		data, at, err := many.FetchOnce(ctx, id, listing.FreshFor, func(ctx context.Context) ([]byte, error) {
			list, err := fetch(ctx)
			if err != nil {
				return nil, err
			}
			return list.Append(nil)
		})
		if len(data) == 0 {
			return listing.List{}, at, err
		}
		list, broken := listing.ParseList(data)
		return list, at, errors.Join(err, broken)
	}
}
