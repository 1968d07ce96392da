package cli

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/identify"
	"muster/internal/steam"
	"muster/internal/which"
)

// gamesCommand is muster games with its flags.
type gamesCommand struct {
	*program
	asJSON, steamKey, forget       bool
	template, check, address, file string
}

func newGames(p *program) *cobra.Command {
	g := &gamesCommand{program: p}
	cmd := &cobra.Command{
		GroupID: toLook,
		Use:     "games [ID]",
		Args:    cobra.MaximumNArgs(1),
		Short:   "The games Muster knows",
		Long: `Games lists the games that Muster knows, how the list of each one's servers is
had, and what could not be checked. With a game's ID, name or abbreviation it says
all that it knows of that game, and from which sources; with a part of a name it
lists the games that have it. Your own games, and changes to these, stand in
games.toml, as docs/games.md explains.

  master       asked over UDP
  json, xml, text, fivem, sauerbraten
               a service on the web or in the net keeps the list
  steam        your favourites and history in Steam; all with a key of yours
  by hand      only people know: --servers FILE`,
		Example: `  muster games valheim               (ports, joining, and where that is from)
  muster games quake                 (the games that are called so)
  muster games --template mygame >>~/.config/muster/games.toml
  muster games --template ddnet      (how a known game is written)
  muster games --check mine.toml     (says what is wrong, and in which line)
  muster games tavern --probe 192.0.2.1:4000
                                     (finds out how a server is asked)
  muster games --steam-key           (reads the key from standard input)`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return p.completeGame()
		},
		RunE: func(cmd *cobra.Command, args []string) error { return g.run(cmd.Context(), strings.Join(args, "")) },
	}
	cmd.Flags().BoolVar(&g.asJSON, "json", false, "print the table as JSON")
	cmd.Flags().BoolVar(&g.steamKey, "steam-key", false, "store your key to Steam's Web API, which is read from standard input")
	cmd.Flags().BoolVar(&g.forget, "forget-steam-key", false, "remove the stored key to Steam's Web API")
	cmd.MarkFlagsMutuallyExclusive("steam-key", "forget-steam-key")
	cmd.Flags().StringVar(&g.template, "template", "", "print the entry of the game `ID` for games.toml; of one that is not "+
		"known, a pattern to fill in")
	cmd.Flags().StringVar(&g.check, "check", "", "check `FILE`, a table of games such as games.toml, and say what is wrong in it")
	cmd.Flags().StringVar(&g.address, "probe", "", "ask the server at `ADDRESS`, HOST:PORT, by every protocol, and print an entry "+
		"for its game; muster games ID --probe ADDRESS gives the entry that id. Before it asks, it says what it sends")
	cmd.Flags().StringVar(&g.file, "write", "", "with --probe: add the entry to `FILE`, such as your games.toml")
	cmd.MarkFlagsMutuallyExclusive("probe", "template", "check", "json", "steam-key", "forget-steam-key")
	return cmd
}

// run does what the flags say: at most one thing besides listing games. Text is what the player calls a game, or empty.
func (g *gamesCommand) run(ctx context.Context, text string) error {
	switch {
	case g.steamKey:
		return g.keepKey()
	case g.forget:
		return g.forgetKey()
	case g.check != "":
		return g.checkFile()
	case g.address == "" && g.file != "":
		return usagef("--write is for --probe ADDRESS")
	}
	games, err := g.games()
	switch {
	case err != nil:
		return err
	case g.address != "":
		return g.probe(ctx, games, text)
	case g.template != "":
		entry, err := games.Entry(g.template)
		if err != nil {
			return usageError(err)
		}
		_, err = io.WriteString(g.out, entry)
		return err
	}
	shown := games.All()
	if text != "" {
		if shown, err = games.Called(text); err != nil {
			return usageError(err)
		}
	}
	switch {
	case g.asJSON:
		return json.NewEncoder(g.out).Encode(game.Document(shown))
	case len(shown) == 1 && text != "":
		shown[0].Describe(g.out)
	default:
		game.Overview(shown).Write(g.out)
		g.screen.Say("%d games; add or change some in %s", len(shown), configFile("games.toml"))
	}
	return nil
}

// probe asks one address by every protocol, and prints the entry of its game or adds it to a file.
func (g *gamesCommand) probe(ctx context.Context, games game.Table, id string) error {
	if id != "" {
		if err := game.CheckID(id); err != nil {
			return usageError(err)
		}
	}
	found, err := identify.Find(ctx, games, g.address, g.screen, g.logger())
	if err != nil {
		return err
	}
	if found.IsSilent {
		return nothing{hint.Say("probe.silent", "address", found.At).Advising("probe.silent-hint")}
	}
	id, entry := found.Entry(id, time.Now())
	if g.file == "" {
		_, err = io.WriteString(g.out, entry)
		return err
	}
	if err := game.AddEntry(g.file, id, entry); err != nil {
		return err
	}
	g.screen.Tell("probe.written", "file", g.file)
	return nil
}

// keepKey stores the key to Steam's Web API that standard input gives.
func (g *gamesCommand) keepKey() error {
	g.screen.Say("paste your key to Steam's Web API and press Enter (https://steamcommunity.com/dev/apikey):")
	if err := g.steam().Store(g.in); err != nil {
		return err
	}
	g.screen.Say("stored in %s, which only you can read; it stays on this machine", g.steam().File)
	return nil
}

func (g *gamesCommand) forgetKey() error {
	isGiven, err := g.steam().Forget()
	if err != nil {
		return err
	}
	g.screen.Say("no key to Steam's Web API is stored any more")
	if isGiven {
		g.screen.Say("%s in the environment still gives one", steam.Variable)
	}
	return nil
}

func (g *gamesCommand) checkFile() error {
	f, err := os.Open(g.check)
	if err != nil {
		return err
	}
	defer f.Close()
	ids, err := game.Check(f, g.check)
	if err != nil {
		return err
	}
	g.screen.Say("%s is sound; its games: %s", g.check, strings.Join(ids, ", "))
	return nil
}

// warnSilent warns if nobody can measure the game's servers.
func (p *program) warnSilent(g game.Game) {
	if g.Silent != "" {
		p.screen.Print(g.WhySilent())
	}
}

// games returns the built-in table with the user's additions and changes.
func (p *program) games() (game.Table, error) { return game.LoadFile(configFile("games.toml")) }

func (p *program) findGame(text string) (game.Game, error) {
	games, err := p.games()
	if err != nil {
		return game.Game{}, err
	}
	g, err := which.Chooser{Games: games, Screen: p.screen}.Named(text)
	if err != nil {
		err = usageError(err)
	}
	return g, err
}

// pickGame returns the id of the game that a command's argument or flag means. On a terminal it asks if that leaves a
// doubt; an empty id means that nobody said which game.
func (p *program) pickGame(ctx context.Context, given string, args []string) (id string, err error) {
	text := given
	if len(args) > 0 {
		if text = args[0]; given != "" && given != text {
			return "", usagef("which game: %s, or %s?", text, given)
		}
	}
	asks := p.isAsked()
	if text != "" && len(args) == 0 && !asks { // a script
		g, err := p.findGame(text)
		return g.ID, err
	}
	games, err := p.games()
	if err != nil {
		return "", err
	}
	c := which.Chooser{Games: games, Screen: p.screen, Installed: func() []string { return games.Installed(p.steam().Folders()) }}
	if asks {
		c.Ask = p.desk().Console(p.in, func() {}).Ask
	}
	if id, err = c.Pick(ctx, text); err != nil && ctx.Err() == nil {
		err = usageError(err)
	}
	return id, err
}
