package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/term"
	"muster/selection"
)

func newGames(p *program) *cobra.Command {
	asJSON, steamKey, forget, template := false, false, false, ""
	cmd := &cobra.Command{
		GroupID: toLook,
		Use:     "games",
		Short:   "The games Muster knows",
		Long: `Games lists the games that Muster knows, how the list of each one's servers is
had, and what could not be checked. Your own games, and changes to these, stand
in games.toml, as docs/games.md explains.

  master       asked over UDP
  json, xml, text, fivem, sauerbraten
               a service on the web or in the net keeps the list
  steam        your favourites and history in Steam; all with a key of yours
  by hand      only people know: --servers FILE`,
		Example: `  muster games --template mygame >>~/.config/muster/games.toml
  muster games --template ddnet      (how a known game is written)
  muster games --steam-key           (reads the key from standard input)`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if steamKey {
				return p.storeSteamKey()
			}
			if forget {
				return p.forgetSteamKey()
			}
			games, err := p.games()
			if err != nil {
				return err
			}
			if template != "" {
				text, err := games.Entry(template)
				if err != nil {
					return usageError(err)
				}
				_, err = io.WriteString(p.out, text)
				return err
			}
			if asJSON {
				return json.NewEncoder(p.out).Encode(gamesDocument(games))
			}
			p.listGames(games)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the table as JSON")
	cmd.Flags().BoolVar(&steamKey, "steam-key", false, "store your key to Steam's Web API, which is read from standard input")
	cmd.Flags().BoolVar(&forget, "forget-steam-key", false, "remove the stored key to Steam's Web API")
	cmd.MarkFlagsMutuallyExclusive("steam-key", "forget-steam-key")
	cmd.Flags().StringVar(&template, "template", "", "print the entry of the game `ID` for games.toml; of one that is not known, a pattern to fill in")
	return cmd
}

// gameEntry is a game in the output of muster games --json.
type gameEntry struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Protocol string `json:"protocol"`
	Port     uint16 `json:"port"`
	// Lists are the kinds of lists there are, none if only people know servers.
	Lists   []string `json:"lists"`
	Masters []string `json:"masters"`
	// URLs are where services keep lists.
	URLs []string `json:"urls,omitempty"`
	// Unsure says what could not be checked.
	Unsure []string       `json:"unsure"`
	AppID  uint32         `json:"app_id,omitempty"`
	By     selection.Rule `json:"by"`
	Launch []string       `json:"launch"`
}

func gamesDocument(games game.Table) any {
	document := struct {
		Format string      `json:"format"`
		Games  []gameEntry `json:"games"`
	}{Format: "muster.games/1"}
	for _, g := range games.All() {
		document.Games = append(document.Games, gameEntry{
			ID: g.ID, Name: g.Name, Protocol: g.ProtocolName, Port: g.Port, Lists: g.Kinds(), Masters: append([]string{}, g.Masters...),
			URLs: g.URLs(), Unsure: append([]string{}, g.Unsure...),
			AppID: g.AppID, By: g.Rule, Launch: g.Template(runtime.GOOS),
		})
	}
	return document
}

func (p *program) listGames(games game.Table) {
	t := term.Table{Columns: []term.Column{term.Whole("ID"), term.Left("NAME"), term.Left("PROTOCOL"), term.Right("PORT"), term.Left("LIST"), term.Left("UNSURE")},
		Spare: []string{"PORT", "PROTOCOL", "UNSURE", "LIST"}}
	for _, g := range games.All() {
		t.Add(g.ID, g.Name, g.ProtocolName, g.Port, cmp.Or(strings.Join(g.Kinds(), ", "), "by hand"), strings.Join(g.Unsure, "; "))
	}
	t.Write(p.out)
	p.screen.Say("%d games; add or change some in %s", len(games.All()), configFile("games.toml"))
}

// games is the built-in table with what the user adds or changes.
func (p *program) games() (game.Table, error) {
	file := configFile("games.toml")
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return game.Load(nil, "")
	}
	if err != nil {
		return game.Table{}, err
	}
	defer f.Close()
	return game.Load(f, file)
}

// findGame is the game with an ID.
func (p *program) findGame(id string) (game.Game, error) {
	if id == "" {
		return game.Game{}, hint.With(usagef("which game?"), "say --game ID; muster games lists them")
	}
	games, err := p.games()
	if err != nil {
		return game.Game{}, err
	}
	g, err := games.Find(id)
	if err != nil {
		return g, usageError(err)
	}
	return g, nil
}
