package publichost

import (
	"net/http"
	"os"

	"muster/internal/discord"
	"muster/internal/discord/interactions"
	"muster/internal/game"
	"muster/internal/hint"
)

// ReadDiscord reads the file of an application at Discord.
func ReadDiscord(name string) (application discord.Config, err error) {
	file, err := os.Open(name)
	if err == nil {
		defer file.Close()
		application, err = discord.ReadConfig(file)
	}
	if err != nil {
		return application, hint.With(hint.Usagef("--discord %s: %s", name, hint.Reason(err)), "docs/discord.md has an example")
	}
	return application, nil
}

// inDiscord returns what answers Discord, nil if nothing does. use gives it the host, and end ends it.
func (h *Host) inDiscord(games game.Table) (serves http.Handler, use func(host http.Handler), end func()) {
	if h.Discord == "" {
		return nil, func(http.Handler) {}, func() {}
	}
	handler := interactions.New(interactions.Settings{
		Config: h.application, Public: h.Ingress.Public, Search: h.searchListed(games), Name: games.Name, PerUser: h.Public.PerAddress,
		Log: h.log,
	})
	return handler, handler.Use, handler.Close
}

// searchListed returns a search for the games whose servers somebody lists: for others an organiser brings a list,
// which nobody does in a chat.
func (h *Host) searchListed(games game.Table) func(text string) []discord.Game {
	listed := map[string]bool{}
	var all []discord.Game
	for _, g := range h.Public.Games {
		if listed[g.ID] = g.Listed; g.Listed {
			all = append(all, discord.Game{ID: g.ID, Name: g.Name})
		}
	}
	return func(text string) (found []discord.Game) {
		if text == "" {
			return all
		}
		for _, m := range games.Search(text) {
			if listed[m.Game.ID] {
				found = append(found, discord.Game{ID: m.Game.ID, Name: m.Game.Name, IsOther: m.IsOther()})
			}
		}
		return found
	}
}
