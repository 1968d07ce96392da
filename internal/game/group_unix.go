//go:build unix

package game

import (
	"os/exec"
	"syscall"
	"time"
)

// group is a process group: a command and what it starts, except processes that leave the group.
type group struct{}

func (*group) prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
func (*group) adopt(*exec.Cmd)       {}

// end ends the group, by force if necessary.
func (*group) end(cmd *exec.Cmd, force bool) {
	signal := syscall.SIGTERM
	if force {
		signal = syscall.SIGKILL
	}
	syscall.Kill(-cmd.Process.Pid, signal) // an error means that the group is empty
}

// isEmpty reports whether the group is empty. The system may then reuse its number.
func (*group) isEmpty(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, 0) != nil }

// groupEvery is how often an ending group is checked.
const groupEvery = 20 * time.Millisecond

// waits waits until the group is empty, and reports whether it is.
func (g *group) waits(cmd *exec.Cmd, deadline <-chan time.Time) bool {
	tick := time.NewTicker(groupEvery)
	defer tick.Stop()
	for !g.isEmpty(cmd) {
		select {
		case <-tick.C:
		case <-deadline:
			return false
		}
	}
	return true
}
