// Package kernel_test tests the virtual board under Linux: its tests run in a guest, with unmodified kernel drivers and libusb.
package kernel_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/conformance"
	"github.com/stafflink/lmmc/testbench/guest"
)

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) != "" {
		if err := serveBoard(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(inGuest(m))
}

func inGuest(m *testing.M) int {
	// The tools have timeouts of their own, which a steady guest meets however busy the machine is.
	c := guest.Config{Steady: true, Deadline: 35 * time.Minute, Modules: []string{"vhci-hcd", "ftdi_sio"}, Programs: tools()}
	if _, err := exec.LookPath("go"); err == nil { // which a guest does not have
		dir, err := os.MkdirTemp("", "lmmc-kernel-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program := filepath.Join(dir, "lmmc")
		if text, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "github.com/stafflink/lmmc/cmd/lmmc").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%s%v\n", text, err)
			return 1
		}
		c.Programs = append(c.Programs, program)
		c.Env = append(c.Env, programVariable+"="+program)
		if err := carryRTL(&c); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return guest.Main(tidy{m}, c)
}

// programVariable names lmmc's path in the guest.
const programVariable = "LMMC_PROGRAM"

// tidy are tests that must leave no goroutine behind, and no kernel warning.
type tidy struct{ *testing.M }

func (t tidy) Run() int {
	code := t.M.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if log := complaints(); log != "" {
		fmt.Fprintln(os.Stderr, "warnings of the kernel:\n"+log)
		code = 1
	}
	return code
}

// complaints returns the kernel's log if it has warnings.
func complaints() string {
	log := make([]byte, 1<<20)
	n, err := unix.Klogctl(unix.SYSLOG_ACTION_READ_ALL, log)
	if err != nil {
		return err.Error()
	}
	log = log[:n]
	if trouble.Match(log) {
		return string(log)
	}
	return ""
}

var trouble = regexp.MustCompile(`BUG:|Oops|WARNING:|blocked for more than|Call Trace`)

// ports returns the number of the boards' serial ports.
func ports() int {
	names, _ := filepath.Glob("/dev/ttyUSB*")
	return len(names)
}

// until waits for a condition, for a minute at most.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("timeout: want " + what)
		}
	}
}

// maySkip are cases for targets with a reset or virtual time, for Linux 6.7, and for networks and their network interfaces.
var maySkip = []string{"restart/reset", "paging/goes-on", "policies/memory", "network/lossy", "network/short-cuts", "network/long-cuts", "network/datagrams", "contexts/isolation"}

// conform runs the conformance suite on a target.
func conform(t *testing.T, target string) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes a minute")
	}
	pluggedIn(t)
	r := check.Must(conformance.Execute(t.Context(), target, conformance.Options{}))(t)
	for _, x := range r.Results {
		line := fmt.Sprintf("%-24s %6.3f s  %s  %s", x.Name, x.Seconds, x.Verdict, x.Reason)
		if x.Verdict == conformance.Fail || x.Verdict == conformance.Skip && !slices.Contains(maySkip, x.Name) {
			t.Errorf("%s\nagain: %s", line, x.Again)
		} else {
			t.Log(line)
		}
	}
	t.Logf("%.1f s; %v", r.Seconds, r.Links)
}
