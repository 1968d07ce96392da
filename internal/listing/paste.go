package listing

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"muster/discovery"
	"muster/discovery/lists/address"
	"muster/discovery/lists/master"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/term"
	"muster/internal/userfile"
)

// FirstList lets a player paste servers of a game without lists, which is quicker than making a file. The pasted list
// is kept in a file and used next time. Without a user at a terminal it does nothing, and the game's own error follows.
func (s *Sources) FirstList(g game.Game, in io.Reader, screen *term.Screen) error {
	user, err := s.User()
	if err == nil {
		_, err = g.Sources(user, s.Masters...)
	}
	var none *game.NoMasterError
	if len(s.Files) > 0 || !errors.As(err, &none) {
		return nil // a problem is reported when the list is fetched
	}
	file, err := userfile.State("servers/" + g.ID + ".txt")
	if err != nil {
		return hint.NoFolder("what is pasted", err)
	}
	switch _, err := os.Stat(file); {
	case err == nil:
		screen.Say("taking the servers that you pasted before, from %s: remove it to paste others", file)
		s.Files = []string{file}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if !term.IsTerminal(in) || !screen.IsTerminal {
		return nil
	}
	for _, line := range firstSteps(none, s.LooksAround()) {
		screen.Say("%s", screen.Wrap(line, 3))
	}
	lines := pasted(in, screen)
	if len(lines) == 0 {
		return nil
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return hint.With(err, "paste them into a file of yours, and say --servers FILE")
	}
	screen.Say("%s kept in %s for the next time", term.Count(len(lines), "server"), file)
	s.Files = []string{file}
	return nil
}

// firstSteps says how to find a list.
func firstSteps(none *game.NoMasterError, looksAround bool) []string {
	example := fmt.Sprintf("addresses such as 192.0.2.1:%d, or names such as play.example.org", none.Game.Port)
	if none.Game.OnSteam() {
		example = "addresses, or links such as steam://connect/192.0.2.1:27015"
	}
	lines := []string{
		hint.Plain(none) + ". A first list, in one of these ways:",
		"1. Paste servers here, one a line: " + example + ". An empty line ends.",
	}
	switch {
	case none.Game.OnSteam():
		lines = append(lines,
			"2. Add favourites in Steam (View, Game Servers): Muster finds them by itself from then on.",
			"3. Get a key for nothing at https://steamcommunity.com/dev/apikey and give it to muster games "+
				"--steam-key: then all that Steam lists are there.")
	case none.Game.HasMasters():
		lines = append(lines, "2. Ask a master that you know: --master HOST:PORT.")
	default:
		lines[0] = hint.Plain(none) + ":"
		lines[1] = lines[1][len("1. "):]
	}
	if looksAround {
		lines = append(lines, "Or press Enter now, if the server is on your own network: Muster looks for it there.")
	}
	return lines
}

// pasted returns the lines that name a server, up to an empty line. It reports each bad line at once.
func pasted(in io.Reader, screen *term.Screen) (lines []string) {
	for len(lines) < maxPasted {
		line, more := readLine(in)
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		var wrong *master.ListError
		switch _, _, err := master.ParseList(strings.NewReader(line), "pasted"); {
		case err == nil, len(lines) > 0 && address.IsPortLine(line): // the port of the line before
			lines = append(lines, line)
		case errors.As(err, &wrong): // and no comment
			screen.Say("that names no server, and is left out: %s; it is not %s", discovery.CleanText(line), wrong.Want)
		}
		if !more {
			break
		}
	}
	return lines
}

const (
	// maxPasted bounds the servers pasted, and longestLine the bytes read of a line.
	maxPasted   = 10_000
	longestLine = 4 << 10
)

// readLine reads a line and not a byte more, because the rest is for the next reader.
func readLine(in io.Reader) (line string, more bool) {
	var text strings.Builder
	var b [1]byte
	for {
		n, err := in.Read(b[:])
		if n > 0 && b[0] == '\n' {
			return text.String(), true
		}
		if n > 0 && text.Len() < longestLine {
			text.WriteByte(b[0])
		}
		if err != nil {
			return text.String(), false
		}
	}
}
