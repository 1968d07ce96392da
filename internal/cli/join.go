package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/discovery/lists/lan"
	"muster/host/access"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/listing"
	"muster/internal/lobby"
	"muster/internal/term"
	"muster/peer"
)

// join is the command that takes a player into a room.
type join struct {
	*program
	sits     *lobby.Desk
	code     string
	at       string
	given    func(flag string) bool
	lan      listing.LAN
	probing  probing
	launcher game.Launcher
	once     bool
	// noBrowser leaves the player's own page for whoever opens it.
	noBrowser bool
	canHost   canHost
	somewhere bool // the others are not told which country the player is in
	shares    lobby.Sharing
	greets    greeting
}

func newJoin(p *program) *cobra.Command {
	j := &join{program: p}
	cmd := &cobra.Command{
		GroupID: toPlay,
		Use:     "join [LINK]",
		Aliases: []string{"peer"},
		Short:   "Join a room",
		Long: `Join takes you into a room: this machine measures the servers from where you
sit, and at the end starts your game on the server that is best for everyone.
It asks you first; the host never says what to run. Where people vote before
that, the servers stand here with numbers, and what you type is your vote. Without a link it looks for
rooms on the local network. A room that is open to everybody needs no code. A
room on a public host is joined by its code alone if --at, MUSTER_AT or
config.toml say which.`,
		Example: `  muster join http://192.0.2.1:7777/#TABOMI --name ann
  muster join 192.0.2.1 --code TABOMI --launch auto
  muster join lan-party.example          (asks for the code if the room has one)
  muster join --at https://muster.example TABOMIDO
  muster join LINK --launch-command "flatpak run org.openarena +connect {address}"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 { // mostly the second is the code
				return hint.With(usagef("muster join takes one link or address, and got %d", len(args)), "a code apart goes after --code: muster join 192.0.2.1 --code TABOMI")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			j.sits = p.desk()
			console := j.sits.Console(j.in, func(string) {}, func() {})
			err := j.run(cmd.Context(), args, console)
			if j.greets != greetsNone {
				err = j.stay(cmd.Context(), console, err)
			}
			return err
		},
	}
	flags := cmd.Flags()
	j.given = flags.Changed
	flags.StringVar(&j.at, "at", "", "join a room of the public host at `URL`, by its code")
	flags.StringVar(&j.code, "code", "", "the room's `CODE`, if it is not in the link")
	flags.StringVar(&j.launcher.Player, "name", defaultName(), "your `NAME` in the room")
	flags.BoolVar(&j.somewhere, "somewhere", false, "do not tell the others which country you are in")
	j.canHost.bind(flags)
	bindYesNo(flags, &j.canHost.portMap, "port-map", "with --can-host, have the router pass on the UDP port from the internet (port_map in config.toml)")
	bindSharing(cmd, &j.shares)
	bindLaunch(cmd, &j.launcher)
	bindWord(cmd, &j.lan, "lan", listing.Auto, []listing.LAN{listing.Auto, listing.On, listing.Off}, "look for servers on the local network, too, if the room is on a public host and wants that (off: never)")
	flags.BoolVar(&j.noBrowser, "no-browser", false, "do not open your own page in a browser")
	flags.BoolVar(&j.once, "once", false, "leave after the first launch")
	bindWord(cmd, &j.greets, "greet", greetsNone, []greeting{greetsNone, greetsByName, greetsByLink}, "what to ask first, where something else than a person says this line")
	flags.Lookup("greet").Hidden = true
	j.probing.bind(flags)
	return cmd
}

func (j *join) run(ctx context.Context, args []string, console *term.Console) error {
	to, err := j.destination(args)
	if err != nil {
		return err
	}
	if err := j.greet(ctx, console, to); err != nil {
		return err
	}
	if err := checkLaunch(&j.launcher); err != nil {
		return err
	}
	if err := j.probing.check(); err != nil {
		return err
	}
	if j.launcher.Games, err = j.games(); err != nil {
		return err
	}
	isGiven := to.Code != ""
	if to.Host == "" {
		isGiven = j.code != ""
		if to, err = j.look(ctx, console); err != nil {
			return err
		}
	}
	j.launcher.Room, j.launcher.Console = to.Code, console
	j.screen.Say("connecting to %s …", to.Host)
	return j.enter(ctx, to, isGiven)
}

// destination is the room that the command line names; without a host, one on the
// local network. A code alone is of the public host that is set.
func (j *join) destination(args []string) (invite.Link, error) {
	code, isCode := j.code, false
	if len(args) > 0 && j.at != "" {
		if isCode = isRoomCode(args[0]); isCode {
			code = cmp.Or(code, args[0])
		}
	}
	switch {
	case len(args) > 0 && !isCode && j.given("at"):
		return invite.Link{}, hint.With(usagef("%s says where the room is, and so does --at", args[0]), "leave out --at, or give the room's code alone")
	case len(args) > 0 && !isCode:
		to, err := invite.Parse(args[0], j.code)
		if err != nil {
			err = usageError(err)
		}
		return to, err
	case j.at == "" || code == "" && !j.given("at"):
		return invite.Link{}, nil
	}
	base, err := publicHost(j.at)
	if err != nil {
		return invite.Link{}, err
	}
	to, err := invite.Parse(base.String(), code)
	if err != nil {
		err = usageError(err)
	}
	return to, err
}

// isRoomCode reports whether a word is a room's code, alone or as links have it, and no
// host's name or address.
func isRoomCode(word string) bool {
	key, err := access.ParseKey(word)
	return err == nil && !strings.ContainsAny(word, ".:/") && access.IsCode(key.Code)
}

// enter plays. Unless a code was given it is asked for when the host wants one,
// and again if it was mistyped: an open room takes everybody without.
func (j *join) enter(ctx context.Context, to invite.Link, isGiven bool) error {
	beacon, err := j.canHost.shine(ctx, j.sits)
	if err != nil {
		return err
	}
	defer beacon.Stop()
	playing := &lobby.Player{
		Desk: j.sits, View: &lobby.View{Screen: j.screen, Help: j.sits.Keys(lobby.PlayerHelp(to))},
		Launcher: &j.launcher, Asking: j.asking(&j.probing), Once: j.once, Somewhere: j.somewhere,
		Beacon: beacon, Shares: j.shares, Favourites: favouritesFile(), LAN: j.lan, Browses: !j.noBrowser || j.home != nil,
	}
	for {
		err := playing.Play(ctx, to)
		var refusal wire.Refusal
		if isGiven || !errors.As(err, &refusal) || refusal.Reason != wire.ReasonCode {
			return lobby.Explain(lobby.UnlessEnded(err), to)
		}
		if to.Code != "" {
			j.screen.Say("%s", discovery.CleanText(refusal.Message))
		}
		answer, ok := j.launcher.Console.Ask(ctx, "the room's code: ")
		if !ok {
			return lobby.Explain(err, to)
		}
		to = said(to, answer)
		j.launcher.Room = to.Code
	}
}

const pasteHint = "paste the line that muster host printed: muster join http://…/#CODE"

// look finds a room on the local network, and asks whether that is the one.
func (j *join) look(ctx context.Context, c *term.Console) (invite.Link, error) {
	c.Say("looking for rooms on the local network …")
	looking, stop := context.WithTimeout(ctx, lobby.LookTime)
	defer stop()
	var found []lan.Found
	var err error // why nothing may have been heard
	for found, err = range lan.Browse(looking, j.logger()) {
	}
	switch {
	case ctx.Err() != nil:
		return invite.Link{}, ctx.Err()
	case len(found) == 0:
		return invite.Link{}, hint.With(cmp.Or(err, errors.New("no room is announced on the local network")), pasteHint)
	}
	var list strings.Builder
	roomTable(found).Write(term.Terminal{Writer: &list, Columns: c.Width()})
	c.Say("%s", strings.TrimSuffix(list.String(), "\n"))
	room, err := pick(ctx, c, found)
	if err != nil {
		return invite.Link{}, err
	}
	at, err := peer.Reach(ctx, room.Addrs)
	if err != nil {
		var all []string
		for _, a := range room.Addrs {
			all = append(all, a.String())
		}
		return invite.Link{}, lobby.Unreached(strings.Join(all, " or "), err)
	}
	return toward(ctx, c, room, at, j.code)
}

// roomTable shows rooms, numbered; what strangers announce was cleaned by lan.
func roomTable(found []lan.Found) *term.Table {
	t := &term.Table{Columns: []term.Column{term.Right(""), term.Left("ROOM"), term.Left("GAME"), term.Right("PLAYERS"), term.Left("ORGANISER"), term.Left("")}}
	for i, f := range found {
		players, remark := strconv.Itoa(f.Players), ""
		if f.Seats > 0 {
			players = fmt.Sprintf("%d of %d", f.Players, f.Seats)
		}
		if f.Open {
			remark = "open"
		}
		t.Add(i+1, called(f), f.Game, players, f.Organiser, remark)
	}
	return t
}

// called is what to call a room: anybody may announce one without a name.
func called(f lan.Found) string { return cmp.Or(f.Name, "(no name)") }

// pick asks which room, or whether the only one.
func pick(ctx context.Context, c *term.Console, found []lan.Found) (lan.Found, error) {
	question := fmt.Sprintf("join %s? [Y/n] ", called(found[0]))
	if len(found) > 1 {
		question = fmt.Sprintf("which one? [1-%d] ", len(found))
	}
	for {
		answer, ok := c.Ask(ctx, question)
		switch {
		case !ok:
			return lan.Found{}, nobodyAnswers(ctx, found[0])
		case len(found) == 1 && term.Yes(answer):
			return found[0], nil
		case len(found) == 1:
			return lan.Found{}, errors.New("no room was joined")
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(found) {
			return found[n-1], nil
		}
	}
}

// nobodyAnswers is for scripts: what to say instead of answering.
func nobodyAnswers(ctx context.Context, f lan.Found) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return hint.With(errors.New("nobody can answer: standard input has ended"),
		"name the room and its code: muster join "+lobby.LinkTo(f, f.Addrs[0], "CODE").String())
}

// toward is the way into a room that was found. The code was not announced: who has
// it was told by the organiser.
func toward(ctx context.Context, c *term.Console, f lan.Found, at netip.AddrPort, code string) (invite.Link, error) {
	to := said(lobby.LinkTo(f, at, ""), code)
	if to.TLS && !access.IsFingerprint(to.Pin) {
		return to, hint.With(fmt.Errorf("%s announces a fingerprint that is none", called(f)), pasteHint)
	}
	for to.Code == "" && !f.Open {
		answer, ok := c.Ask(ctx, "the room's code: ")
		if !ok {
			return to, nobodyAnswers(ctx, f)
		}
		to = said(to, answer)
	}
	return to, nil
}

// said is the link with what somebody said is the code, or pasted as one.
func said(to invite.Link, answer string) invite.Link {
	key, _ := access.ParseKey(answer) // its code is there in any case
	to.Code, to.Key = key.Code, key.Link
	return to
}
