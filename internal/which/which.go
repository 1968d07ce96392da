// Package which finds the game that a player means by a text, and asks at a terminal if the text leaves a doubt.
package which

import (
	"context"
	"strings"

	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/term"
)

// Chooser chooses a game of a table. The zero Ask asks nobody.
type Chooser struct {
	Games  game.Table
	Screen *term.Screen
	// Ask asks the player a question at the terminal; it is false once the player is gone.
	Ask func(ctx context.Context, question string) (answer string, ok bool)
	// Installed returns the ids of the games on this computer.
	Installed func() []string
}

// Named returns the game that a script names, by its id or by what people call it. It guesses no wrong letters, because a
// script must not end up in another game.
func (c Chooser) Named(text string) (game.Game, error) {
	if text == "" {
		return game.Game{}, hint.Say("which.missing").Advising("which.missing-hint", "flag", "--game ID", "command", "muster games")
	}
	g, like, err := c.Games.Meant(text)
	switch {
	case err != nil:
		return g, err
	case len(like) > 0 && like[0].IsSlip():
		_, err := c.Games.Find(text)
		return game.Game{}, err
	}
	c.sayTaken(g, text)
	return g, nil
}

// Pick returns the id of the game that a player means. If that leaves a doubt, or the text is empty, it asks until it does
// not. Without Ask a doubt is an error, and no text is no game.
func (c Chooser) Pick(ctx context.Context, text string) (id string, err error) {
	if text == "" {
		if c.Ask == nil {
			return "", nil
		}
		if here := c.Installed(); len(here) > 0 {
			c.Screen.Say("%s", c.Screen.Wrap(c.Screen.Words("which.here", "games", here), 0))
		}
		return c.ask(ctx)
	}
	g, like, err := c.Games.Meant(text)
	switch {
	case err == nil:
		c.sayTaken(g, text)
		return g.ID, nil
	case c.Ask == nil:
		return "", err
	}
	c.offer(like)
	return c.ask(ctx)
}

func (c Chooser) ask(ctx context.Context) (id string, err error) {
	for {
		answer, ok := c.Ask(ctx, c.Screen.Words("which.ask")+" ")
		if !ok {
			return "", ctx.Err()
		}
		if answer == "" {
			continue
		}
		g, like, err := c.Games.Meant(answer)
		if err == nil {
			c.sayTaken(g, "")
			return g.ID, nil
		}
		c.offer(like)
	}
}

// sayTaken tells which game a text means, unless it is the game's id.
func (c Chooser) sayTaken(g game.Game, text string) {
	if !strings.EqualFold(g.ID, text) {
		c.Screen.Tell("which.taken", "game", g.Name, "id", g.ID)
	}
}

// maxOffered is how many games are listed when several match.
const maxOffered = 12

// offer lists games that a text may mean.
func (c Chooser) offer(like []game.Match) {
	if len(like) == 0 {
		c.Screen.Tell("which.none", "command", "muster games")
	}
	for _, m := range like[:min(len(like), maxOffered)] {
		c.Screen.Say("  %-16s %s", m.Game.ID, m.Game.Name)
	}
	if more := len(like) - maxOffered; more > 0 {
		c.Screen.Say("  %s", c.Screen.Words("which.more", "n", more))
	}
}
