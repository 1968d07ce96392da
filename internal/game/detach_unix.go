//go:build unix

package game

import (
	"os/exec"
	"syscall"
)

// detach gives the game a session of its own: neither Muster's end nor a
// closed terminal ends it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
