package lobby

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"

	"muster/internal/userfile"
	"muster/selection/memory"
)

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
