package guest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/guest"
)

// roleVariable makes this program, started again by a test, do what a test cannot do to itself.
const roleVariable = "LMMC_GUEST_TEST"

func TestMain(m *testing.M) {
	guest.Init()
	if os.Getenv(roleVariable) == "parent" {
		fmt.Println(guest.Run(context.Background(), guest.Config{Command: []string{"sleep", "1000"}, Ready: func(guest.Boot) { fmt.Println("ready") }}))
		return
	}
	goleak.VerifyTestMain(m)
}

// inside is a guest that runs one of the tests in inside_test.go.
func inside(t *testing.T, name string) (c guest.Config, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	c = check.Must(guest.Config{
		Command: []string{check.Must(os.Executable())(t), "-test.run=^TestInside$/^" + name + "$", "-test.v"},
		Env:     []string{insideVariable + "=1"},
		Stdout:  stdout, Stderr: stderr,
	}.ForTest())(t)
	c.Results = t.TempDir()
	return c, stdout, stderr
}

func TestPass(t *testing.T) {
	c, stdout, stderr := inside(t, "pass")
	c.Modules = []string{"vhci-hcd", "ftdi_sio"}
	c.Env = append(c.Env, "LMMC_RESULTS="+c.Results)
	check.Fatal(t, os.Mkdir(filepath.Join(c.Results, "folder"), 0o777))
	var boot guest.Boot
	c.Ready = func(b guest.Boot) { boot = b }
	if err := guest.Run(t.Context(), c); err != nil {
		t.Fatalf("%v\nstdout: %s\nstderr: %s", err, stdout, stderr)
	}
	check.Contains(t, "stdout", stdout.String(), "--- PASS: TestInside/pass")
	check.Equal(t, "stderr", stderr.String(), "this is stderr\n")
	for name, want := range map[string]string{"made": "by the guest\x00\xff", "folder/other": ""} {
		check.Equal(t, name+" in the folder for results", string(check.Must(os.ReadFile(filepath.Join(c.Results, name)))(t)), want)
	}
	if boot.Kernel == "" || boot.Accel == "" || boot.Seconds <= 0 {
		t.Errorf("booted as %+v", boot)
	}
	t.Logf("booted as %+v", boot)
}

func TestFail(t *testing.T) {
	for _, test := range []struct {
		name string
		code int
		says []string
	}{
		{"fail", 1, []string{"--- FAIL: TestInside/fail", "as it should be"}},
		{"panic", 2, []string{"panic: on purpose", "inside_test.go"}},
		{"killed", 128 + int(syscall.SIGKILL), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, stdout, stderr := inside(t, test.name)
			err := guest.Run(t.Context(), c)
			exit := new(guest.ExitError)
			if !errors.As(err, &exit) || exit.Code != test.code {
				t.Errorf("%v, want exit code %d", err, test.code)
			}
			check.Contains(t, "output", stdout.String()+stderr.String(), test.says...)
		})
	}
}

// A test that hangs shows its goroutines and the kernel's log.
func TestDeadline(t *testing.T) {
	c, stdout, stderr := inside(t, "hang")
	var err error
	// The test must have got as far as to hang, which takes as long as the machine is busy.
	for c.Deadline = 2 * time.Second; c.Deadline < 5*time.Minute && !strings.Contains(stdout.String(), "TestInside/hang"); c.Deadline *= 4 {
		err = guest.Run(t.Context(), c.WithGrace(5*time.Minute)) // it quits by itself, but slowly
	}
	failure := new(guest.Failure)
	if !errors.Is(err, guest.ErrDeadline) || !errors.As(err, &failure) {
		t.Fatalf("%v, want ErrDeadline in a Failure", err)
	}
	check.Contains(t, "log of the console", failure.Log, "init")
	check.Contains(t, "stderr, with the goroutine that hangs", stderr.String(), "hangForever")
}

func TestDeadlineOfOneThatDoesNotQuit(t *testing.T) {
	var stdout bytes.Buffer
	c := guest.Config{Command: []string{"sh", "-c", "trap '' QUIT; echo trapped; sleep 1000"}, Programs: []string{"sleep"}, Stdout: &stdout, Deadline: time.Second}
	check.Fails(t, "a command that ignores SIGQUIT", guest.Run(t.Context(), c.WithGrace(time.Second)), guest.ErrDeadline)
}

func TestKernelPanic(t *testing.T) {
	err := guest.Run(t.Context(), guest.Config{Command: []string{"sh", "-c", "echo c > /proc/sysrq-trigger; sleep 1000"}, Programs: []string{"sleep"}})
	failure := new(guest.Failure)
	if !errors.As(err, &failure) || !strings.Contains(failure.Log, "Kernel panic") {
		t.Errorf("%v, want a Failure with the kernel's panic", err)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := guest.Run(ctx, guest.Config{Command: []string{"sleep", "1000"}, Ready: func(guest.Boot) { cancel() }})
	check.Fails(t, "cancelled", err, context.Canceled)
	if left := children(t, os.Getpid()); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

// QEMU does not survive a process that is killed.
func TestParentKilled(t *testing.T) {
	self := check.Must(os.Executable())(t)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleVariable+"=parent")
	out := check.Must(cmd.StdoutPipe())(t)
	check.Fatal(t, cmd.Start())
	line := make([]byte, 6)
	if n, err := out.Read(line); err != nil || string(line[:n]) != "ready\n" {
		t.Errorf("the parent says %q, %v", line[:n], err)
	}
	machines := children(t, cmd.Process.Pid)
	check.Error(t, cmd.Process.Kill())
	cmd.Wait() // it was killed
	if len(machines) != 1 {
		t.Fatalf("children of the parent: %v, want QEMU", machines)
	}
	for range 10_000 {
		if syscall.Kill(machines[0], 0) == syscall.ESRCH {
			return
		}
		if state := status(machines[0])["State"]; strings.HasPrefix(state, "Z") {
			return // a zombie: its new parent has not reaped it
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("QEMU, process %d, goes on", machines[0])
}

// children returns the processes whose parent is the given one.
func children(t *testing.T, parent int) (pids []int) {
	t.Helper()
	all := check.Must(filepath.Glob("/proc/[0-9]*"))(t)
	for _, dir := range all {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err == nil && status(pid)["PPid"] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return slices.Sorted(slices.Values(pids))
}

// status reads /proc/PID/status; empty if the process does not exist.
func status(pid int) map[string]string {
	fields := map[string]string{}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it may just have ended
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		fields[name] = strings.TrimSpace(value)
	}
	return fields
}

func TestRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		c    guest.Config
		env  map[string]string
		is   error
		says string
	}{
		{name: "no such command", c: guest.Config{Command: []string{"no-such-program"}}, is: exec.ErrNotFound, says: "no-such-program"},
		{name: "no such program", c: guest.Config{Programs: []string{"no-such-program"}}, is: exec.ErrNotFound, says: "no-such-program"},
		{name: "no such file", c: guest.Config{Files: []string{"/no/such/file"}}, is: os.ErrNotExist, says: "/no/such/file"},
		{name: "no such module", c: guest.Config{Modules: []string{"no-such"}}, says: "has no module no_such"},
		{name: "no folder for results", c: guest.Config{Command: []string{"true"}, Results: "/no/such"}, is: os.ErrNotExist, says: "folder for results"},
		{name: "steady with two processors", c: guest.Config{Steady: true, CPUs: 2}, says: "with 2 processors"},
		{name: "no QEMU", env: map[string]string{"PATH": "/no/such"}, is: guest.ErrTool, says: "apt-get install qemu-system-x86"},
		{name: "no kernel", env: map[string]string{guest.KernelVariable: "/no/such"}, is: guest.ErrTool, says: "/no/such"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			test.c.Accel = "tcg"
			check.Fails(t, test.name, guest.Run(t.Context(), test.c), test.is, test.says)
		})
	}
}

// A steady guest waits a quarter of an hour of its own time within the deadline of ten minutes of wall-clock time.
func TestSteady(t *testing.T) {
	var boot guest.Boot
	check.Error(t, guest.Run(t.Context(), guest.Config{Steady: true, Command: []string{"sleep", "900"}, Ready: func(b guest.Boot) { boot = b }}))
	check.Equal(t, "accelerator", boot.Accel, "tcg")
}

// Whether KVM works is found out once and then known.
func TestAccelerator(t *testing.T) {
	cache := t.TempDir()
	t.Setenv(guest.KernelVariable, guest.KernelRoot(t))
	t.Setenv("LMMC_CACHE", cache)
	var booted []string
	for range 2 {
		check.Fatal(t, guest.Run(t.Context(), guest.Config{Ready: func(b guest.Boot) { booted = append(booted, b.Accel) }}))
	}
	known, err := os.ReadFile(filepath.Join(cache, "guest", "kvm"))
	if err != nil && !errors.Is(err, os.ErrNotExist) { // there is no file where there is no /dev/kvm
		t.Fatal(err)
	}
	if booted[0] != booted[1] || err == nil && !bytes.HasSuffix(known, []byte(booted[0])) {
		t.Errorf("booted with %v, and known is %q", booted, known)
	}
}
