package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"muster/discovery"
	"muster/internal/hint"
	"muster/internal/home"
	"muster/internal/invite"
	"muster/internal/term"
)

// greeting is what people are asked before a room is joined that they did not type the
// link of.
type greeting string

const (
	// greetsNone: they have typed it.
	greetsNone greeting = "none"
	// greetsByName: the program's own name led here, by a double click. It was for this
	// room that they took it.
	greetsByName greeting = "name"
	// greetsByLink: a muster:// link did, which any site may have put before them.
	greetsByLink greeting = "link"
)

// named is the room that this program's own name leads to; ok is false if it leads to none.
func named(executable string) (to invite.Link, ok bool, err error) {
	to, err = invite.FromFileName(filepath.Base(executable))
	switch {
	case errors.Is(err, invite.ErrPlainName):
		return to, false, nil
	case err != nil:
		return to, false, err
	}
	return to, true, nil
}

// doubleClicked is the command line that this program's own name stands for, empty if the
// name carries no room; or it has been carried out already.
func (p *program) doubleClicked(ctx context.Context) (args []string, done bool, err error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, false, nil // then it has no name that says anything
	}
	to, ok, err := named(executable)
	switch {
	case err == nil && !ok:
		return nil, false, nil
	case p.isClicked():
		return nil, true, p.invited(ctx, home.Invitation{File: filepath.Base(executable)})
	case err != nil:
		return nil, true, p.stay(ctx, term.NewConsole(p.in, p.screen, func(string) {}, func() {}), err)
	}
	return []string{"join", to.String(), "--greet", string(greetsByName)}, false, nil
}

// isClicked reports whether a browser or a file manager has started this program, so that
// nobody sits at its terminal, and there is a desktop to ask on.
func (p *program) isClicked() bool {
	return p.desk().HasDesktop() && (!term.IsTerminal(p.in) || term.IsOwn())
}

// invited asks on Home's page whether to join a room.
func (p *program) invited(ctx context.Context, i home.Invitation) error {
	p.invitation = &i
	root := newRoot(p)
	root.SetArgs([]string{}) // nil is os.Args
	return root.ExecuteContext(ctx)
}

// greet asks what has to be known before a room is joined: whether, if somebody else
// wants it, and under which name.
func (j *join) greet(ctx context.Context, c *term.Console, to invite.Link) error {
	room := "a room"
	if to.Code != "" {
		room = "the room " + discovery.CleanText(to.Code)
	}
	switch j.greets {
	case greetsNone:
		return nil
	case greetsByName:
		c.Say("Muster takes you into %s at %s, to find the game server that is best for all of you.", room, to.Host)
	case greetsByLink:
		switch answer, ok := c.Ask(ctx, fmt.Sprintf("A link wants to take you into %s at %s. Join it? [y/N] ",
			room, to.Host)); {
		case ctx.Err() != nil:
			return ctx.Err()
		case !ok:
			return hint.With(errors.New("nobody is here to say whether a link may take you into "+room),
				"say it yourself: muster join "+to.String())
		case answer == "" || !term.Yes(answer):
			return errors.New("no room was joined")
		}
	}
	if name, ok := c.Ask(ctx, fmt.Sprintf("Your name there [%s]: ", j.launcher.Player)); ok && name != "" {
		j.launcher.Player = name
	}
	return ctx.Err()
}

// told is an error that people have read already.
type told struct{ error }

func (t told) Unwrap() error { return t.error }

// stay keeps the window open that a double click opened until what stands in it was
// read.
func (p *program) stay(ctx context.Context, c *term.Console, err error) error {
	if err == nil {
		err = ctx.Err()
	} else {
		p.say(err)
		err = told{err}
	}
	if ctx.Err() == nil && term.IsTerminal(p.in) {
		c.Ask(ctx, "Enter closes this window. ")
	}
	return err
}
