package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adrg/xdg"
)

// TestListsCommand checks that lists are imported and exported in each form, and that servers that
// cannot be kept are reported.
func TestListsCommand(t *testing.T) {
	folder, config := t.TempDir(), xdg.ConfigHome
	xdg.ConfigHome = filepath.Join(folder, "config")
	defer func() { xdg.ConfigHome = config }()
	file := filepath.Join(folder, "list.txt")
	if err := os.WriteFile(file, []byte("# ours\n192.0.2.1:27960 Ann's\n192.0.2.2\ngames.example.org\nno server\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		args      []string
		code      int
		out, says string
	}{
		{[]string{"lists", "--game", "openarena"}, 0, "", "no lists yet; "},
		{[]string{"lists", "import", file, "--game", "openarena"}, 0, "",
			`3 favourites added; left out 1 that name no server of the game, the first "no server" in line 5`},
		{[]string{"lists", "import", file, "--game", "openarena"}, 0, "", "0 favourites added, 3 were there"},
		{[]string{"lists", "export", "--game", "openarena"}, 0, "192.0.2.1:27960 Ann's\n192.0.2.2:27960\ngames.example.org:27960\n", ""},
		{[]string{"lists", "export", "--game", "openarena", "--format", "qstat"}, 0, " 192.0.2.2:27960\n", ""},
		{[]string{"lists", "export", filepath.Join(folder, "out.vdf"), "--game", "openarena", "--format", "steam"}, 0,
			"", "3 servers written to "},
		{[]string{"lists", "import", filepath.Join(folder, "out.vdf"), "--game", "openarena", "--hidden"}, 0, "",
			"3 hidden servers added; 3 of the hidden were favourites, and are no more"},
		// A hidden server is no favourite.
		{[]string{"lists", "--game", "openarena"}, 0, "192.0.2.1:27960", "0 favourites of OpenArena, 3 servers hidden"},
		{[]string{"lists", "export", "--game", "openarena", "--format", "excel"}, 2, "", "excel"},
		{[]string{"lists", "import", filepath.Join(folder, "none"), "--game", "openarena"}, 1, "", "none"},
		{[]string{"lists", "import", file}, 2, "", "which game?"},
	} {
		got := muster(t, step.args...)
		if says := strings.Join(strings.Fields(got.err), " "); got.code != step.code ||
			!strings.Contains(got.out, step.out) || !strings.Contains(says, step.says) {
			t.Errorf("%v: %+v", step.args, got)
		}
	}
}
