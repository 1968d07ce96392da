package public

import (
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/schedule"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/rules"
)

// Settings reads the settings that a stranger wants for a room.
func (p *Limits) Settings(body []byte, from netip.Addr, now time.Time) (s wire.Settings, err error) {
	var wanted map[string]json.RawMessage
	if err := json.Unmarshal(body, &wanted); err != nil {
		return s, malformed("refused.no-json").Advising("refused.example-hint", "example", `{"game":"openarena","players":4}`)
	}
	var lines []string
	if list, is := wanted["servers"]; is {
		if err := json.Unmarshal(list, &lines); err != nil {
			return s, malformed("refused.servers-list", "example", `["192.0.2.1:27960"]`)
		}
		delete(wanted, "servers")
	}
	var seeks string
	json.Unmarshal(wanted["seeks"], &seeks) // the patch refuses what is no text
	g, err := p.game(wanted, len(lines) > 0, seeks == wire.SeekPlace)
	if err != nil {
		return s, err
	}
	patch, err := json.Marshal(wanted)
	if err != nil {
		return s, err
	}
	s = wire.Settings{By: g.By, Strategy: wire.Coordinated, Max: p.Players}
	if s, err = s.Patched(patch, wire.IsOpen); err != nil {
		var refusal *wire.Refusal
		if !errors.As(err, &refusal) {
			return s, err
		}
		why := *refusal
		why.Reason = wire.ReasonMalformed // there is no room yet
		return s, &why
	}
	if err := p.checkFits(s, g, len(lines) > 0, now); err != nil || len(lines) == 0 {
		return s, err
	}
	s.Servers, err = p.Own(g.ID, lines, from)
	return s, err
}

// malformed is the answer to malformed settings, with a hint.
func malformed(key string, pairs ...any) *wire.Refusal {
	return wire.Refuse(wire.ReasonMalformed, key, pairs...)
}

// game returns the wanted game. For one of the host's games, the host's entry counts. Otherwise the
// stranger describes the game and brings a list. A room that looks for a place needs neither a game nor a
// list.
func (p *Limits) game(wanted map[string]json.RawMessage, hasList, isOfPlaces bool) (Game, error) {
	var id string
	json.Unmarshal(wanted["game"], &id) // a value that is not a text names no game
	var own *wire.OwnGame
	json.Unmarshal(wanted["own_game"], &own) // nor does a value that is not a game
	if at := slices.IndexFunc(p.Games, func(g Game) bool { return g.ID == id }); at >= 0 {
		delete(wanted, "own_game")
		return p.Games[at], nil
	}
	switch {
	case id == "" && isOfPlaces && !hasList:
		delete(wanted, "own_game")
		return Game{By: selection.Mean}, nil
	case own == nil || own.ID != id:
		return Game{}, malformed("refused.no-game", "game", discovery.CleanText(id)).Advising("refused.no-game-hint")
	case !hasList && !isOfPlaces:
		return Game{}, malformed("refused.game-unlisted", "game", discovery.CleanText(id)).Advising("refused.game-unlisted-hint")
	}
	return Game{Game: wire.Game{ID: id}, By: selection.Mean}, nil
}

// checkFits returns an error if no room can be opened with settings that are otherwise valid.
func (p *Limits) checkFits(s wire.Settings, g Game, hasList bool, now time.Time) error {
	switch every, err := schedule.Parse(s.Every, ""); {
	case err == nil && every.IsOver(now):
		return malformed("refused.every-over").Advising("refused.every-over-hint")
	case len(s.Places) > p.Places:
		return malformed("refused.places-most", "n", p.Places).Advising("refused.places-most-hint")
	case s.Places.Private():
		return malformed("refused.place-private").Advising("refused.place-private-hint")
	case rules.Of(s.By).NeedsLimit && len(s.Limits) == 0:
		return malformed("refused.rule-limit", "rule", string(s.By)).Advising("refused.example-hint", "example", `"limits_ms":[150]`)
	case !hasList && !g.Listed && s.Seeks != wire.SeekPlace:
		return malformed("refused.nobody-lists", "game", g.Name).Advising("refused.nobody-lists-hint")
	}
	return nil
}
