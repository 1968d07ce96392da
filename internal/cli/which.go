package cli

import (
	"context"

	"muster/internal/game"
	"muster/internal/which"
)

// findGame returns the game that a flag names.
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
