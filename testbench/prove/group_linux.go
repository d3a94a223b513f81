package prove

import (
	"os/exec"
	"runtime"
	"syscall"
)

// own puts a tool and the solver it starts into a process group that is killed as one. The tool ends with this program, however that ends: Ctrl-C does not reach
// the group. The system counts the end of the thread that has started it, so the caller keeps that until the tool has ended.
func own(cmd *exec.Cmd) (ended func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
