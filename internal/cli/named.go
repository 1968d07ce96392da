package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"muster/discovery/sentence"
	"muster/internal/hint"
	"muster/internal/home"
	"muster/internal/invite"
	"muster/internal/term"
)

// greeting is what to ask people before they join a room whose link they did not type.
type greeting string

const (
	// greetsNone asks nothing: the person typed the link.
	greetsNone greeting = ""
	// greetsByName: the program's file name led here by a double click. The person downloaded it
	// for this room.
	greetsByName greeting = "name"
	// greetsByLink: a muster:// link led here. Any site may have shown it.
	greetsByLink greeting = "link"
)

// doubleClicked returns the command line that the program's file name stands for. It is empty if
// the name contains no room. done says that the command was already carried out.
func (p *program) doubleClicked(ctx context.Context) (args []string, done bool, err error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, false, nil // then the name is unknown
	}
	to, err := invite.FromFileName(filepath.Base(executable)) // a folder's name counts for nothing
	switch {
	case errors.Is(err, invite.ErrPlainName):
		return nil, false, nil
	case p.isClicked():
		return nil, true, p.invited(ctx, home.Invitation{File: filepath.Base(executable)})
	case err != nil:
		return nil, true, p.stay(ctx, term.NewConsole(p.in, p.screen, func(string) {}, func() {}), err)
	}
	p.greets = greetsByName
	return []string{"join", "--", to.Personal(to.Secret)}, false, nil
}

// isClicked reports whether a browser or a file manager has started this program. Then nobody sits
// at its terminal, and there is a desktop to ask on.
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

// greet asks before a room is joined: whether to join, if somebody else suggested it, and under
// which name.
func (j *join) greet(ctx context.Context, c *term.Console, to invite.Link) error {
	room := sentence.Of("term.a-room")
	if to.Code != "" {
		room = sentence.Of("term.the-room", "code", to.Code)
	}
	switch j.greets {
	case greetsNone:
		return nil
	case greetsByName:
		c.Tell("term.takes-you", "room", room, "host", to.Host)
	case greetsByLink:
		switch answer, ok := c.Ask(ctx, c.Words("term.link-asks", "room", room, "host", to.Host)+" "); {
		case ctx.Err() != nil:
			return ctx.Err()
		case !ok:
			return hint.Say("term.link-nobody", "room", room).
				Advising("term.link-nobody-hint", "command", "muster join "+to.String())
		case answer == "" || !c.Yes(answer):
			return hint.Say("term.not-joined")
		}
	}
	if name, ok := c.Ask(ctx, c.Words("term.your-name", "name", j.launcher.Player)+" "); ok && name != "" {
		j.launcher.Player = name
	}
	return ctx.Err()
}

// told is an error that people have already read.
type told struct{ error }

func (t told) Unwrap() error { return t.error }

// stay keeps a window that a double click opened, until the person has read it.
func (p *program) stay(ctx context.Context, c *term.Console, err error) error {
	if err == nil {
		err = ctx.Err()
	} else {
		p.say(err)
		err = told{err}
	}
	if ctx.Err() == nil && term.IsTerminal(p.in) {
		c.Ask(ctx, c.Words("term.closes")+" ")
	}
	return err
}
