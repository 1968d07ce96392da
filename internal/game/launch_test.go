package game

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMain lets the test binary act as the game, which records how it was started.
func TestMain(m *testing.M) {
	if out := os.Getenv("GAME_WRITES"); out != "" {
		dir, _ := os.Getwd()
		lines := append([]string{dir, os.Getenv("MUSTER_SERVER"), os.Getenv("MUSTER_SERVER_NAME")}, os.Args[1:]...)
		if err := os.WriteFile(out, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestLaunch(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "started")
	env := append(Game{ID: "g"}.environ(target, "x\x1b\ny"), "GAME_WRITES="+out)
	p, err := start(t.Context(), []string{program, "+connect", "a b;$HOME"}, env)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil || p.Process.Pid <= 0 {
		t.Fatalf("process %d ended with %v", p.Process.Pid, err)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(program))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{dir, "192.0.2.1:27960", "x y", "+connect", "a b;$HOME"}
	lines := strings.Split(string(got), "\n")
	if lines[0], err = filepath.EvalSymlinks(lines[0]); err != nil || !slices.Equal(lines, want) {
		t.Errorf("the game was started with %q, want %q", lines, want)
	}
}

func TestLaunchOfNoSuchProgram(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	_, err := Start(t.Context(), []string{"no-such-game", "x"}, nil)
	var start *StartError
	if !errors.As(err, &start) || !errors.Is(err, exec.ErrNotFound) {
		t.Fatalf("got error %v, want a StartError", err)
	}
	if want := "game: there is no program no-such-game in " + dir; err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if !strings.Contains(start.Hint(), "games.toml") {
		t.Errorf("the hint is %q", start.Hint())
	}
	if _, err = Start(t.Context(), []string{filepath.Join(dir, "nor-this")}, nil); !errors.As(err, &start) {
		t.Errorf("a path: got error %v, want a StartError", err)
	}
}

func TestLaunchOfNothing(t *testing.T) {
	if _, err := Start(t.Context(), nil, nil); err == nil {
		t.Error("nothing was started")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, []string{"x"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

// TestPlainStartError checks that other people in the room see no path of the player's machine.
// Such a path usually contains the user's name.
func TestPlainStartError(t *testing.T) {
	for _, c := range []struct {
		err  StartError
		want string
	}{
		{StartError{Program: `C:\Users\zoe\game.bat`, Err: errors.New("an argument holds '&'")}, "can't start game.bat: an argument holds '&'"},
		{StartError{
			Program: "/home/zoe/game",
			Err:     &fs.PathError{Op: "fork/exec", Path: "/home/zoe/game", Err: errors.New("exec format error")},
		}, "can't start game: exec format error"},
		{StartError{
			Program: "/home/zoe/game",
			Err:     &exec.Error{Name: "/home/zoe/game", Err: &fs.PathError{Op: "stat", Path: "/home/zoe/game", Err: fs.ErrNotExist}},
		}, "can't start game: file does not exist"},
		{StartError{Program: "game", Err: exec.ErrNotFound}, "there's no program game on this machine"},
		{StartError{Program: "/home/zoe/game", Err: exec.ErrNotFound}, "there's no program game on this machine"},
		{StartError{Program: "steam://", Err: errNoHandler}, "nothing on this machine opens steam:// links"},
	} {
		if got := c.err.Plain(); got.Error() != c.want {
			t.Errorf("%v: %q, want %q", c.err.Err, got, c.want)
		}
	}
}
