package host

import (
	"fmt"
	"slices"
	"time"

	"muster/discovery"
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
	wish := selection.Wish{By: s.By, Limits: s.Limits}
	if err := wish.Check(nil); err != nil {
		return err
	}
	r.Settings = s
	if r.Stage == wire.Refining {
		r.search = nil // it looked for something else
	}
	r.note(now, "the organiser wants %s", r.wishText())
	return nil
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

// wishText is what the organiser wants, for the log.
func (r *Room) wishText() string {
	text := r.Settings.Game + " by " + r.ruleText()
	if r.Settings.Map != "" {
		text += " on " + r.Settings.Map
	}
	if r.Settings.Mode != "" {
		text += " in mode " + r.Settings.Mode
	}
	if r.Settings.Players > 0 {
		text += fmt.Sprintf(" for %d", r.Settings.Players)
	}
	return text
}
