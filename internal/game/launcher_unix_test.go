//go:build unix

package game

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/host/wire"
)

// TestAutoAsksAtLast: a host that sends its players on and on cannot fill the
// machine of one who said --launch auto with games.
func TestAutoAsksAtLast(t *testing.T) {
	games, err := Load(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	over := filepath.Join(t.TempDir(), "over")
	console, out := testConsole()
	l := &Launcher{
		Starts: StartAuto, Command: "sh -c 'until test -e " + over + "; do sleep 0.01; done'", Games: games, Console: console,
	}
	send := func(round int) (state wire.LaunchState) {
		to := wire.Launch{Round: round, Game: "openarena", Address: "192.0.2.1:27960"}
		l.Launch(t.Context(), to, func(s wire.LaunchState, _ string) { state = s })
		return state
	}
	for round := range maxRunning {
		if state := send(round); state != wire.LaunchStarted {
			t.Errorf("game %d is %q:\n%s", round, state, out)
		}
	}
	if state := send(maxRunning); state != wire.LaunchByHand || !strings.Contains(out.String(), "3 games that muster has started are still running") {
		t.Errorf("one game more is %q:\n%s", state, out)
	}
	if err := os.WriteFile(over, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	allEnd := func() {
		for deadline := time.Now().Add(20 * time.Second); l.running.Load() > 0 && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
	}
	allEnd()
	defer allEnd() // before the folder goes that they look into
	if state := send(maxRunning + 1); state != wire.LaunchStarted {
		t.Errorf("after the others have ended a game is %q:\n%s", state, out)
	}
}
