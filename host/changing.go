package host

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/access"
	"muster/host/wire"
	"muster/selection"
)

// Change takes the organiser's new settings, all or none of them. They count
// from the next decision on; the game only from the next list on.
func (r *Room) Change(n newSettings, games []Choice, now time.Time) error {
	s := r.Settings
	if err := n.into(&s); err != nil {
		return err
	}
	switch {
	case s.Game != r.Settings.Game && !slices.ContainsFunc(games, func(c Choice) bool { return c.ID == s.Game }):
		return fmt.Errorf("the host has no servers of %q", s.Game)
	case s.Game != r.Settings.Game && !r.isBetween():
		return fmt.Errorf("everyone is on the servers of %s already: change the game after this round", r.Settings.Game)
	case s.Players < 0 || s.Players > maxMembers:
		return fmt.Errorf("a room is for at most %d players", maxMembers)
	case s.Players > 0 && s.Players < len(r.Members):
		return fmt.Errorf("%d players are here already", len(r.Members))
	}
	wish := selection.Criteria{By: s.By, Limits: s.Limits}
	if err := wish.Check(nil); err != nil {
		return err
	}
	r.resettle(s, now)
	return nil
}

// resettle makes settings the room's.
func (r *Room) resettle(s Settings, now time.Time) {
	r.Settings = s
	if r.Stage == wire.Refining {
		r.search = nil // it looked for something else
	}
	r.note(now, "the organiser wants %s", s)
}

// Settings are those of a room, if there is one of the code.
func (h *Host) Settings(code string) (s Settings, ok bool) {
	settings := make(chan Settings, 1)
	a := h.actor(access.CanonicalCode(code))
	if a == nil || !a.post(func() { settings <- a.room.Settings }) {
		return Settings{}, false
	}
	return <-settings, true
}

// Resettle gives a room other settings, of the same game, as open as before, and
// for no fewer players than are here.
func (h *Host) Resettle(code string, s Settings) {
	if a := h.actor(access.CanonicalCode(code)); a != nil {
		a.post(func() {
			s.Game, s.Open = a.room.Settings.Game, a.room.Settings.Open
			if s.Players > 0 {
				s.Players = max(s.Players, len(a.room.Members))
			}
			a.room.resettle(s, time.Now())
		})
	}
}

// isBetween tells that no list is in use.
func (r *Room) isBetween() bool {
	return r.Stage == wire.Gathering || r.Stage == wire.Launching || r.Stage == wire.Failed
}

func (n *newSettings) into(s *Settings) error {
	replace(&s.Game, n.Game)
	replace(&s.Players, n.Players)
	replace(&s.By, n.By)
	replace(&s.Agree, n.Agree)
	if n.Map != nil {
		s.Map = discovery.CleanText(*n.Map)
	}
	if n.Mode != nil {
		s.Mode = discovery.CleanText(*n.Mode)
	}
	if n.LimitsMS != nil {
		limits, err := limitsOf(*n.LimitsMS)
		if err != nil {
			return err
		}
		s.Limits = limits
	}
	return nil
}

func replace[T any](old *T, newer *T) {
	if newer != nil {
		*old = *newer
	}
}

// String is what the organiser wants, for people.
func (s Settings) String() string {
	text := s.Game + " by " + s.rule()
	if s.Map != "" {
		text += " on " + s.Map
	}
	if s.Mode != "" {
		text += " in mode " + s.Mode
	}
	if s.Players > 0 {
		text += fmt.Sprintf(" for %d", s.Players)
	}
	return text
}

// rule names the rule and its limits.
func (s Settings) rule() string {
	var limits []string
	for _, limit := range s.Limits {
		limits = append(limits, limit.String())
	}
	if len(limits) == 0 {
		return string(s.By)
	}
	return string(s.By) + " with nobody over " + strings.Join(limits, ", then ")
}
