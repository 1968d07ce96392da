package cli

import (
	"context"
	"strings"

	"muster/internal/game"
	"muster/internal/hint"
)

// findGame returns the game that a flag names, by its id or by what people call it. Wrong letters are not guessed: a
// script must not end up in another game.
func (p *program) findGame(text string) (game.Game, error) {
	if text == "" {
		return game.Game{}, usageError(hint.Say("which.missing").Advising("which.missing-hint", "flag", "--game ID", "command", "muster games"))
	}
	games, err := p.games()
	if err != nil {
		return game.Game{}, err
	}
	g, like, err := meant(games, text)
	switch {
	case err != nil:
		return g, usageError(err)
	case len(like) > 0 && like[0].Slipped():
		_, err := games.Find(text)
		return game.Game{}, usageError(err)
	}
	p.sayTaken(g, text)
	return g, nil
}

// meant returns the game that a text means, or an error that names the nearest. like is nil for a game's id.
func meant(games game.Table, text string) (g game.Game, like []game.Match, err error) {
	if g, err = games.Find(text); err == nil {
		return g, nil, nil
	}
	like = games.Search(text)
	if g, isClear := game.Clear(like); isClear {
		return g, like, nil
	}
	if len(like) > 1 && !like[0].Slipped() {
		several := &game.SeveralError{Text: text}
		for _, m := range like {
			several.Games = append(several.Games, m.Game)
		}
		return game.Game{}, like, several
	}
	return game.Game{}, like, err
}

// sayTaken tells which game a text means, unless it is the game's id.
func (p *program) sayTaken(g game.Game, text string) {
	if !strings.EqualFold(g.ID, text) {
		p.screen.Tell("which.taken", "game", g.Name, "id", g.ID)
	}
}

// mostOffered is how many games are listed when several match.
const mostOffered = 12

// pickGame returns the id of the game that a command's argument or flag means. On a terminal it asks if that leaves a
// doubt; an empty id means that nobody said which game.
func (p *program) pickGame(ctx context.Context, given string, args []string) (id string, err error) {
	text := given
	if len(args) > 0 {
		if text = args[0]; given != "" && given != text {
			return "", usagef("which game: %s, or %s?", text, given)
		}
	}
	isFlag, asks := len(args) == 0, p.isAsked()
	switch {
	case text == "" && !asks:
		return "", nil
	case text != "" && isFlag && !asks:
		g, err := p.findGame(text)
		return g.ID, err
	}
	games, err := p.games()
	if err != nil {
		return "", err
	}
	if text == "" {
		p.offerInstalled(games)
		return p.askGame(ctx, games)
	}
	g, like, err := meant(games, text)
	switch {
	case err == nil:
		p.sayTaken(g, text)
		return g.ID, nil
	case !asks:
		return "", usageError(err)
	}
	p.offer(like)
	return p.askGame(ctx, games)
}

// askGame asks for a game until the answer leaves no doubt.
func (p *program) askGame(ctx context.Context, games game.Table) (id string, err error) {
	c := p.desk().Console(p.in, func(string) {}, func() {})
	for {
		answer, ok := c.Ask(ctx, p.screen.Words("which.ask")+" ")
		if !ok {
			return "", ctx.Err()
		}
		if answer == "" {
			continue
		}
		g, like, err := meant(games, answer)
		if err == nil {
			p.sayTaken(g, "")
			return g.ID, nil
		}
		p.offer(like)
	}
}

// offer lists games that a text may mean.
func (p *program) offer(like []game.Match) {
	if len(like) == 0 {
		p.screen.Tell("which.none", "command", "muster games")
	}
	for _, m := range like[:min(len(like), mostOffered)] {
		p.screen.Say("  %-16s %s", m.Game.ID, m.Game.Name)
	}
	if more := len(like) - mostOffered; more > 0 {
		p.screen.Say("  %s", p.screen.Words("which.more", "n", more))
	}
}

// offerInstalled lists the games that are on this computer.
func (p *program) offerInstalled(games game.Table) {
	var here []string
	steam := p.steam().Folders()
	for _, g := range games.All() {
		if _, is := g.Where(steam); is {
			here = append(here, g.ID)
		}
	}
	if len(here) > 0 {
		p.screen.Say("%s", p.screen.Wrap(p.screen.Words("which.here", "games", here), 0))
	}
}
