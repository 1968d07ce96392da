package game

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"muster/discovery"
)

// StartError says why a game did not start.
type StartError struct {
	Program string
	// Looked are the folders that were searched for the program.
	Looked []string
	Err    error
}

func (e *StartError) Error() string {
	if errors.Is(e.Err, exec.ErrNotFound) && len(e.Looked) > 0 {
		return fmt.Sprintf("game: there is no program %s in %s", e.Program, strings.Join(e.Looked, string(os.PathListSeparator)))
	}
	return fmt.Sprintf("game: cannot start %s: %v", e.Program, e.Err)
}

func (e *StartError) Unwrap() error { return e.Err }

// Hint is what a user can do about it.
func (e *StartError) Hint() string {
	return "is the game installed? Say how it starts with --launch-command, or with launch in games.toml"
}

// Process is a game that was started.
type Process struct {
	PID int
	cmd *exec.Cmd
}

// Wait waits until the program has ended. A launcher such as xdg-open ends as
// soon as it has passed the address on.
func (p *Process) Wait() error { return p.cmd.Wait() }

// Launch starts a command with the environment env added to Muster's own. The
// game gets a session of its own, so that it outlives Muster and the terminal.
// A program that is given by its path runs in its folder, where many games look
// for their files. Errors are [*StartError]s, or the context's.
func Launch(ctx context.Context, argv, env []string) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("game: %w", err)
	}
	if len(argv) == 0 {
		return nil, errNoTemplate
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, &StartError{Program: argv[0], Looked: searched(argv[0]), Err: err}
	}
	cmd := exec.Command(path, argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	if filepath.IsAbs(argv[0]) {
		cmd.Dir = filepath.Dir(argv[0])
	}
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, &StartError{Program: argv[0], Err: err}
	}
	return &Process{PID: cmd.Process.Pid, cmd: cmd}, nil
}

// searched are the folders in which the system looks for a program.
func searched(program string) []string {
	if strings.ContainsAny(program, `/\`) {
		return nil
	}
	return filepath.SplitList(os.Getenv("PATH"))
}

// Environ tells scripts that start games where the game goes, as XQF does:
// MUSTER_GAME, MUSTER_SERVER, MUSTER_SERVER_NAME, MUSTER_SERVER_MAP, MUSTER_ROOM
// and MUSTER_PLAYER. The password is not among them: others on the machine may
// read a process's environment. info may be nil.
func (g Game) Environ(t Target, info *discovery.Info) []string {
	if info == nil {
		info = &discovery.Info{}
	}
	return []string{
		"MUSTER_GAME=" + g.ID,
		"MUSTER_SERVER=" + t.Address.String(),
		"MUSTER_SERVER_NAME=" + discovery.CleanText(info.Name),
		"MUSTER_SERVER_MAP=" + discovery.CleanText(info.Map),
		"MUSTER_ROOM=" + discovery.CleanText(t.Room),
		"MUSTER_PLAYER=" + discovery.CleanText(t.Player),
	}
}
