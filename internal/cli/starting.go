package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/lobby"
	"muster/internal/option"
)

// starting holds the flags for starting game servers at candidate places.
type starting struct {
	lobby.Starter
	command string
}

func (s *starting) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.command, "start-command", "",
		"start a server at a place where one would suit, with this `TEMPLATE`; see docs/places.md")
	option.Word(cmd, &s.When, "start", game.StartAsk, []game.Starts{game.StartAsk, game.StartAuto, game.StartNever},
		"run --start-command")
	flags.DurationVar(&s.Within, "start-within", lobby.StartTime,
		"give a server that was started up that has not answered after this `DURATION`")
}

// starter returns a starter that follows the flags, or nil if they ask for none.
func (s *starting) starter(games game.Table, asking lobby.Asking, settings func() wire.Settings) *lobby.Starter {
	if s.command == "" {
		return nil
	}
	s.Games, s.Asking, s.Settings = games, asking, settings
	return &s.Starter
}

// check refuses a command that cannot work, before anybody waits for it.
func (s *starting) check(hasPlaces bool) (err error) {
	if s.command == "" {
		if s.When == game.StartAuto {
			return hint.With(usagef("--start auto runs what --start-command says, and nothing does"),
				"say what starts a server with --start-command, or leave it out")
		}
		if s.Within != lobby.StartTime {
			return hint.With(usagef("--start-within says how long a server that was started may take, and "+
				"nothing starts one"), "say what does with --start-command, or leave it out")
		}
		return nil
	}
	if !hasPlaces {
		return hint.With(usagef("--start-command starts a server at one of your places, and there are none"),
			"say where it could be with --places FILE")
	}
	if s.Within <= 0 {
		return usagef("--start-within %v: a server takes some time to start", s.Within)
	}
	if s.Hook, err = game.NewHook(s.command); err != nil {
		return usagef("--start-command: %s", hint.Plain(err))
	}
	if program, isThere := s.Hook.Program(); !isThere {
		return hint.With(fmt.Errorf("--start-command: there is no program %s on this machine", program),
			"say where it is, as in /home/me/bin/start-server, or install it")
	}
	return nil
}
