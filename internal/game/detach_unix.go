//go:build unix

package game

import (
	"os/exec"
	"syscall"
)

// detach gives the game a session of its own, so that it survives Muster's end and a closed terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
