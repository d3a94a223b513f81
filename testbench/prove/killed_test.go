//go:build linux

package prove_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/prove"
)

// When the program is killed its tools do not go on.
func TestToolsEndWithTheProgram(t *testing.T) {
	if dir := os.Getenv("PROVE_KILLED"); dir != "" {
		_ = prove.Check(t.Context(), t.TempDir(), prove.Proof{Dir: dir, Files: []string{"counter.v"}, Top: "counter", Depth: 10})
		return
	}
	dir := source(t, "counter.v", counter)
	pipe := filepath.Join(t.TempDir(), "pid")
	check.Fatal(t, syscall.Mkfifo(pipe, 0o600))
	bin := t.TempDir()
	for _, tool := range []string{"yosys", "yosys-smtbmc", "yosys-abc", "z3"} {
		check.Fatal(t, os.WriteFile(filepath.Join(bin, tool), []byte("#!/bin/sh\necho $$ > '"+pipe+"'\nexec sleep 1000\n"), 0o777))
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestToolsEndWithTheProgram$")
	cmd.Env = append(os.Environ(), "PROVE_KILLED="+dir, "TMPDIR="+t.TempDir(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	check.Fatal(t, cmd.Start())
	f := check.Must(os.Open(pipe))(t)
	defer f.Close()
	var pid int
	check.Fatal(t, check.Err(fmt.Fscan(bufio.NewReader(f), &pid)))
	check.Fatal(t, cmd.Process.Kill())
	_ = cmd.Wait()
	defer syscall.Kill(pid, syscall.SIGKILL)
	for !gone(pid) {
	}
}

// gone reports whether a process has ended, be it that nobody has asked how.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return errors.Is(err, os.ErrNotExist) || strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
}
