package guest_test

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/guest"
)

// command runs a shell's command as init does in a guest, and returns its exit code and what it has printed.
func command(t *testing.T, script string, before func()) (code int, stdout string) {
	t.Helper()
	var frames bytes.Buffer
	code, err := guest.RunCommand(t.TempDir(), []string{"/bin/sh", "-c", script}, writerFunc(func(p []byte) (int, error) {
		before()
		return frames.Write(p)
	}))
	check.Fatal(t, err)
	for {
		kind, content, err := guest.ReadFrame(&frames)
		if err == io.EOF {
			return code, stdout
		} else if err != nil || kind != 'O' {
			t.Fatalf("frame %q, %v", kind, err)
		}
		stdout += string(content)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// All that a command has printed arrives, however long after its end a slow line takes it.
func TestSlowLine(t *testing.T) {
	stall := 2 * time.Second
	const size = 60_000 // fits into a pipe, so that the command ends while the line stands
	if _, stdout := command(t, "head -c 60000 /dev/zero", func() { time.Sleep(stall); stall = 0 }); len(stdout) != size {
		t.Errorf("%d bytes arrive of %d", len(stdout), size)
	}
}

// What a command leaves behind does not keep init waiting.
func TestLeftBehind(t *testing.T) {
	code, stdout := command(t, "sleep 1000 & echo $!; exit 3", func() {})
	pid, err := strconv.Atoi(strings.TrimSpace(stdout))
	if err != nil || code != 3 {
		t.Fatalf("exit code %d, printed %q", code, stdout)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("what was left behind: %v", err)
	}
}
