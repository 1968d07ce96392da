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
		l.Launch(t.Context(), to, "", func(s wire.LaunchState, _ string) { state = s })
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
	running := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.running
	}
	allEnd := func() {
		for deadline := time.Now().Add(20 * time.Second); running() > 0 && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
	}
	allEnd()
	defer allEnd() // before the folder goes that they look into
	if state := send(maxRunning + 1); state != wire.LaunchStarted {
		t.Errorf("after the others have ended a game is %q:\n%s", state, out)
	}
}

// TestAutoIsBounded: games that end at once are no way to start a hundred of them.
func TestAutoIsBounded(t *testing.T) {
	games, err := Load(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	console, out := testConsole()
	l := &Launcher{Starts: StartAuto, Command: "true {address}", Games: games, Console: console}
	started := 0
	for round := range 100 {
		to := wire.Launch{Round: round, Game: "openarena", Address: "192.0.2.1:27960"}
		l.Launch(t.Context(), to, "", func(s wire.LaunchState, _ string) {
			if s == wire.LaunchStarted {
				started++
			}
		})
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			l.mu.Lock()
			over := l.running == 0
			l.mu.Unlock()
			if over {
				break
			}
		}
	}
	if started != maxHourly || !strings.Contains(out.String(), "muster has started 6 games within an hour") {
		t.Errorf("%d games were started:\n%s", started, out)
	}
}
