package room

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/discovery"
	"muster/host/room/ballot"
	"muster/host/wire"
	"muster/selection"
)

// takeEditions notes what a player who comes has of games. What the same program said
// before stays: the player may have said something else on the page meanwhile.
func (in Join) takeEditions(r *Room, p *player) {
	said := in.Hello.Editions
	if len(said) == 0 || p.program != "" && p.program == in.Hello.Program {
		return
	}
	if _, isOfRoom := said[""]; isOfRoom {
		p.setEdition(r.settings.Game, said)
	} else {
		p.editions = maps.Clone(said)
	}
	if e := p.editions[r.settings.Game]; e != (discovery.Edition{}) {
		r.note("%s has version %s", p.name, called(e))
	}
}

// setEdition notes what a player has of one game, out of what it would be of any.
func (p *player) setEdition(game string, said map[string]discovery.Edition) {
	e, known := said[game]
	if !known {
		e = said[""]
	}
	p.editions = maps.Clone(p.editions)
	if p.editions == nil {
		p.editions = map[string]discovery.Edition{}
	}
	p.editions[game] = e
}

// called is what people call an edition.
func called(e discovery.Edition) string {
	return cmp.Or(e.Version, fmt.Sprintf("of protocol %d", e.Protocol))
}

// Has says what who orders it has of the room's game. It counts from the next decision
// on.
type Has struct {
	// Version is empty to take back what was said.
	Version string `json:"version"`
	// Editions are what that is of the games that the host knows more of; see
	// [wire.Hello].
	Editions map[string]discovery.Edition `json:"-"`
}

func (a Has) do(r *Room, by caller) error {
	if !by.isPlayer {
		return ballot.ErrGuest
	}
	p := r.round.player(by.name)
	if a.Version = discovery.CleanText(a.Version); a.Editions == nil {
		a.Editions = map[string]discovery.Edition{"": {Version: a.Version}}
	}
	p.setEdition(r.settings.Game, a.Editions)
	if r.round.search != nil && !r.round.search.IsBehind() {
		r.round.search = nil // it looked for something else
	}
	return nil
}

// editions are what players have of the room's game, as far as they say.
func (r *Room) editions(players []*player) (all []selection.Edition) {
	for _, p := range players {
		if e := p.editions[r.settings.Game]; e != (discovery.Edition{}) {
			all = append(all, selection.Edition{Player: p.name, Edition: e})
		}
	}
	return all
}

// noteVersions says whom how many servers do not let in, and of which versions the best
// servers are if they are not all of one.
func (r *Room) noteVersions(group []*player, selected *selection.Selection) {
	for _, e := range r.editions(group) {
		// What only an old list says leaves no server out: see [selection.Servers].
		shut, onlyListed := map[string]int{}, map[string]int{}
		for server := range r.round.servers.List {
			info := r.round.servers.Info(server)
			if info == nil || info.Fit(e.Edition) != discovery.Shuts {
				continue
			}
			own := r.round.servers.Infos[server]
			if r.round.servers.Dated && (own == nil || own.Fit(e.Edition) != discovery.Shuts) {
				onlyListed[info.VersionText()]++
			} else {
				shut[info.VersionText()]++
			}
		}
		note := func(versions map[string]int, done string) {
			n := 0
			for _, servers := range versions {
				n += servers
			}
			if r.settings.AnyVersion {
				done = "not left out, as the organiser wants"
			}
			if n > 0 {
				r.note("%s has version %s, which does not get into %s (%s): %s", e.Player, called(e.Edition), serversInWords(n), mostOf(versions), done)
			}
		}
		note(shut, "left out")
		note(onlyListed, "not left out, as only an old list says so")
	}
	best := map[string]int{}
	for _, ranked := range selected.Ranking[:min(finalists, len(selected.Ranking))] {
		if info := r.round.servers.Info(ranked.Server); info != nil && info.VersionText() != "" {
			best[info.VersionText()]++
		}
	}
	if len(best) > 1 {
		r.note("the best servers are of different versions: %s", mostOf(best))
	}
}

// mostOf are the most frequent of some texts.
func mostOf(counts map[string]int) string {
	const shown = 3
	texts := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	more := len(texts) - shown
	texts = texts[:min(shown, len(texts))]
	if more > 0 {
		texts = append(texts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(texts, ", ")
}

// fit says on a server's card for whom it is of another version.
func (r *Room) fit(card *wire.ServerCard, server int) {
	info := r.round.servers.Info(server)
	if info == nil {
		return
	}
	for _, e := range r.editions(r.round.players) {
		switch info.Fit(e.Edition) {
		case discovery.Differs:
			card.Other = append(card.Other, e.Player)
		case discovery.Shuts:
			card.Other, card.Shut = append(card.Other, e.Player), append(card.Shut, e.Player)
		}
	}
}

// shutOutText says how many servers let some players not in, and whom, or nothing.
func shutOutText(s *selection.Selection) string {
	if s.Culled.WrongVersion == 0 {
		return ""
	}
	var whom []string
	for _, reason := range s.Reasons {
		if reason.Cause == selection.WrongVersion {
			whom = append(whom, reason.Players...)
		}
	}
	text := fmt.Sprintf("%d of another version", s.Culled.WrongVersion)
	if slices.Sort(whom); len(whom) > 0 {
		text += " than " + strings.Join(slices.Compact(whom), ", ") + " has"
	}
	return text
}
