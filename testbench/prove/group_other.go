//go:build !unix

package prove

import "os/exec"

func own(*exec.Cmd) {}
