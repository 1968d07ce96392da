package game

import (
	"errors"
	"strings"

	"muster/host/wire"
)

// Delaying is how players of a game delay their own packets, for even pings. A game has it only if a source says that
// the game allows it in play; most forbid it, or have it for tests alone.
type Delaying struct {
	// Command is what players type in the console, with {ms} for the delay. MaxMS is the longest that the game takes.
	Command string `toml:"command"`
	MaxMS   int    `toml:"most_ms"`
	// Program is the game's program that has the command, if there are several.
	Program string `toml:"program"`
	// References are the sources, each "DATE WHERE: WHAT".
	References []string `toml:"sources"`
}

// maxDelay bounds a delay, in ms: nobody wants more.
const maxDelay = 1000

// check reports what is wrong with how players delay their packets.
func (d *Delaying) check() error {
	switch {
	case d == nil:
		return nil
	case strings.Count(d.Command, "{ms}") != 1 || len(d.Command) > maxText || strings.ContainsFunc(d.Command, isControl):
		return errors.New("delay: command has {ms} once, and is one short line")
	case d.MaxMS < 1 || d.MaxMS > maxDelay:
		return errors.New("delay: most_ms is from 1 to 1000")
	}
	return nil
}

func isControl(c rune) bool { return c < ' ' || c == '\x7f' }

// Delay returns how players of a game delay their own packets, nil if the table knows no way.
func (t Table) Delay(id string) *wire.DelayCommand {
	g, err := t.Find(id)
	if err != nil || g.Delay == nil {
		return nil
	}
	return &wire.DelayCommand{Command: g.Delay.Command, MaxMS: g.Delay.MaxMS, Program: g.Delay.Program}
}
