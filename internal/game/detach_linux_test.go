package game_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"muster/internal/game"
)

// A session of its own: the terminal's end does not reach the game.
func TestLaunchDetaches(t *testing.T) {
	p, err := game.Launch(t.Context(), []string{"sleep", "60"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(p.PID)
	if err != nil {
		t.Fatal(err)
	}
	session, err := unix.Getsid(p.PID)
	if err != nil || session != p.PID {
		t.Errorf("the game %d is in the session %d, %v", p.PID, session, err)
	}
	if err := process.Kill(); err != nil {
		t.Error(err)
	}
	_ = p.Wait() // killed
}
