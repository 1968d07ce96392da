package lobby

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/host/matchfile"
	"muster/host/wire"
	"muster/internal/game"
)

// TestMatchFiles checks that a start command gets the files that it names, with the password and the
// SteamID64s of the organiser's own settings, and that nobody else can read them.
func TestMatchFiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	news := wire.Snapshot{Room: wire.Head{Round: 2}, Match: &wire.Match{
		BestOf: 1, Maps: []wire.MatchMap{{Name: "de_nuke"}, {Name: "de_dust2"}},
		Camps: [2]wire.Camp{{Side: wire.SideA, Name: "Nightjars", Players: []string{"ann"}}, {Side: wire.SideB, Players: []string{"bob"}}},
	}}
	settings := wire.Settings{Password: "club", SteamIDs: wire.SteamIDs{wire.SideA: {"ann": "76561197990682262"}}}
	for _, tt := range []struct {
		command string
		news    wire.Snapshot
		files   map[string]string // what each file has
		argv    int
		err     string
	}{
		{"start {address}", news, nil, 2, ""},
		{"start --match {match} --five {get5}", news, map[string]string{
			"match.json": `"steam_id":"76561197990682262"`, "get5.json": `"sv_password": "club"`,
		}, 5, ""},
		{"start --match {match}", wire.Snapshot{}, nil, 1, ""},
		{"start {tmt2}", news, nil, 0, "needs the maps"},
	} {
		hook, err := game.NewHook(tt.command)
		if err != nil {
			t.Fatal(err)
		}
		s := Starter{code: "BAKODI", Hook: hook, Settings: func() wire.Settings { return settings }}
		v := game.Venue{Place: "Frankfurt"}
		folder, err := s.matchFiles(&v, tt.news)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v, want %s", tt.command, err, tt.err)
			}
			continue
		}
		if err != nil || (folder != "") != (tt.files != nil) {
			t.Errorf("%s: %q, %v", tt.command, folder, err)
		}
		for name, has := range tt.files {
			path := filepath.Join(folder, name)
			text, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(text), has) || !json.Valid(text) {
				t.Errorf("%s: %v\n%s\nwithout %s", tt.command, err, text, has)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", path, info, err)
			}
		}
		if argv, err := hook.Fill(v); err != nil || len(argv) != tt.argv {
			t.Errorf("%s: %q, %v", tt.command, argv, err)
		}
	}
	if forms := game.MatchFiles()[1:]; !slices.Equal(forms, matchfile.Kinds()) {
		t.Errorf("commands may name %q, and there are %q", forms, matchfile.Kinds())
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "muster-match-*", "tmt2.json")); len(left) > 0 || err != nil {
		t.Errorf("a failed start leaves %v, %v", left, err)
	}
}
