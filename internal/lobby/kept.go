package lobby

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"muster/internal/hint"
	"muster/internal/userfile"
	"muster/selection/memory"
)

// kept is a room that the user opened on a public host. Its file is readable by the user alone,
// because its link steers the room.
type kept struct {
	At     string    `json:"at"`
	Game   string    `json:"game"`
	Name   string    `json:"name,omitempty"`
	Link   string    `json:"link"`
	Opened time.Time `json:"opened"`
	// Brings says that this program supplies the list of servers.
	Brings   bool                       `json:"brings,omitempty"`
	Settings map[string]json.RawMessage `json:"settings,omitempty"`
	file     string
}

// keptFor is how long an unused room is remembered. Public hosts forget a closed room after a
// month.
const keptFor = 60 * 24 * time.Hour

// keptFolder holds a file for each room.
const keptFolder = "rooms-elsewhere"

// keep writes the room to its file.
func (k kept) keep(at string) error {
	k.At = at
	file, err := fileOf(keptFolder, ".json", k.At, k.Link)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	return userfile.Replace(file, data)
}

// forget removes the file of a room that is over. If that fails, the next start asks for the room
// again and learns again that it is over.
func (k kept) forget() { os.Remove(k.file) }

// fileOf returns the path of the file in a folder of the user's state that some texts identify.
func fileOf(folder, ending string, texts ...string) (string, error) {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return userfile.State(filepath.Join(folder, hex.EncodeToString(sum[:8])+ending))
}

// filesIn returns the JSON files in a folder of the user's state.
func filesIn(folder string) ([]string, error) {
	pattern, err := userfile.State(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	return filepath.Glob(pattern)
}

// keptRooms returns the user's rooms at a host, the newest first. warn receives those that cannot
// be read.
func keptRooms(at string, warn func(...error)) iter.Seq[kept] {
	return func(yield func(kept) bool) {
		var rooms []kept
		files, _ := filesIn(keptFolder) // the first room that is kept tells why it cannot be
		for _, file := range files {
			k, err := readKept(file)
			switch {
			case err != nil:
				warn(hint.Say("term.room-not-found-again", "why", err))
			case time.Since(k.Opened) > keptFor:
				k.forget()
			case k.At == at:
				rooms = append(rooms, k)
			}
		}
		slices.SortFunc(rooms, func(x, y kept) int { return y.Opened.Compare(x.Opened) })
		for _, k := range rooms {
			if !yield(k) {
				return
			}
		}
	}
}

func readKept(file string) (k kept, err error) {
	k.file = file
	data, err := userfile.Read(file)
	if err == nil {
		if err = json.Unmarshal(data, &k); err != nil {
			err = hint.Say("term.file-damaged", "file", file, "why", err)
		}
	}
	return k, err
}

// memoryFile is the file in the state folder with what rooms have measured from this computer.
const memoryFile = "rtts.json"

// recall returns what this computer remembers of earlier rooms, and a function that keeps what comes.
// A computer that cannot read or keep it starts every room like the first.
func recall(log *slog.Logger) (cells []memory.Cell, keep func([]memory.Cell)) {
	file, err := userfile.State(memoryFile)
	if err != nil {
		log.Debug("nothing is remembered", "error", err)
		return nil, nil
	}
	text, err := userfile.Read(file)
	if err == nil {
		cells, err = memory.Read(bytes.NewReader(text))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Debug("earlier rooms are forgotten", "error", err)
	}
	return cells, func(cells []memory.Cell) {
		var text bytes.Buffer
		err := memory.Write(&text, cells)
		if err == nil {
			err = userfile.Replace(file, text.Bytes())
		}
		if err != nil {
			log.Debug("this room is not remembered", "error", err)
		}
	}
}
