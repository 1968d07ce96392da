package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"muster/host/access"
	"muster/host/wire"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/listing"
	"muster/internal/lobby"
	"muster/internal/option"
	"muster/internal/term"
)

// join is the command that takes a player into a room.
type join struct {
	*program
	sits  *lobby.Desk
	code  string
	at    string
	given func(flag string) bool
	playing
}

func newJoin(j *join) *cobra.Command {
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
  muster join LINK --side b              (in a match of two sides)
  muster join LINK --launch-command "flatpak run org.openarena +connect {address}"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 { // usually the second is the code
				return hint.With(usagef("muster join takes one link or address, and got %d", len(args)),
					"a code apart goes after --code: muster join 192.0.2.1 --code TABOMI")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return j.enter(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	j.given = flags.Changed
	flags.StringVar(&j.at, "at", "", "join a room of the public host at `URL`, by its code")
	flags.StringVar(&j.code, "code", "", "the room's `CODE`, if it is not in the link")
	j.bindPlayer(cmd)
	flags.BoolVar(&j.player.Somewhere, "somewhere", false, "do not tell the others which country you are in")
	option.Word(cmd, &j.player.Side, "side", "", []wire.Side{wire.SideA, wire.SideB}, "your side in a match (default: the link's)")
	j.bindCanHost(flags)
	option.YesNo(flags, &j.portMap, "port-map", "with --can-host, have the router pass on the UDP "+
		"port from the internet (port_map in config.toml)")
	bindSharing(cmd, &j.player.Shares)
	option.Word(cmd, &j.player.LAN, "lan", listing.Auto, []listing.LAN{listing.Auto, listing.On, listing.Off},
		"look for servers on the local network, too, if the room is on a public host and wants that (off: never)")
	flags.BoolVar(&j.player.Once, "once", false, "leave after the first launch")
	j.probing.bind(flags)
	j.probing.bindRoom(flags)
	return cmd
}

// enter joins the room that the arguments name, and asks on the way what is not clear.
func (j *join) enter(ctx context.Context, args []string) error {
	j.sits = j.desk()
	console := j.sits.Console(j.in, func() {})
	err := j.run(ctx, args, console)
	if j.greets != greetsNone {
		err = j.stay(ctx, console, err)
	}
	return err
}

func (j *join) run(ctx context.Context, args []string, console *term.Console) error {
	to, err := j.destination(args)
	if err != nil {
		return err
	}
	if err := j.greet(ctx, console, to); err != nil {
		return err
	}
	if err := j.playing.check(j.program); err != nil {
		return err
	}
	if j.launcher.Games, err = j.games(); err != nil {
		return err
	}
	isGiven := to.Code != ""
	if to.Host == "" {
		isGiven = j.code != ""
		if to, err = lobby.FindRoom(ctx, console, j.code, j.logger()); err != nil {
			return err
		}
	}
	j.launcher.Room, j.launcher.Console = to.Code, console
	j.screen.Tell("term.connecting", "host", to.Host)
	player := j.part(j.program)
	player.Desk, player.View, player.Browses = j.sits, &lobby.View{Screen: j.screen}, !j.noBrowser || j.home != nil
	return player.Enter(ctx, to, isGiven)
}

// destination returns the room that the command line names. Without a host it is a room on the
// local network. A code alone belongs to the public host in the settings.
func (j *join) destination(args []string) (invite.Link, error) {
	code, isCode := j.code, false
	if len(args) > 0 && j.at != "" {
		if isCode = isRoomCode(args[0]); isCode {
			code = cmp.Or(code, args[0])
		}
	}
	switch {
	case len(args) > 0 && !isCode && j.given("at"):
		return invite.Link{}, hint.With(usagef("%s says where the room is, and so does --at", args[0]),
			"leave out --at, or give the room's code alone")
	case len(args) > 0 && !isCode:
		return parsedLink(args[0], j.code)
	case j.at == "" || code == "" && !j.given("at"):
		return invite.Link{}, nil
	}
	base, err := publicHost(j.at)
	if err != nil {
		return invite.Link{}, err
	}
	return parsedLink(base.String(), code)
}

// parsedLink parses the link or address of a command line.
func parsedLink(text, code string) (invite.Link, error) {
	to, err := invite.Parse(text, code)
	if err != nil {
		err = usageError(err)
	}
	return to, err
}

// isRoomCode reports whether a word is a room's code, alone or as in links, and not a host's name
// or address.
func isRoomCode(word string) bool {
	key, err := access.ParseKey(word)
	return err == nil && !strings.ContainsAny(word, ".:/") && access.IsCode(key.Code)
}
