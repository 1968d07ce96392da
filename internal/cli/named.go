package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"muster/discovery"
	"muster/internal/hint"
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

// commandOf is the command line of a program that was started without one, by its
// file's name: it is empty if the name carries no room.
func commandOf(executable string) ([]string, error) {
	to, err := invite.FromFileName(filepath.Base(executable))
	switch {
	case errors.Is(err, invite.ErrPlainName):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []string{"join", to.String(), "--greet", string(greetsByName)}, nil
}

// doubleClicked is the command line that this program's own name stands for.
func (p *program) doubleClicked() ([]string, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, nil // then it has no name that says anything
	}
	return commandOf(executable)
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
		switch answer, ok := c.Ask(ctx, fmt.Sprintf("A link wants to take you into %s at %s. Join it? [y/N] ", room, to.Host)); {
		case ctx.Err() != nil:
			return ctx.Err()
		case !ok:
			return hint.With(errors.New("nobody is here to say whether a link may take you into "+room), "say it yourself: muster join "+to.String())
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

// terminals are programs that open a window for a command, as desktops have them, with
// what stands before the command.
var terminals = [...][]string{
	{"xdg-terminal-exec"}, {"x-terminal-emulator", "-e"}, {"gnome-terminal", "--"}, {"ptyxis", "--"}, {"kgx", "--"}, {"konsole", "-e"}, {"xfce4-terminal", "-x"},
	{"mate-terminal", "-x"}, {"tilix", "-e"}, {"lxterminal", "-e"}, {"qterminal", "-e"}, {"alacritty", "-e"}, {"kitty"}, {"foot"}, {"xterm", "-e"},
}

// inTerminal is set for a program that a terminal was opened for, so that it opens no
// other if that fails.
const inTerminal = "MUSTER_IN_TERMINAL"

// windowed runs the command again in a window of its own, where a file manager or a
// browser has started it without one, and reports whether it could. Windows and macOS
// open one themselves.
func (p *program) windowed(args []string) bool {
	hasDesktop := p.env("DISPLAY") != "" || p.env("WAYLAND_DISPLAY") != ""
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" || !hasDesktop || term.IsTerminal(p.in) || p.env(inTerminal) != "" {
		return false
	}
	self, err := os.Executable()
	if err != nil {
		return false
	}
	for _, terminal := range terminals {
		path, err := exec.LookPath(terminal[0])
		if err != nil {
			continue
		}
		argv := append(append(terminal[1:len(terminal):len(terminal)], self), args...)
		window := exec.Command(path, argv...)
		window.Env = append(os.Environ(), inTerminal+"=1")
		if window.Run() == nil {
			return true
		}
	}
	return false
}
