//go:build unix

package game

import (
	"os/exec"
	"syscall"
	"time"
)

// group is a process group: a command and what it starts, unless that leaves it.
type group struct{}

func (*group) prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
func (*group) adopt(*exec.Cmd)       {}

// end has the group end, by force if it must.
func (*group) end(cmd *exec.Cmd, force bool) {
	signal := syscall.SIGTERM
	if force {
		signal = syscall.SIGKILL
	}
	syscall.Kill(-cmd.Process.Pid, signal) // an error means that nobody is left
}

// isEmpty reports whether nobody is left in the group: its number may be another's then.
func (*group) isEmpty(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, 0) != nil }

// groupEvery is how often a group is looked at that is ending.
const groupEvery = 20 * time.Millisecond

// waits waits until nobody is left in the group, and reports whether that is so.
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
