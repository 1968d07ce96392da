// Package editions knows which version of a game each player has, as the players say. It tells
// people which servers do not let a player in because of that.
//
// A player's program names the version in its hello, or the player does so on the page. It counts
// in all rounds of the session, and excludes servers from a choice through [selection.Edition].
package editions

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/selection"
)

// Book has the players' editions of games. Its zero value is empty.
type Book struct{ state State }

// State is the saved state of a book: the editions by player and by the game's id.
type State map[people.ID]map[string]discovery.Edition

// State returns the state, to save or restore it.
func (b *Book) State() *State { return &b.state }

// Greet takes the editions of a program's hello, by game. An edition under an empty id is of the
// room's game, whatever that is. Greet returns a note for people, or nothing.
func (b *Book) Greet(player people.ID, game string, said map[string]discovery.Edition) (note sentence.Sentence) {
	if _, isOfRoom := said[""]; isOfRoom {
		b.Say(player, game, said)
	} else {
		b.put(player, maps.Clone(said))
	}
	if e := b.state[player][game]; e != (discovery.Edition{}) {
		return sentence.Of("room.version", "player", player, "version", called(e))
	}
	return note
}

// Say notes a player's edition of one game. Said has editions by game.
func (b *Book) Say(player people.ID, game string, said map[string]discovery.Edition) {
	e, known := said[game]
	if !known {
		e = said[""]
	}
	games := maps.Clone(b.state[player])
	if games == nil {
		games = map[string]discovery.Edition{}
	}
	games[game] = e
	b.put(player, games)
}

// put notes a player's editions. It keeps the map, which must not change any more.
func (b *Book) put(player people.ID, games map[string]discovery.Edition) {
	if b.state == nil {
		b.state = State{}
	}
	b.state[player] = games
}

// Forget drops a player's editions.
func (b *Book) Forget(player people.ID) { delete(b.state, player) }

// Version returns a player's own name for the version of a game, or nothing.
func (b *Book) Version(player people.ID, game string) string { return b.state[player][game].Version }

// Of returns the editions of a game that players have named.
func (b *Book) Of(players []people.ID, game string) (all []selection.Edition) {
	for _, player := range players {
		if e := b.state[player][game]; e != (discovery.Edition{}) {
			all = append(all, selection.Edition{Player: string(player), Edition: e})
		}
	}
	return all
}

// called returns people's name for an edition.
func called(e discovery.Edition) sentence.Sentence {
	if e.Version != "" {
		return sentence.Plain(e.Version)
	}
	return sentence.Of("edition.protocol", "number", strconv.Itoa(e.Protocol))
}

// Describe says how many servers do not let each player in. It also names the versions of the best
// servers, if they differ. IsAny says that the choice ignores versions, as the organiser wants.
func Describe(servers selection.Servers, players []selection.Edition, best []selection.Ranked, isAny bool) (notes []sentence.Sentence) {
	for _, e := range players {
		// An old list's facts alone exclude no server: see [selection.Servers].
		shut, onlyListed := map[string]int{}, map[string]int{}
		for server := range servers.List {
			info := servers.Info(server)
			if info == nil || info.Fit(e.Edition) != discovery.Shuts {
				continue
			}
			own := servers.Infos[server]
			if servers.Dated && (own == nil || own.Fit(e.Edition) != discovery.Shuts) {
				onlyListed[info.VersionText()]++
			} else {
				shut[info.VersionText()]++
			}
		}
		tell := func(versions map[string]int, key string) {
			n := 0
			for _, servers := range versions {
				n += servers
			}
			if isAny {
				key = "room.version-any"
			}
			if n > 0 {
				notes = append(notes, sentence.Of(key,
					"player", e.Player, "version", called(e.Edition), "n", n, "versions", mostOf(versions)))
			}
		}
		tell(shut, "room.version-out")
		tell(onlyListed, "room.version-listed")
	}
	versions := map[string]int{}
	for _, ranked := range best {
		if info := servers.Info(ranked.Server); info != nil && info.VersionText() != "" {
			versions[info.VersionText()]++
		}
	}
	if len(versions) > 1 {
		notes = append(notes, sentence.Of("room.versions-differ", "versions", mostOf(versions)))
	}
	return notes
}

// mostOf returns the most frequent texts.
func mostOf(counts map[string]int) (most []sentence.Sentence) {
	const shown = 3
	texts := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	more := len(texts) - shown
	for _, text := range texts[:min(shown, len(texts))] {
		most = append(most, sentence.Plain(text))
	}
	if more > 0 {
		most = append(most, sentence.Of("list.others", "n", more))
	}
	return most
}
