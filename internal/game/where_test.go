package game

import (
	"os"
	"path/filepath"
	"testing"
)

// TestInSteam checks that Steam's games are found in its libraries, which it records in a file of its own.
func TestInSteam(t *testing.T) {
	steam, library := t.TempDir(), t.TempDir()
	for file, text := range map[string]string{
		filepath.Join(steam, "steamapps",
			"libraryfolders.vdf"): "\"libraryfolders\"\n{\n\t\"0\"\n\t{\n\t\t\"path\"\t\t\"" + library +
			"\"\n\t\t\"apps\"\n\t\t{\n\t\t\t\"440\"\t\t\"1\"\n\t\t}\n\t}\n}\n",
		filepath.Join(library, "steamapps",
			"appmanifest_440.acf"): "\"AppState\"\n{\n\t\"appid\"\t\t\"440\"\n\t\"name\"\t\t\"Team Fortress " +
			"2\"\n\t\"installdir\"\t\t\"Team Fortress 2\"\n}\n",
		filepath.Join(steam, "steamapps", "appmanifest_70.acf"):     "\"AppState\"\n{\n\t\"installdir\"\t\t\"..\\\\..\\\\evil\"\n}\n",
		filepath.Join(steam, "steamapps", "appmanifest_730.acf"):    "\xff\xfe nothing",
		filepath.Join(library, "steamapps", "appmanifest_4400.acf"): "\"installdir\" \"other\"",
	} {
		err := os.MkdirAll(filepath.Dir(file), 0o700)
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[uint32]string{440: filepath.Join(library, "steamapps", "common", "Team Fortress 2"), 730: "", 10: "", 0: ""} {
		g := Game{Launch: []string{"steam://connect/{address}"}, AppID: id}
		place, isHere := g.Where([]string{t.TempDir(), steam})
		if isHere != (want != "") || isHere && (place.Path != want || place.By != "Steam") {
			t.Errorf("%d: %+v, %v, want %q", id, place, isHere, want)
		}
	}
	if place, isHere := (Game{Launch: []string{"steam://connect/{address}"}, AppID: 70}).
		Where([]string{steam}); isHere && filepath.Dir(place.Path) != filepath.Join(steam, "steamapps", "common") {
		t.Errorf("a folder out of the library: %+v", place)
	}
	if _, isHere := (Game{}).Where(nil); isHere {
		t.Error("a game that nothing starts is here")
	}
}
