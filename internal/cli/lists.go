package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/internal/favourites"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/input"
	"muster/internal/lobby"
	"muster/internal/option"
	"muster/internal/term"
)

// favouritesFile returns the file of the user's favourites and hidden servers, which Home shares.
func favouritesFile() string { return configFile("servers.json") }

// lists is the command for the user's own lists of servers.
type lists struct {
	*program
	game   string
	hidden bool
	form   favourites.As
}

func newLists(p *program) *cobra.Command {
	l := &lists{program: p}
	cmd := &cobra.Command{
		GroupID: toLook,
		Use:     "lists",
		Short:   "Your favourites, and the servers that you never want to see",
		Long: `Lists shows the favourites and hidden servers of a game, which Home keeps too. They are
read from, and written for, other programs: lines of addresses, CSV, QStat's lists
and XML, Steam's serverbrowser_hist.vdf. Into a room they come only if you say so:
muster join --share-lists.`,
		Example: `  muster lists import favourites.txt --game openarena
  muster lists import serverbrowser_hist.vdf --game tf2
  muster lists export --game openarena --format qstat > openarena.txt`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return l.show() },
	}
	cmd.PersistentFlags().StringVar(&l.game, "game", "", "the `ID` of the game; muster games lists them")
	imports := &cobra.Command{
		Use: "import FILE", Short: "Take servers from a file, - is standard input", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return l.take(args[0]) },
	}
	exports := &cobra.Command{
		Use: "export [FILE]", Short: "Write them, to standard output without a file", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return l.give(append(args, "-")[0]) },
	}
	for _, sub := range []*cobra.Command{imports, exports} {
		sub.Flags().BoolVar(&l.hidden, "hidden", false, "the servers that you never want to see, in place of favourites")
		cmd.AddCommand(sub)
	}
	option.Word(exports, &l.form, "format", favourites.AsText, favourites.Forms(), "for whom")
	return cmd
}

func (l *lists) kind() favourites.Kind {
	if l.hidden {
		return favourites.Hidden
	}
	return favourites.Favourite
}

func (l *lists) show() error {
	g, err := l.findGame(l.game)
	if err != nil {
		return err
	}
	kept, err := favourites.Read(favouritesFile())
	if err != nil {
		return err
	}
	if len(kept.Of(favourites.Favourite, g.ID))+len(kept.Of(favourites.Hidden, g.ID)) == 0 {
		l.screen.Say("no lists yet; muster lists import FILE --game %s takes one, and Home has a heart beside each server", g.ID)
		return nil
	}
	kept.Table(g.ID).Write(l.out)
	l.screen.Say("%s of %s, %s hidden; in %s", term.Count(len(kept.Of(favourites.Favourite, g.ID)), "favourite"), g.Name,
		term.Count(len(kept.Of(favourites.Hidden, g.ID)), "server"), favouritesFile())
	return nil
}

// forGame returns the game in the form that lists need.
func forGame(g game.Game) favourites.For {
	return favourites.For{Game: g.ID, Port: g.Port, Takes: g.Takes, QStatType: g.QStatType(), AppID: g.AppID}
}

func (l *lists) take(file string) error {
	r, err := input.Open(file, l.in)
	if err != nil {
		return fmt.Errorf("%s: %w", input.Name(discovery.CleanText(file)), err)
	}
	defer r.Close()
	said, err := l.merge(r, input.Name(discovery.CleanText(file)))
	if err == nil {
		l.screen.Say("%s", l.screen.Wrap(said, 0))
	}
	return err
}

// merge adds a list of that name to the user's own, and says what it added.
func (l *lists) merge(r io.Reader, name string) (said string, err error) {
	g, err := l.findGame(l.game)
	if err != nil {
		return "", err
	}
	said, err = favourites.Take(favouritesFile(), r, forGame(g), l.kind())
	if unkept := (*fs.PathError)(nil); errors.As(err, &unkept) {
		return "", fmt.Errorf("cannot keep your lists: %w", err)
	}
	if err != nil {
		return "", hint.With(fmt.Errorf("%s: %s", name, hint.Plain(err)),
			"it may be lines such as 192.0.2.1:27960, QStat's list or XML, or Steam's serverbrowser_hist.vdf")
	}
	return said, nil
}

func (l *lists) give(file string) error {
	text, n, err := l.written()
	if err != nil {
		return err
	}
	if file == "-" {
		_, err = io.WriteString(l.out, text)
		return err
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	l.screen.Say("%s written to %s", term.Count(n, "server"), file)
	return nil
}

// written returns the list in the wanted form, and how many servers it has.
func (l *lists) written() (string, int, error) {
	g, err := l.findGame(l.game)
	if err != nil {
		return "", 0, err
	}
	kept, err := favourites.Read(favouritesFile())
	if err != nil {
		return "", 0, err
	}
	servers := kept.Of(l.kind(), g.ID)
	var text strings.Builder
	err = favourites.Export(&text, l.form, forGame(g), servers)
	return text.String(), len(servers), err
}

func bindSharing(cmd *cobra.Command, to *lobby.Sharing) {
	option.Word(cmd, to, "share-lists", lobby.SharesAsked, []lobby.Sharing{lobby.SharesAsked, lobby.SharesAll,
		lobby.SharesNone}, "bring your favourites and hidden servers of the game into the room, for everyone to see")
}
