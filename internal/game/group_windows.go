package game

import (
	"os/exec"
	"syscall"
	"time"
	memory "unsafe" // this package has a function named unsafe

	"golang.org/x/sys/windows"
)

// group is a job: a command and everything it starts. It ends with Muster, however Muster ends.
type group struct {
	job windows.Handle
}

func (*group) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// adopt adds the command to the job. Without a job, only the command itself can be ended.
func (g *group) adopt(cmd *exec.Cmd) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err == nil {
		defer windows.CloseHandle(process)
		_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
			uintptr(memory.Pointer(&limits)), uint32(memory.Sizeof(limits)))
	}
	if err == nil {
		err = windows.AssignProcessToJobObject(job, process)
	}
	if err != nil {
		windows.CloseHandle(job)
		return
	}
	g.job = job
}

// end ends the job by force: processes without a console cannot be asked.
func (g *group) end(cmd *exec.Cmd, force bool) {
	if !force {
		return
	}
	if g.job == 0 {
		cmd.Process.Kill()
		return
	}
	windows.TerminateJobObject(g.job, 1)
	windows.CloseHandle(g.job)
	g.job = 0
}

func (*group) isEmpty(*exec.Cmd) bool { return false } // ending an empty job is harmless

func (*group) waits(*exec.Cmd, <-chan time.Time) bool { return false } // end the job at once
