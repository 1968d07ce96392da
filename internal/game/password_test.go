package game

import (
	"slices"
	"strings"
	"testing"
)

// TestNoPasswordIsLost checks that each game gets its server's password, or that the player is told to type it.
func TestNoPasswordIsLost(t *testing.T) {
	// The launches of these games have no place for a password.
	typed := []string{"beammp", "bedrock", "bf2", "bf2142", "bfv", "bzflag", "ddnet", "descent3", "dopewars", "fear",
		"fivem", "freeciv", "gtasam", "hedgewars", "iw4x", "jamulus", "luanti", "manaplus", "megaglest", "mindustry",
		"minecraft", "netpanzer", "netrek", "nwn2", "openra", "openra-cnc", "openra-d2k", "pioneers", "ragemp", "redm",
		"serioussam2", "soldat", "ss14", "swat4", "tibia", "ultimaonline", "vcm", "veloren", "vietcong", "wesnoth"}
	for _, g := range load(t, "").All() {
		if len(g.Template("linux")) == 0 {
			continue // the player starts it, and types all
		}
		for _, goos := range []string{"linux", "darwin", "windows"} {
			argv, isTyped, err := g.commandFor(g.Template(goos), withPassword("s3cret"))
			if err != nil {
				t.Errorf("%s on %s: %v", g.ID, goos, err)
			}
			isPassed := slices.ContainsFunc(argv, func(arg string) bool { return strings.Contains(arg, "s3cret") })
			if isTyped == isPassed || isTyped != slices.Contains(typed, g.ID) {
				t.Errorf("%s on %s: %q, typed: %v", g.ID, goos, argv, isTyped)
			}
			// If a password is unsafe for a console, the player types it, and the game still starts.
			if argv, isTyped, err = g.commandFor(g.Template(goos), withPassword(`a"b`)); err != nil || !isTyped ||
				slices.ContainsFunc(argv, func(arg string) bool {
					return strings.Contains(arg, `a"b`)
				}) {
				t.Errorf("%s on %s: %q, typed: %v, %v", g.ID, goos, argv, isTyped, err)
			}
			if _, isTyped, err = g.commandFor(g.Template(goos), target); isTyped || err != nil {
				t.Errorf("%s on %s without a password: typed: %v, %v", g.ID, goos, isTyped, err)
			}
		}
	}
}

// TestTypes checks that the room can say before the vote which players will type a password.
func TestTypes(t *testing.T) {
	for _, tt := range []struct {
		l    *Launcher
		id   string
		want bool
	}{
		{&Launcher{}, "openarena", false},
		{&Launcher{}, "cs2", false},
		{&Launcher{}, "ddnet", true},
		{&Launcher{}, "nosuch", true},
		{&Launcher{Starts: StartNever}, "openarena", true},
		{&Launcher{Command: "mine {address}"}, "openarena", true},
		{&Launcher{Command: "mine {address} {password}"}, "ddnet", false},
	} {
		l := tt.l
		if l.Games = load(t, ""); l.Types(t.Context(), tt.id) != tt.want {
			t.Errorf("%s by %q, %s: typed is %v", tt.id, l.Command, l.Starts, !tt.want)
		}
	}
}
