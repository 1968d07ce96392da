//go:build unix

package game

import (
	"errors"
	"os/exec"
	"reflect"
	"slices"
	"testing"
)

// TestOutside checks how programs start from a Flatpak's sandbox.
func TestOutside(t *testing.T) {
	for _, tt := range []struct {
		argv, env []string
		folder    string
		want      []string
	}{
		{[]string{"openarena", "+connect", "192.0.2.1:27960"}, nil, "", []string{"flatpak-spawn", "--host", "openarena", "+connect", "192.0.2.1:27960"}},
		{[]string{"flatpak", "run", "net.example.Game", "a b"}, nil, "", []string{"flatpak-spawn", "--host", "flatpak", "run", "net.example.Game", "a b"}},
		{
			[]string{"/opt/game/run", "-x"}, []string{"ADDRESS=192.0.2.1:1", "NAME=a b"}, "/opt/game",
			[]string{"flatpak-spawn", "--host", "--directory=/opt/game", "--env=ADDRESS=192.0.2.1:1", "--env=NAME=a b", "/opt/game/run", "-x"},
		},
		{[]string{"xdg-open", "steam://connect/192.0.2.1:27015"}, nil, "", []string{"xdg-open", "steam://connect/192.0.2.1:27015"}},
		{[]string{"xdg-open", "https://muster.example/"}, []string{"A=b"}, "", []string{"xdg-open", "https://muster.example/"}},
	} {
		if got := outsideCommand(tt.argv, tt.argv[0], tt.env, tt.folder); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q starts as %q, want %q", tt.argv, got, tt.want)
		}
	}
}

// TestLocateOutside checks which programs of the machine are found, by what the sandbox sees of it.
func TestLocateOutside(t *testing.T) {
	seen := []string{
		"/run/host/usr/bin/openarena", "/usr/bin/python3", "/var/lib/flatpak/exports/bin/net.example.Game", "/home/ann/games/run", "/run/host/opt/game/run",
	}
	for program, want := range map[string]string{
		"openarena": "/usr/bin/openarena", "net.example.Game": "/var/lib/flatpak/exports/bin/net.example.Game",
		"/home/ann/games/run": "/home/ann/games/run", "/opt/game/run": "/opt/game/run",
		"python3": "", // only the sandbox has it
		"xonotic": "", "/usr/bin/python3": "",
	} {
		got, err := locateOutside(program, func(path string) bool { return slices.Contains(seen, path) })
		if got != want || (want == "") != errors.Is(err, exec.ErrNotFound) {
			t.Errorf("%s is at %q, %v; want %q", program, got, err, want)
		}
	}
}
