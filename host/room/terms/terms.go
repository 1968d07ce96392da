// Package terms decides which settings a room takes: from its organiser, while people are here, and
// from a host that was started again with other flags.
package terms

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"muster/host/schedule"
	"muster/host/wire"
)

// Facts are the present facts about the room and its host.
type Facts struct {
	Now time.Time
	// Stage is the room's stage, and Players the number of its players.
	Stage   wire.Stage
	Players int
	// Games are the games whose servers the host knows. MaxPlaces bounds the candidate places of a
	// room.
	Games     []string
	MaxPlaces int
	// Places are the host's own, for rooms that look for a place and name none.
	Places wire.Venues
	// IsPublic says that no place may be private, and Posts that the host posts by webhooks.
	IsPublic, Posts bool
}

var (
	errNoSettings = impossible("refused.settings-none")
	errNoPosts    = impossible("refused.posts").Advising("refused.posts-hint")
	errPrivate    = impossible("refused.place-private").Advising("refused.place-private-hint")
	errOver       = impossible("refused.every-over").Advising("refused.every-over-hint")
)

func impossible(key string, pairs ...any) *wire.Refusal {
	return wire.Refuse(wire.ReasonAction, key, pairs...)
}

// Change returns a room's settings with a patch applied. With an error they are unchanged.
func Change(before wire.Settings, patch json.RawMessage, f Facts) (wire.Settings, error) {
	if len(patch) == 0 {
		return before, errNoSettings
	}
	s, err := before.Patched(patch, wire.OnPage)
	if err == nil {
		err = f.refusal(before, s)
	}
	if err != nil {
		return before, err
	}
	if s.Game != before.Game {
		s.Servers = nil // they are another game's
	}
	if s.Seeks == "" && before.Seeks != "" && s.Places.Equal(f.Places) {
		s.Places = nil // they are for rooms that look for a place
	}
	if s, err = s.Placed(f.Places); err != nil {
		return before, err
	}
	return s, nil
}

// refusal returns why a room cannot change its settings to others, or nil.
func (f Facts) refusal(before, s wire.Settings) error {
	every, _ := schedule.Parse(s.Every, "")
	isBetween := slices.Contains([]wire.Stage{wire.Gathering, wire.Launching, wire.Failed}, f.Stage) // no list is in use
	switch {
	case s.Every != before.Every && every.IsOver(f.Now):
		return errOver
	case s.Webhook != "" && s.Webhook != before.Webhook && !f.Posts:
		return errNoPosts
	case s.Game != before.Game && s.Game != "" && !slices.Contains(f.Games, s.Game):
		return impossible("refused.game-none", "game", s.Game)
	case s.Game != before.Game && !isBetween:
		return impossible("refused.game-in-round", "game", before.Game)
	case s.IsMatch() != before.IsMatch() && f.Stage != wire.Gathering: // it would show everyone's pings
		return impossible("refused.match-begun")
	case before.IsMatch() && f.Stage == wire.Chosen && decides(s) != decides(before):
		return impossible("refused.match-rules")
	case len(s.Places) > len(before.Places) && len(s.Places) > f.MaxPlaces:
		return impossible("refused.places-most", "n", f.MaxPlaces).Advising("refused.places-most-hint")
	case f.IsPublic && s.Places.Private():
		return errPrivate
	case s.Players > 0 && s.Players < f.Players:
		return impossible("refused.players-here", "n", f.Players)
	}
	return nil
}

// decides returns the settings by which captains and the room decide a match. The organiser may be
// on a side, and cannot change them in the middle of the moves.
func decides(s wire.Settings) string {
	law, _ := json.Marshal(s.Law) // every law has a form in JSON
	return fmt.Sprint(s.Match, s.Order, s.Maps, s.Turn, s.By, s.Limits, string(law))
}

// Resettle returns a room's settings by a host's flags. The game stays, the room is as open as
// before, and it has places for all players who are here. Unless the room still gathers, a match
// keeps its rules, and no other room becomes a match.
func Resettle(before, given wire.Settings, players int, gathers bool) wire.Settings {
	given.Game, given.Open = before.Game, before.Open
	if !gathers {
		given.Match, given.Order, given.Maps, given.Turn, given.Law = before.Match, before.Order, before.Maps, before.Turn, before.Law
		if before.IsMatch() {
			given.By, given.Limits = before.By, before.Limits
		}
	}
	if given.Players > 0 {
		given.Players = max(given.Players, players)
	}
	return given
}
