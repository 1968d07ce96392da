package host

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"muster/host/access"
	"muster/host/matchfile"
	"muster/host/room"
	"muster/host/wire"
)

// serveMatches serves the matches that a room has played: GET /api/rooms/CODE/matches.
//
//	(nothing)                     all of them, as JSON
//	?format=csv                   all of them as a table
//	?format=get5|matchzy|tmt2     the newest, for a game server's plugin or manager
//	&round=2                      that of the room's second round instead
//
// Only players get the server's password and the SteamID64s.
func (p *pageAPI) serveMatches(w http.ResponseWriter, r *http.Request) {
	a := p.addressed(w, r, r.PathValue("code"))
	if a == nil {
		return
	}
	view, _ := a.views.get()
	badge := view.Badges[room.DigestOf(bearer(r))]
	matches, here := ask(a, func() []*wire.MatchRecord {
		var ids wire.SteamIDs
		if badge.Organiser || badge.Name != "" && !badge.Guest {
			ids = a.room.Settings().SteamIDs
		}
		return matchesOf(view.Snapshot.History, access.PublicID(a.room.Keys().Link), a.room.Settings().Name, ids)
	})
	if !here {
		p.refuse(w, http.StatusServiceUnavailable, *a.tooLate())
		return
	}
	for _, m := range matches {
		m.Password, m.Spectate = badge.Password, spectate(p.join, m)
	}
	query := r.URL.Query()
	switch format := query.Get("format"); format {
	case "":
		answer(w, http.StatusOK, wire.Matches{Format: wire.MatchesFormat, Matches: matches})
	case "csv":
		download(w, "text/csv; charset=utf-8", "matches.csv")
		wire.MatchesCSV(w, matches) // fails only if the client is gone
	default:
		p.serveMatchFile(w, matchfile.Kind(format), matches, query.Get("round"))
	}
}

// serveMatchFile serves the match of a round, the newest without one.
func (p *pageAPI) serveMatchFile(w http.ResponseWriter, kind matchfile.Kind, matches []*wire.MatchRecord, round string) {
	var match *wire.MatchRecord
	for _, m := range matches {
		if round == "" || strconv.Itoa(m.Round) == round {
			match = m
		}
	}
	if match == nil {
		p.refuse(w, http.StatusNotFound, *wire.Refuse(wire.ReasonAction, "refused.match-none").Advising("refused.match-none-hint"))
		return
	}
	file, err := matchfile.Of(kind, match)
	switch {
	case errors.Is(err, matchfile.ErrNoMaps):
		p.refuse(w, http.StatusConflict, *wire.Refuse(wire.ReasonAction, "refused.match-maps").Advising("refused.match-maps-hint"))
	case errors.Is(err, matchfile.ErrNoIDs):
		p.refuse(w, http.StatusConflict, *wire.Refuse(wire.ReasonAction, "refused.match-ids").Advising("refused.match-ids-hint"))
	case err != nil:
		p.refuse(w, http.StatusBadRequest, *wire.Refuse(wire.ReasonMalformed, "refused.match-kind", "kinds", matchfile.Kinds()))
	default:
		download(w, "application/json", fmt.Sprintf("match-%s.json", kind))
		w.Write(file) // fails only if the client is gone
	}
}

// download says that a browser saves the answer as a file. The answer may have a password.
func download(w http.ResponseWriter, kind, name string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(name))
	w.Header().Set("Cache-Control", "no-store")
}

// matchesOf returns the matches of a room's history, the oldest first. id identifies the room, and
// name is what it is called.
func matchesOf(history []wire.Played, id, name string, ids wire.SteamIDs) []*wire.MatchRecord {
	matches := []*wire.MatchRecord{}
	for _, played := range history {
		if m := wire.RecordOf(id, name, played); m != nil {
			m.Identify(ids)
			matches = append(matches, m)
		}
	}
	return matches
}

// spectate returns what a spectator types in the game's console, or the server's address. join is
// [Config.Join].
func spectate(join func(game string, way wire.Way) wire.Way, m *wire.MatchRecord) string {
	if join == nil {
		return m.Server.Connect
	}
	if t := join(m.Game, wire.Way{Connect: m.Server.Connect}).Typed; t != nil && t.Where == "console" {
		return strings.Join(t.Texts, "; ")
	}
	return m.Server.Connect
}
