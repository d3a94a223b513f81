package guest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/guest"
)

// fakeQEMU puts a program in QEMU's place. In boot n it prints the n-th console, the last one in all further boots; the guest behind an empty
// console carries its command out. The function returns how many boots there were.
func fakeQEMU(t *testing.T, consoles ...string) (boots func() int) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	files := map[string]string{
		"qemu-system-x86_64": fmt.Sprintf("#!/bin/sh\necho boot >> %[1]s\nn=$(wc -l < %[1]s)\n[ $n -gt %[3]d ] && n=%[3]d\ncat %[2]s/console$n >&3\ncat %[2]s/wire$n\n"+
			"grep -q %[4]s %[2]s/console$n && exec sleep 1000\n",
			log, dir, len(consoles), hung),
	}
	for i, console := range consoles {
		files[fmt.Sprint("console", i+1)] = console
		wire := ""
		if console == "" {
			wire = "A\x00\x00\x00\x00R\x00\x00\x00\x00X\x01\x00\x00\x000" // init is awake, the command starts, it ends with 0
		}
		files[fmt.Sprint("wire", i+1)] = wire
	}
	for name, content := range files {
		check.Fatal(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o777))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return func() int {
		text := check.Must(os.ReadFile(log))(t)
		return bytes.Count(text, []byte("\n"))
	}
}

// hung is the console of a kernel that stops in the middle of its boot.
const hung = "serio"

// panicked is the console of a kernel that has panicked, with a stack of that depth.
func panicked(why string, depth int) string {
	return "booting\nKernel panic - not syncing: " + why + "\nCall Trace:\n" + strings.Repeat(" ? schedule+0x1/0x2\n", depth) + "Kernel Offset: disabled\n"
}

// A panic is shown from its first line on, however deep the kernel's stack was.
func TestDeepPanic(t *testing.T) {
	fakeQEMU(t, panicked("sysrq triggered crash", 100))
	err := guest.Run(t.Context(), guest.Config{Accel: "tcg"})
	failure := new(guest.Failure)
	if !errors.As(err, &failure) || !strings.HasPrefix(failure.Log, "Kernel panic - not syncing: sysrq") || !strings.HasSuffix(failure.Log, "Kernel Offset: disabled") {
		t.Errorf("%v, want a Failure with all of the kernel's panic", err)
	}
}

// A guest is booted once more when QEMU had no time for its timer or lost it on the way, and for no other reason.
func TestBootsAgain(t *testing.T) {
	timer := panicked("IO-APIC + timer doesn't work!  Boot with apic=debug and send a report.", 3)
	for _, test := range []struct {
		name     string
		consoles []string
		boots    int
		says     string // the error; "" for none
	}{
		{"timer, then not", []string{timer, ""}, 2, ""},
		{"timer twice", []string{timer}, 2, "IO-APIC"},
		{"hung, then not", []string{hung, ""}, 2, ""},
		{"hung twice", []string{hung}, 2, "has not booted"},
		{"another panic", []string{panicked("No working init found.", 3)}, 1, "No working init found"},
	} {
		t.Run(test.name, func(t *testing.T) {
			boots := fakeQEMU(t, test.consoles...)
			var stderr bytes.Buffer
			err := guest.Run(t.Context(), guest.Config{Accel: "tcg", Stderr: &stderr}.WithBootDeadline(time.Second))
			if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want an error with %q", err, test.says)
			}
			if n := boots(); n != test.boots {
				t.Errorf("%d boots, want %d", n, test.boots)
			}
			if told := strings.Contains(stderr.String(), "booting the guest again"); told != (test.boots == 2) {
				t.Errorf("%d boots, and stderr is %q", test.boots, &stderr)
			}
		})
	}
}

// The kernel does not check its timer, as QEMU may have no time for that, nor how long its processors stand still, unless they are steady.
func TestCommandLine(t *testing.T) {
	for _, steady := range []bool{false, true} {
		line := strings.Join(guest.Arguments(guest.Config{Steady: steady}), " ")
		if !strings.Contains(line, "no_timer_check") || strings.Contains(line, "nosoftlockup") == steady {
			t.Errorf("steady %v: QEMU is called with %s", steady, line)
		}
	}
}

// However slow the machine is, a guest may boot as long as its console goes on, or QEMU gets no processor.
func TestBootDeadline(t *testing.T) {
	for share, most := range map[time.Duration]time.Duration{1: 2 * time.Minute, 10: 20 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			waited := func() time.Duration { return time.Since(begun) / share * (share - 1) }
			console, machine := guest.WatchBoot(t.Context(), 2*time.Minute, waited)
			for range 100 {
				time.Sleep(time.Minute)
				io.WriteString(console, "[    0.1] going on\n")
			}
			if machine.Err() != nil {
				t.Fatal(context.Cause(machine))
			}
			silent := time.Now()
			<-machine.Done()
			err, took := context.Cause(machine), time.Since(silent)
			if !errors.Is(err, guest.ErrDeadline) || took > most || took < most-time.Minute {
				t.Errorf("with a processor 1/%d of the time: %v after %v, want it after %v", share, err, took, most)
			}
		})
	}
}
