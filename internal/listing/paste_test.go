package listing

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"muster/internal/catalogue"
	"muster/internal/game"
	"muster/internal/term"
)

// TestPasted checks that lines naming a server are taken up to an empty line, that other lines are reported, and that
// the rest is left to the next reader.
func TestPasted(t *testing.T) {
	for _, c := range []struct{ in, want, says, rest string }{
		{"192.0.2.1:27015\n\nyes\n", "192.0.2.1:27015", "", "yes\n"},
		{"\nyes\n", "", "", "yes\n"},
		{"", "", "", ""},
		{"  steam://connect/192.0.2.1:27015 \r\n192.0.2.2 my clan\r\n\r\n", "steam://connect/192.0.2.1:27015|192.0.2.2 my clan", "", ""},
		{"# mine\nhttp://example.org/x\ngames.example.org\x1b[2J\nplay.example.org:1", "play.example.org:1",
			"left out: http://example.org/x", ""},
		{strings.Repeat("x", 1<<20) + "\n192.0.2.1\n\n", "192.0.2.1", "left out: xxx", ""},
	} {
		var screen bytes.Buffer
		in := strings.NewReader(c.in)
		got := strings.Join(pasted(in, testScreen(&screen)), "|")
		rest, _ := io.ReadAll(in)
		if got != c.want || !strings.Contains(screen.String(), c.says) || (c.says == "") != (screen.Len() == 0) || string(rest) != c.rest {
			t.Errorf("%.40q: %q, and says %.80q; %q is left", c.in, got, screen.String(), rest)
		}
		if strings.Contains(screen.String(), "\x1b") || screen.Len() > 1000 {
			t.Errorf("%.40q: the screen shows %.80q", c.in, screen.String())
		}
	}
}

// TestFirstListIsKept checks that a pasted list is used again for its game, unless there is a list or the command line
// names one. Without a user, nothing is asked.
func TestFirstListIsKept(t *testing.T) {
	games := builtIn(t)
	t.Cleanup(xdg.Reload)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	xdg.Reload()
	var screen bytes.Buffer
	in := strings.NewReader("192.0.2.1:27015\n\n")
	list := func(id string, s Sources) []string {
		t.Helper()
		g, err := games.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		if s.User == nil {
			s.User = func() (game.User, error) { return game.User{}, nil }
		}
		if err := s.FirstList(g, in, testScreen(&screen)); err != nil {
			t.Error(err)
		}
		return s.Files
	}
	if files := list("cs2", Sources{}); files != nil || screen.Len() > 0 {
		t.Errorf("a program without a terminal takes %v, and says %s", files, screen.String())
	}
	file := filepath.Join(xdg.StateHome, "muster", "servers", "cs2.txt")
	if err := os.WriteFile(file, []byte("192.0.2.1:27015\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if files := list("cs2", Sources{}); !slices.Equal(files, []string{file}) || !strings.Contains(screen.String(), "remove it") {
		t.Errorf("takes %v, and says %s", files, screen.String())
	}
	key := func() (game.User, error) { return game.User{Steam: "key"}, nil }
	for name, files := range map[string][]string{
		"another game": list("tf2", Sources{}), "a game with a list": list("openarena", Sources{}),
		"with a key": list("cs2", Sources{User: key}), "with masters": list("openarena", Sources{Masters: []string{"192.0.2.1"}}),
	} {
		if files != nil {
			t.Errorf("%s: takes %v", name, files)
		}
	}
	if files := list("cs2", Sources{Files: []string{"mine.txt"}}); !slices.Equal(files, []string{"mine.txt"}) {
		t.Errorf("in place of a file of the user's: %v", files)
	}
}

func testScreen(out *bytes.Buffer) *term.Screen {
	return term.NewScreen(term.New(out, func(string) string { return "" }), catalogue.InEnglish())
}
