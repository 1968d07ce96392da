package cli

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

// standingFolder holds a file for each room of the user's that stays, so that Home shows
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

// notes keeps up to date what Home shows of a room, for a narrator.
func (h *hosting) notes(at string) func(wire.Snapshot) {
	var last standingNote
	return func(s wire.Snapshot) {
		note := standingNote{Name: s.Room.Name, Game: s.Room.Game, Every: s.Room.Every, At: at}
		if at == "" {
			note.Listen = h.listen
		}
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
			h.warn(fmt.Errorf("this room will not be shown on Home: %w", err))
		}
	}
}

// gameOfStanding is the game of the user's room that stays and has the name that the
// command line says, where it is to be; empty if there is none.
func (h *hosting) gameOfStanding() string {
	at := ""
	if h.at != "" && !h.here {
		if base, err := publicHost(h.at); err == nil {
			at = base.String()
		}
	}
	rooms, err := h.standing(time.Now())
	if err != nil || h.settings.Name == "" {
		return ""
	}
	for _, room := range rooms {
		if room.Name == h.settings.Name && room.At == at && (at != "" || room.Listen == h.listen) {
			return room.Game
		}
	}
	return ""
}

// opens is the command that opens a room of that game and name on this machine.
func (h *hosting) opens(game, name string) string {
	line := fmt.Sprintf("muster host %s --room %q", game, name)
	if h.given("listen") {
		line += " --listen " + h.listen
	}
	if h.given("here") {
		line += " --here"
	}
	return line
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

// standing are the user's rooms that stay, as Home shows them at a time. One that nobody has
// opened for long is forgotten: a public host has, too.
func (p *program) standing(now time.Time) ([]home.Standing, error) {
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
		room := home.Standing{ID: strings.TrimSuffix(filepath.Base(file), ".json"), Name: note.Name, Game: note.Game, At: note.At, Listen: note.Listen}
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
