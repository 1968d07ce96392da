package game

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLaunchDetaches checks that the game has a session of its own, so that the terminal's end does not reach it.
func TestLaunchDetaches(t *testing.T) {
	p, err := start(t.Context(), []string{"sleep", "60"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(p.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	session, err := unix.Getsid(p.Process.Pid)
	if err != nil || session != p.Process.Pid {
		t.Errorf("the game %d is in the session %d, %v", p.Process.Pid, session, err)
	}
	if err := process.Kill(); err != nil {
		t.Error(err)
	}
	_ = p.Wait() // killed
}
