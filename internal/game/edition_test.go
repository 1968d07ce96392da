package game

import (
	"maps"
	"strings"
	"testing"

	"muster/discovery"
)

// TestEditions checks which protocol a version speaks, if the table knows it.
func TestEditions(t *testing.T) {
	table := load(t, "")
	for version, want := range map[string]map[string]discovery.Edition{
		"5.6.1":    {"": {Version: "5.6.1"}, "luanti": {Version: "5.6.1", Protocol: 41}},
		"5.6":      {"": {Version: "5.6"}, "luanti": {Version: "5.6", Protocol: 41}},
		"5.9.0":    {"": {Version: "5.9.0"}, "luanti": {Version: "5.9.0", Protocol: 44}},
		"5.9.1":    {"": {Version: "5.9.1"}, "luanti": {Version: "5.9.1", Protocol: 45}},
		"5.60":     {"": {Version: "5.60"}},
		"1.20.4":   {"": {Version: "1.20.4"}, "minecraft": {Version: "1.20.4", Protocol: 765}},
		"1.20":     {"": {Version: "1.20"}, "minecraft": {Version: "1.20", Protocol: 763}},
		"1.20.4.1": {"": {Version: "1.20.4.1"}},
		"1.8.9":    {"": {Version: "1.8.9"}, "minecraft": {Version: "1.8.9", Protocol: 47}},
		"71":       {"": {Version: "71", Protocol: 71}},
		"\x1b 1\n": {"": {Version: "1", Protocol: 1}},
		"":         {"": {}},
	} {
		if got := table.Editions(version); !maps.Equal(got, want) {
			t.Errorf("%q: %v, want %v", version, got, want)
		}
	}
	if own := table.Own(); own != nil {
		t.Errorf("the user has %v", own)
	}
}

// TestOwnVersions checks the versions in the user's file.
func TestOwnVersions(t *testing.T) {
	table, err := Load(strings.NewReader(
		"[game.luanti]\nversion = \"5.6.1\"\n[game.xonotic]\nversion = \"0.8.6\"\nprotocols = [\"0.8.*=3\"]\n"), "games.toml")
	want := map[string]discovery.Edition{"luanti": {Version: "5.6.1", Protocol: 41}, "xonotic": {Version: "0.8.6", Protocol: 3}}
	if err != nil || !maps.Equal(table.Own(), want) {
		t.Errorf("%v, %v", table.Own(), err)
	}
	_, err = Load(strings.NewReader("[game.luanti]\nprotocols = [\"5.6\"]\n"), "games.toml")
	if err == nil || !strings.Contains(err.Error(), `games.toml:2: game "luanti": protocols: "5.6" is not VERSION=NUMBER`) {
		t.Errorf("%v", err)
	}
}
