package publichost

import (
	"context"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"muster/host"
	"muster/internal/game"
	"muster/internal/hint"
)

// Reloadable returns the flags that a host can change while it runs.
func Reloadable() []string {
	return []string{"max-rooms", "max-players", "idle", "standing-rooms", "standing-weeks", "room-memory", "message-rate",
		"max-places", "max-servers"}
}

// hearHangups catches SIGHUP, which would otherwise end the program.
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

// sortChanges separates the changed settings that the host applies at once from those that need a restart.
func sortChanges(names []string) (atOnce, later []string) {
	for _, name := range names {
		if slices.Contains(Reloadable(), name) {
			atOnce = append(atOnce, name)
		} else {
			later = append(later, name)
		}
	}
	return atOnce, later
}

// reloadOn reads the settings and the certificate again on each SIGHUP, until ctx ends.
func (h *Host) reloadOn(ctx context.Context, reread func() (*Settings, error), rooms *host.Host, games game.Table) {
	running := maps.Clone(h.Texts)
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.hangups:
		}
		h.Ingress.Renew()
		updated, err := reread()
		if err != nil {
			h.log.Error("not reloaded: the settings make no sense, and stay as they were", "error", hint.Plain(err), "hint", hint.Of(err))
			continue
		}
		atOnce, later := sortChanges(changed(running, updated.Texts))
		limits := updated.Public
		limits.Own, limits.Annotate = ownLists(games, updated.Public.Servers), h.Public.Annotate
		limits.Version, limits.Commit, limits.Date = h.Public.Version, h.Public.Commit, h.Public.Date
		rooms.SetLimits(limits)
		h.setLeagues(limits.Leagues)
		for _, name := range atOnce {
			if text, has := updated.Texts[name]; has {
				running[name] = text
			} else {
				delete(running, name)
			}
		}
		h.log.Info("reloaded", "taken_on", atOnce, "needs_restart", later)
		if len(later) > 0 {
			h.log.Warn("some settings have changed that count from the next start: restart the host when it suits", "settings", later)
		}
	}
}
