package cli

import (
	"cmp"
	"encoding/json"
	"errors"
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
	asJSON := false
	cmd := &cobra.Command{
		GroupID: toLook,
		Use:     "games",
		Short:   "The games Muster knows",
		RunE: func(cmd *cobra.Command, _ []string) error {
			games, err := p.games()
			if err != nil {
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
	return cmd
}

// gameEntry is a game in the output of muster games --json.
type gameEntry struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Protocol string         `json:"protocol"`
	Port     uint16         `json:"port"`
	Masters  []string       `json:"masters"`
	AppID    uint32         `json:"app_id,omitempty"`
	By       selection.Rule `json:"by"`
	Launch   []string       `json:"launch"`
}

func gamesDocument(games game.Table) any {
	document := struct {
		Format string      `json:"format"`
		Games  []gameEntry `json:"games"`
	}{Format: "muster.games/1"}
	for _, g := range games.All() {
		document.Games = append(document.Games, gameEntry{
			ID: g.ID, Name: g.Name, Protocol: g.ProtocolName, Port: g.Port, Masters: append([]string{}, g.Masters...),
			AppID: g.AppID, By: g.Rule, Launch: g.Template(runtime.GOOS),
		})
	}
	return document
}

func (p *program) listGames(games game.Table) {
	t := term.Table{Columns: []term.Column{term.Whole("ID"), term.Left("NAME"), term.Left("PROTOCOL"), term.Right("PORT"), term.Left("SERVERS FROM")},
		Spare: []string{"PORT", "PROTOCOL", "SERVERS FROM"}}
	for _, g := range games.All() {
		t.Add(g.ID, g.Name, g.ProtocolName, g.Port, cmp.Or(strings.Join(g.Masters, ", "), "a file: --servers FILE"))
	}
	t.Write(p.out)
	p.screen.Say("add or change games in %s", configFile("games.toml"))
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
