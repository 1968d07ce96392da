package game

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach gives the game a process group of its own and no console, so that it survives Ctrl-C and a closed window.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS,
	}
}
