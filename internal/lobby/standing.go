package lobby

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/schedule"
	"muster/host/wire"
	"muster/internal/hint"
	"muster/internal/home"
	"muster/internal/userfile"
)

// standingFolder holds a file for each of the user's standing rooms, so that Home shows them while
// they are closed. The files contain no link.
const standingFolder = "standing"

// standingNote is the content of such a file.
type standingNote struct {
	home.Standing
	Listen string    `json:"listen,omitempty"` // Home tells nobody
	Every  string    `json:"every"`
	Seen   time.Time `json:"seen"`
}

// notes returns a function that keeps Home's note on a room up to date. The room is on a public
// host, or on this machine at a listening address.
func notes(at, listen string, warn func(...error)) func(wire.Snapshot) {
	var last standingNote
	return func(s wire.Snapshot) {
		note := standingNote{Standing: home.Standing{Name: s.Room.Name, Game: s.Room.Game, At: at}, Listen: listen, Every: s.Room.Every}
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
			return // as for most rooms
		}
		file, err := fileOf(standingFolder, ".json", at, note.Listen, s.Room.Code)
		if err == nil {
			err = note.keep(file)
		}
		if err != nil {
			warn(hint.Say("term.not-on-home", "why", err))
		}
	}
}

// GameOfStanding returns the game of the user's standing room of that name; empty if there is none.
// The room is on a public host, or on this machine at a listening address.
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

// keep writes the note, or removes it if the room is not a standing room any more.
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

// Standing returns the user's standing rooms as Home shows them at a time. It forgets one on a
// public host that was not opened for long, because the host has forgotten it, too.
func Standing(now time.Time) ([]home.Standing, error) {
	files, err := filesIn(standingFolder)
	if err != nil {
		return nil, err
	}
	var rooms []home.Standing
	for _, file := range files {
		data, err := os.ReadFile(file)
		var note standingNote
		if err == nil {
			err = json.Unmarshal(data, &note)
		}
		if err != nil {
			continue // another program is writing it, or damaged it: it is written again
		}
		if note.At != "" && now.Sub(note.Seen) > keptFor {
			os.Remove(file)
			continue
		}
		room := note.Standing
		room.ID, room.Listen, room.Next, room.Comes = strings.TrimSuffix(filepath.Base(file), ".json"), note.Listen, time.Time{}, 0
		if when, err := schedule.Parse(note.Every, ""); err == nil {
			room.Next = when.Next(now).UTC()
		}
		if room.Next.Equal(note.Next) {
			room.Comes = note.Comes // nobody has answered for another date
		}
		if discovery.CleanText(room.Name) == room.Name {
			rooms = append(rooms, room)
		}
	}
	return rooms, nil
}
