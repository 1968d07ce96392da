package cli

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/host"
	"muster/internal/game"
	"muster/internal/hint"
)

// reloadable are the flags whose new values a host takes on while it runs.
var reloadable = []string{"max-rooms", "max-players", "idle", "standing-rooms", "standing-weeks", "room-memory", "message-rate", "max-places", "max-servers"}

// hearHangups hears SIGHUP in place of the system, which would end the program.
func hearHangups() (hangups <-chan os.Signal, end func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// changed returns the names of the settings that differ, in order.
func changed(old, now map[string]string) (names []string) {
	for name, text := range now {
		if before, had := old[name]; !had || before != text {
			names = append(names, name)
		}
	}
	for name := range old {
		if _, has := now[name]; !has {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// sortChanges parts the names of settings that have changed: those that the host takes on at
// once, and those that need a restart.
func sortChanges(names []string) (atOnce, later []string) {
	for _, name := range names {
		if slices.Contains(reloadable, name) {
			atOnce = append(atOnce, name)
		} else {
			later = append(later, name)
		}
	}
	return atOnce, later
}

// reloadOn reads the settings and the certificate again with each SIGHUP, until ctx ends.
func (s *serving) reloadOn(ctx context.Context, hangups <-chan os.Signal, rooms *host.Host, games game.Table, log *slog.Logger) {
	running := maps.Clone(s.settings)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
		}
		s.ingress.Renew()
		anew, err := s.anew()
		if err != nil {
			log.Error("not reloaded: the settings make no sense, and stay as they were", "error", hint.Plain(err.Error()), "hint", hint.Of(err))
			continue
		}
		atOnce, later := sortChanges(changed(running, anew.settings))
		limits := anew.public
		limits.Own, limits.Annotate = anew.ownLists(games), s.public.Annotate
		limits.Version, limits.Commit, limits.Date = s.public.Version, s.public.Commit, s.public.Date
		rooms.SetLimits(limits)
		for _, name := range atOnce {
			if text, has := anew.settings[name]; has {
				running[name] = text
			} else {
				delete(running, name)
			}
		}
		log.Info("reloaded", "taken_on", atOnce, "needs_restart", later)
		if len(later) > 0 {
			log.Warn("some settings have changed that count from the next start: restart the host when it suits", "settings", later)
		}
	}
}

// anew is the command as it would start now: with the same command line and environment,
// and what config.toml says now.
func (s *serving) anew() (*serving, error) {
	p := *s.program
	next, cmd := serveCommand(&p)
	var failed error
	s.command.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		r, is := f.Value.(*recorded)
		if !is || !f.Changed || failed != nil {
			return
		}
		for _, text := range r.texts {
			if failed = cmd.Flags().Set(f.Name, text); failed != nil {
				return
			}
		}
	})
	if failed == nil {
		failed = p.grant(cmd)
	}
	if failed != nil {
		return nil, failed
	}
	next.settings = textsOf(cmd.Flags())
	return next, next.check()
}

// checkConfig says whether the settings make sense, without serving: flags, environment and
// config.toml are read before, and what is wrong in them has been told.
func (s *serving) checkConfig(ctx context.Context) error {
	if err := s.check(); err != nil {
		return err
	}
	if s.cert != "" {
		if err := s.ingress.Encrypt(s.cert, s.key); err != nil {
			return err
		}
	}
	if _, err := s.games(); err != nil {
		return err
	}
	s.warnOfProxy()
	fmt.Fprintln(s.out, "the settings make sense")
	return ctx.Err()
}

// newServe is the command that holds rooms for everybody.
func newServe(p *program) *cobra.Command {
	_, cmd := serveCommand(p)
	return cmd
}
