package public

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/schedule"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/rules"
)

// Settings reads what a stranger wants of a room.
func (p *Limits) Settings(body []byte, from netip.Addr) (s wire.Settings, err error) {
	var wanted map[string]json.RawMessage
	if err := json.Unmarshal(body, &wanted); err != nil {
		return s, &wire.Refusal{
			Reason:  wire.ReasonMalformed,
			Message: "that is no JSON object",
			Hint:    `say such as {"game":"openarena","players":4}`,
		}
	}
	var lines []string
	if list, is := wanted["servers"]; is {
		if err := json.Unmarshal(list, &lines); err != nil {
			return s, errors.New(`servers: a list of addresses such as ["192.0.2.1:27960"] is wanted`)
		}
		delete(wanted, "servers")
	}
	for name, key := range map[string]string{"max_rtt_ms": "limits_ms", "password": "-"} {
		if value, is := wanted[name]; is {
			wanted[key] = value
			delete(wanted, name)
		}
	}
	table := slices.DeleteFunc(wire.Table(), func(row wire.Setting) bool { // nothing but its keys leads into a stranger's room
		return slices.Contains([]string{"open", "most", "servers"}, row.Key)
	})
	for key := range wanted {
		if !slices.ContainsFunc(table, func(row wire.Setting) bool { return row.Key == key }) {
			return s, &wire.Refusal{
				Reason:  wire.ReasonMalformed,
				Message: fmt.Sprintf("a room here has no setting %q", discovery.CleanText(key)),
				Hint:    "it is one of a later release, or it is misspelt",
			}
		}
	}
	var id string
	json.Unmarshal(wanted["game"], &id) // what is no text is no game
	var own *wire.OwnGame
	json.Unmarshal(wanted["own_game"], &own) // as is what is no game
	at := slices.IndexFunc(p.Games, func(g Game) bool { return g.ID == id })
	g := Game{Game: wire.Game{ID: id}, By: selection.Mean}
	switch isOwn := own != nil && own.ID == id; {
	case at >= 0:
		g = p.Games[at]
		delete(wanted, "own_game")
	case isOwn && len(lines) == 0:
		return s, &wire.Refusal{
			Reason:  wire.ReasonMalformed,
			Message: fmt.Sprintf("the game %q is not known here", discovery.CleanText(id)),
			Hint:    "give a list of its servers",
		}
	case isOwn:
	default:
		return s, &wire.Refusal{
			Reason:  wire.ReasonMalformed,
			Message: fmt.Sprintf("no game %q is known here", discovery.CleanText(id)),
			Hint:    "GET /api/service lists the games",
		}
	}
	patch, err := json.Marshal(wanted)
	if err != nil {
		return s, err
	}
	s = wire.Settings{By: g.By, Strategy: wire.Coordinated, Most: p.Players}
	if s, err = s.Patched(patch, func(wire.Setting) bool { return true }); err != nil {
		return s, err
	}
	switch every, err := schedule.Parse(s.Every, ""); {
	case err == nil && every.IsOver(time.Now()):
		return s, &wire.Refusal{
			Reason:  wire.ReasonMalformed,
			Message: fmt.Sprintf("every: %v", schedule.ErrOver),
			Hint:    "say the next date, or a day of each week",
		}
	case len(s.Places) > p.Places:
		return s, &wire.Refusal{
			Reason:  wire.ReasonMalformed,
			Message: fmt.Sprintf("a room here has %d places to measure at most", p.Places),
			Hint:    "leave some out, or open the room on your own computer",
		}
	case s.Places.Private():
		return s, &wire.Refusal{
			Reason:  wire.ReasonMalformed,
			Message: "a place on a private network is nobody else's: a host on the internet has nobody asked there",
			Hint:    "give its public address, or open the room on your own computer",
		}
	case rules.Of(s.By).NeedsLimit && len(s.Limits) == 0:
		return s, &wire.Refusal{
			Reason:  wire.ReasonMalformed,
			Message: fmt.Sprintf("the rule %s needs a ping limit", s.By),
			Hint:    `say such as "max_rtt_ms":[150]`,
		}
	case len(lines) == 0 && !g.Listed:
		return s, &wire.Refusal{
			Reason:  wire.ReasonMalformed,
			Message: "nobody lists the servers of " + g.Name,
			Hint:    "give a list of your own: your favourites, one address a line",
		}
	case len(lines) == 0:
		return s, nil
	}
	s.Servers, err = p.Own(g.ID, lines, from)
	return s, err
}
