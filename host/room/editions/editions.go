// Package editions keeps which version of a game each player has, as far as players say, and
// tells people which servers do not let somebody in for that.
//
// A player's program says it in its hello, and the player on the page. The word counts in all
// rounds of the evening. It leaves servers out of a choice by way of [selection.Edition].
package editions

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/discovery"
	"muster/selection"
)

// Book is what players say of the games that they have. Its zero value is empty.
type Book struct{ said Saved }

// Saved is the section of the saved room: the editions by player and by the game's id.
type Saved map[string]map[string]discovery.Edition

// Save returns the section of the saved room.
func (b *Book) Save() Saved { return maps.Clone(b.said) }

// Restore returns the book that was saved.
func Restore(s Saved) Book { return Book{s} }

// Greet takes what a player's program says in its hello: what the player has of each game, or,
// under an empty id, what that would be of any game, which then is the room's. It returns what
// people are told of that, if anything.
func (b *Book) Greet(player, game string, said map[string]discovery.Edition) (note string) {
	if _, isOfRoom := said[""]; isOfRoom {
		b.Say(player, game, said)
	} else {
		b.put(player, maps.Clone(said))
	}
	if e := b.said[player][game]; e != (discovery.Edition{}) {
		return fmt.Sprintf("%s has version %s", player, called(e))
	}
	return ""
}

// Say takes what a player has of one game, out of what it would be of any.
func (b *Book) Say(player, game string, said map[string]discovery.Edition) {
	e, known := said[game]
	if !known {
		e = said[""]
	}
	games := maps.Clone(b.said[player])
	if games == nil {
		games = map[string]discovery.Edition{}
	}
	games[game] = e
	b.put(player, games)
}

// put notes what a player has of games. Nobody changes the map any more.
func (b *Book) put(player string, games map[string]discovery.Edition) {
	if b.said == nil {
		b.said = Saved{}
	}
	b.said[player] = games
}

// Rename moves what a player has said to the player's new name.
func (b *Book) Rename(from, to string) {
	if games, known := b.said[from]; known {
		delete(b.said, from)
		b.said[to] = games
	}
}

// Forget drops what a player has said.
func (b *Book) Forget(player string) { delete(b.said, player) }

// Version returns what a player calls the version of a game, or nothing.
func (b *Book) Version(player, game string) string { return b.said[player][game].Version }

// Of returns what some players have of a game, as far as they say.
func (b *Book) Of(players []string, game string) (all []selection.Edition) {
	for _, player := range players {
		if e := b.said[player][game]; e != (discovery.Edition{}) {
			all = append(all, selection.Edition{Player: player, Edition: e})
		}
	}
	return all
}

// called returns what people call an edition.
func called(e discovery.Edition) string {
	return cmp.Or(e.Version, fmt.Sprintf("of protocol %d", e.Protocol))
}

// Describe tells how many servers do not let each player in, and of which versions the best
// servers are if they differ. IsAny says that the organiser wants the choice to ignore
// versions.
func Describe(servers selection.Servers, players []selection.Edition, best []selection.Ranked, isAny bool) (notes []string) {
	for _, e := range players {
		// What only an old list says leaves no server out: see [selection.Servers].
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
		tell := func(versions map[string]int, done string) {
			n := 0
			for _, servers := range versions {
				n += servers
			}
			if isAny {
				done = "not left out, as the organiser wants"
			}
			if n > 0 {
				notes = append(notes, fmt.Sprintf("%s has version %s, which does not get into %s (%s): %s",
					e.Player, called(e.Edition), discovery.ServersInWords(n), mostOf(versions), done))
			}
		}
		tell(shut, "left out")
		tell(onlyListed, "not left out, as only an old list says so")
	}
	versions := map[string]int{}
	for _, ranked := range best {
		if info := servers.Info(ranked.Server); info != nil && info.VersionText() != "" {
			versions[info.VersionText()]++
		}
	}
	if len(versions) > 1 {
		notes = append(notes, "the best servers are of different versions: "+mostOf(versions))
	}
	return notes
}

// mostOf returns the most frequent of some texts.
func mostOf(counts map[string]int) string {
	const shown = 3
	texts := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	more := len(texts) - shown
	texts = texts[:min(shown, len(texts))]
	if more > 0 {
		texts = append(texts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(texts, ", ")
}
