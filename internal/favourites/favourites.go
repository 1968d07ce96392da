// Package favourites keeps the servers that the user likes, and those that the user hides. People can read its file:
//
//	{"format":"muster.servers/1",
//	 "favourites":[{"game":"openarena","addr":"192.0.2.1:27960","name":"Ann's","added":"…"}],
//	 "hidden":[…]}
package favourites

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/internal/term"
)

// Format is the files' format.
const Format = "muster.servers/1"

// most is how many servers a list takes, over all games. maxKept exceeds the bytes of a file with two full lists.
const (
	most    = 10_000
	maxKept = 16 << 20
)

// Server is a server that somebody likes or dislikes.
type Server struct {
	Game string            `json:"game"`
	Addr hostport.AddrPort `json:"addr"`
	// Name is what the server called itself when it was added.
	Name  string    `json:"name,omitempty"`
	Added time.Time `json:"added,omitzero"`
}

// Servers are the lists of a user or a group.
type Servers struct {
	Format     string   `json:"format"`
	Favourites []Server `json:"favourites"`
	Hidden     []Server `json:"hidden"`
}

// Kind is one of the lists.
type Kind string

const (
	Favourite Kind = "favourite"
	Hidden    Kind = "hidden"
)

// Set adds a server to a list, or removes it. A favourite is not hidden.
func (s Servers) Set(kind Kind, server Server, is bool) (Servers, error) {
	server.Addr, server.Name = hostport.At(discovery.Canonical(server.Addr.AddrPort)), discovery.CleanText(server.Name)
	if !server.Addr.IsValid() || server.Game == "" {
		return s, errors.New("favourites: a server has a game and an address")
	}
	without := func(list []Server) []Server {
		return slices.DeleteFunc(slices.Clone(list), func(o Server) bool { return o.Game == server.Game && o.Addr == server.Addr })
	}
	isFavourite, isHidden := kind == Favourite && is, kind == Hidden && is
	if kind == Favourite || isHidden {
		s.Favourites = without(s.Favourites)
	}
	if kind == Hidden || isFavourite {
		s.Hidden = without(s.Hidden)
	}
	if isFavourite {
		s.Favourites = append(s.Favourites, server)
	}
	if isHidden {
		s.Hidden = append(s.Hidden, server)
	}
	if len(s.Favourites) > most || len(s.Hidden) > most {
		return s, fmt.Errorf("favourites: a list takes %d servers", most)
	}
	return s, nil
}

// Read reads a file. A missing file has no servers.
func Read(file string) (Servers, error) {
	s := Servers{Format: Format}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKept+1))
	if err == nil && len(data) > maxKept {
		err = fmt.Errorf("favourites: %s has over %d MiB, and a list no more than %d servers", file, maxKept>>20, most)
	}
	if err != nil {
		return s, err
	}
	read, err := parse(data)
	if err != nil {
		return s, fmt.Errorf("favourites: %s: %w", file, err)
	}
	return read, nil
}

func parse(data []byte) (s Servers, err error) {
	if err := json.Unmarshal(data, &s); err != nil {
		return s, err
	}
	if s.Format != Format {
		return s, fmt.Errorf("the format is %q, not %q", discovery.CleanText(s.Format), Format)
	}
	for _, list := range []*[]Server{&s.Favourites, &s.Hidden} {
		*list = slices.DeleteFunc(*list, func(o Server) bool { return !o.Addr.IsValid() || o.Game == "" })
		*list = (*list)[:min(len(*list), most)]
		for i := range *list {
			(*list)[i].Name, (*list)[i].Addr = discovery.CleanText((*list)[i].Name), hostport.At(discovery.Canonical((*list)[i].Addr.AddrPort))
		}
	}
	return s, nil
}

func (s Servers) writeTo(w io.Writer) error {
	s.Format = Format
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(s)
}

// Write writes the file, so that a crash leaves either the old one or the new.
func (s Servers) Write(file string) error {
	var data bytes.Buffer
	if err := s.writeTo(&data); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	part := file + ".part"
	if err := os.WriteFile(part, data.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(part, file)
}

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
