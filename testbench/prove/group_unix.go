//go:build unix && !linux

package prove

import (
	"os/exec"
	"syscall"
)

// own puts a tool and the solver it starts into a process group that is killed as one.
func own(cmd *exec.Cmd) (ended func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return func() {}
}
