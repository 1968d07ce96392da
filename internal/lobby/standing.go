package lobby

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/schedule"
	"muster/host/wire"
	"muster/internal/home"
	"muster/internal/userfile"
)

// standingFolder holds a file for each of the user's rooms that stay, so that Home shows
// it while nobody has it open. There is no link in it.
const standingFolder = "standing"

// standingNote is what such a file says.
type standingNote struct {
	Name   string    `json:"name"`
	Game   string    `json:"game"`
	Every  string    `json:"every"`
	At     string    `json:"at,omitempty"`
	Listen string    `json:"listen,omitempty"`
	Next   time.Time `json:"next,omitzero"`
	Comes  int       `json:"comes"`
	Seen   time.Time `json:"seen"`
}

// notes returns what keeps up to date what Home shows of a room, which is on a public host
// or on this machine, at an address to listen on.
func notes(at, listen string, warn func(...error)) func(wire.Snapshot) {
	var last standingNote
	return func(s wire.Snapshot) {
		note := standingNote{Name: s.Room.Name, Game: s.Room.Game, Every: s.Room.Every, At: at, Listen: listen}
		if m := s.Meeting; m != nil {
			note.Next = m.Next
			for _, one := range m.Who {
				if one.Comes != nil && *one.Comes {
					note.Comes++
				}
			}
		}
		if note == last {
			return
		}
		wasStanding := last.Every != ""
		last = note
		if note.Every == "" && !wasStanding {
			return // as most rooms are
		}
		sum := sha256.Sum256([]byte(at + "\x00" + note.Listen + "\x00" + s.Room.Code))
		file, err := userfile.State(filepath.Join(standingFolder, hex.EncodeToString(sum[:8])+".json"))
		if err == nil {
			err = note.keep(file)
		}
		if err != nil {
			warn(fmt.Errorf("this room will not be shown on Home: %w", err))
		}
	}
}

// GameOfStanding returns the game of the user's standing room of that name, on a public
// host or on this machine, at an address to listen on; empty if there is none.
func GameOfStanding(name, at, listen string) string {
	rooms, err := Standing(time.Now())
	if err != nil || name == "" {
		return ""
	}
	for _, room := range rooms {
		if room.Name == name && room.At == at && (at != "" || room.Listen == listen) {
			return room.Game
		}
	}
	return ""
}

// keep writes the note, or takes it away if the room does not stay any more.
func (n standingNote) keep(file string) error {
	if n.Every == "" {
		return os.Remove(file)
	}
	n.Seen = time.Now().UTC()
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return userfile.Replace(file, data)
}

// Standing returns the user's rooms that stay, as Home shows them at a time. One on a public
// host that nobody has opened for long is forgotten: the host has forgotten it, too.
func Standing(now time.Time) ([]home.Standing, error) {
	folder, err := userfile.State(filepath.Join(standingFolder, "any"))
	if err != nil {
		return nil, err
	}
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(folder), "*.json")) // the pattern is a good one
	var rooms []home.Standing
	for _, file := range files {
		data, err := os.ReadFile(file)
		var note standingNote
		if err == nil {
			err = json.Unmarshal(data, &note)
		}
		if err != nil {
			continue // another program writes it, or somebody has: it is written anew
		}
		if note.At != "" && now.Sub(note.Seen) > keptFor {
			os.Remove(file)
			continue
		}
		room := home.Standing{ID: strings.TrimSuffix(filepath.Base(file), ".json"), Name: note.Name, Game: note.Game,
			At: note.At, Listen: note.Listen}
		if when, err := schedule.Parse(note.Every, ""); err == nil {
			room.Next = when.Next(now).UTC()
		}
		if room.Next.Equal(note.Next) {
			room.Comes = note.Comes // to another date nobody has said anything
		}
		if discovery.CleanText(room.Name) == room.Name {
			rooms = append(rooms, room)
		}
	}
	return rooms, nil
}
