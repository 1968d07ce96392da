package game

import (
	"context"
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

// DelayLine says that a game's engine bears a line between game and server that holds packets for a while
// (package delayed). Args are added to the game's command then. No game has it whose servers check a ticket of Steam's,
// or that has EAC or BattlEye: they take a line for an attack.
type DelayLine struct {
	Args       []string `toml:"args"`
	References []string `toml:"sources"`
}

// check reports what is wrong with a game's line.
func (d *DelayLine) check(protocol string) error {
	switch {
	case d == nil:
		return nil
	case protocol != "quakeworld" && protocol != "quake3":
		return errors.New("delay_line: only games of the protocols quakeworld and quake3 have one")
	case len(strings.Join(d.Args, " ")) > maxText || strings.ContainsFunc(strings.Join(d.Args, ""), isControl):
		return errors.New("delay_line: args are a few short words")
	}
	return nil
}

// HasDelayLine reports whether Muster's program can hold the game's packets. Ezquake and its like have a delay of their
// own; then the player types that.
func (l *Launcher) HasDelayLine(ctx context.Context, id string) bool {
	g, err := l.Games.Find(id)
	if err != nil || g.DelayLine == nil || l.Starts == StartNever {
		return false
	}
	argv, _, _, err := l.fill(ctx, wire.Launch{Game: id, Address: nobodys})
	return err == nil && takesAddress(argv, nobodys) &&
		(g.Delay == nil || !strings.Contains(strings.ToLower(strings.Join(argv, " ")), strings.ToLower(g.Delay.Program)))
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

// Transferring is what the operator of a game's server types there to send a player to another server. A game has it
// only if a source says so.
type Transferring struct {
	// Command has {host}, {port} and {player}, the player's name in the game.
	Command string `toml:"command"`
	// References are the sources, each "DATE WHERE: WHAT".
	References []string `toml:"sources"`
}

// check reports what is wrong with how operators send players on.
func (t *Transferring) check() error {
	if t == nil {
		return nil
	}
	for _, value := range []string{"{host}", "{port}", "{player}"} {
		if strings.Count(t.Command, value) != 1 {
			return errors.New("transfer: command has {host}, {port} and {player} once each")
		}
	}
	if len(t.Command) > maxText || strings.ContainsFunc(t.Command, isControl) {
		return errors.New("transfer: command is one short line")
	}
	return nil
}

// Transfer returns what operators of a game's servers type to send a player on, empty if the table knows no way.
func (t Table) Transfer(id string) string {
	g, err := t.Find(id)
	if err != nil || g.Transfer == nil {
		return ""
	}
	return g.Transfer.Command
}
