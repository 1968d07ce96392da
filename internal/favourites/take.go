package favourites

import (
	"fmt"
	"io"
	"time"

	"muster/internal/term"
)

// Take adds a list to the user's own, and says what happened.
func Take(file string, list io.Reader, of For, kind Kind) (said string, err error) {
	b, err := Import(list, of)
	if err != nil {
		return "", err
	}
	kept, err := Read(file)
	if err != nil {
		return "", err
	}
	before := [2]int{len(kept.Favourites), len(kept.Hidden)}
	now := time.Now().UTC().Truncate(time.Second)
	kept, added, beyond := kept.Merge(kind, b.Favourites, now)
	offFavourites, offHidden := max(0, before[0]-len(kept.Favourites)), max(0, before[1]-len(kept.Hidden))
	merged := len(kept.Favourites)
	kept, hidden, more := kept.Merge(Hidden, b.Hidden, now)
	offFavourites += merged - len(kept.Favourites)
	if err := kept.Write(file); err != nil {
		return "", err
	}
	what := "favourite"
	if kind == Hidden {
		what = "hidden server"
	}
	said = term.Count(added, what) + " added"
	if known := len(b.Favourites) - added - beyond; known > 0 {
		said += fmt.Sprintf(", %d were there", known)
	}
	if hidden > 0 {
		said += fmt.Sprintf(", and %s", term.Count(hidden, "hidden server"))
	}
	if offFavourites > 0 {
		said += fmt.Sprintf("; %d of the hidden were favourites, and are no more", offFavourites)
	}
	if offHidden > 0 {
		said += fmt.Sprintf("; %d of the favourites were hidden, and are no more", offHidden)
	}
	if b.Passed > 0 {
		said += fmt.Sprintf("; left out %d that name no server of the game, the first %q", b.Passed, b.First)
		if b.Lines != nil {
			said += fmt.Sprintf(" in line %d", b.Lines.Lines[0])
		}
		if rest := b.Lines.Rest(); rest != "" {
			said += ", then " + rest
		}
	}
	if left := b.Beyond + beyond + more; left > 0 {
		said += fmt.Sprintf("; %d more are beyond what a list takes, and left out: keep those that you know by name", left)
	}
	return said, nil
}

// Table shows the servers of a game.
func (s Servers) Table(game string) *term.Table {
	t := &term.Table{Columns: []term.Column{term.Left(""), term.Whole("SERVER"), term.Left("NAME")}}
	for _, kind := range []Kind{Favourite, Hidden} {
		for _, server := range s.Of(kind, game) {
			t.Add(string(kind), server.Addr, server.Name)
		}
	}
	return t
}
