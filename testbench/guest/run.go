package guest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/stafflink/lmmc/testbench/results"
)

// ErrDeadline says that the command had not ended in time.
var ErrDeadline = errors.New("guest: deadline passed")

// ExitError says that the command ended with an exit code that is not zero: its own, or 128 and the signal that ended it.
type ExitError struct {
	Command string
	Code    int
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("guest: %s ended with exit code %d", filepath.Base(e.Command), e.Code)
}

// Failure is an error of the guest, with what its kernel printed last.
type Failure struct {
	Err error
	Log string
}

func (f *Failure) Unwrap() error { return f.Err }

func (f *Failure) Error() string {
	if f.Log == "" {
		return f.Err.Error() + " (its console is empty)"
	}
	return f.Err.Error() + "; last on its console:\n" + f.Log
}

const (
	// bootDeadline is how long a guest that has not started the command may print nothing on its console while QEMU has a processor. It prints
	// all the time while it boots, which takes minutes under TCG on a busy machine.
	bootDeadline = 2 * time.Minute
	// grace is how long the command may take to quit when its deadline has passed. A Go program needs seconds under TCG to
	// print its goroutines.
	grace = 15 * time.Second
)

// Run boots a guest, runs a command in it, and returns when the guest is gone. The error is nil when the command has ended
// with exit code 0, an ExitError when with another, ErrDeadline or the context's when it has not ended, in a Failure when the
// guest broke. A guest whose kernel finds no timer, or under TCG stops in the middle of its boot, which is QEMU's fault, is booted again
// once, and Stderr says so. The calling program must call Init first in its main.
func Run(ctx context.Context, c Config) error {
	c.setDefaults()
	if err := c.check(); err != nil {
		return err
	}
	k, err := findKernel()
	if err != nil {
		return err
	}
	if c.Accel == "" {
		if c.Accel, err = accelerator(ctx, k); err != nil {
			return err
		}
	}
	err = boot(ctx, c, k)
	switch failure := new(Failure); {
	case errors.As(err, &failure) && strings.Contains(failure.Log, noTimer):
		fmt.Fprintf(c.Stderr, "guest: its kernel panicked (%s), as it does when QEMU gets too little processor time: booting the guest again\n", noTimer)
	case errors.Is(err, errNotBooted) && c.Accel == "tcg":
		fmt.Fprintf(c.Stderr, "%v: booting the guest again\n", errors.Unwrap(err))
	default:
		return err
	}
	return boot(ctx, c, k)
}

// errNotBooted says that the guest stopped before its init came.
var errNotBooted = fmt.Errorf("%w: the guest has not booted", ErrDeadline)

// noTimer is what a kernel says that has waited for a timer which QEMU did not come to serve, before init runs.
const noTimer = "IO-APIC + timer doesn't work"

// boot boots a guest once and returns when it is gone.
func boot(ctx context.Context, c Config, k *kernel) error {
	m, err := start(ctx, c, k)
	if err != nil {
		return err
	}
	defer m.stop()

	code, err := m.serve(c)
	m.stop()
	if cause := context.Cause(m.ctx); err != nil && errors.Is(cause, ErrDeadline) {
		err = cause // rather than that its output ended
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &Failure{err, m.console.last(consoleLines)}
	case code != 0:
		return &ExitError{c.Command[0], code}
	}
	return nil
}

// consoleLines is how many lines of the console an error shows, or more, to begin with a panic's first.
const consoleLines = 40

// serve follows what init says until the last frame.
func (m *machine) serve(c Config) (code int, err error) {
	awake := false
	booting, booted := context.WithCancel(m.ctx)
	defer booted()
	go m.watchBoot(booting, c.bootDeadline)
	late := fmt.Errorf("%w: the command has not ended within %s", ErrDeadline, c.Deadline)
	deadline := time.NewTimer(math.MaxInt64) // of the command, once it has started
	defer func() { deadline.Stop() }()
	for {
		kind, content, err := readFrame(m.from)
		switch {
		case errors.Is(err, io.EOF) && !awake:
			return 0, fmt.Errorf("guest: it ended before its init spoke, which is the program that calls guest.Run: does its main call guest.Init?%s", m.complaint())
		case errors.Is(err, io.EOF):
			return 0, fmt.Errorf("guest: it ended before the command did%s", m.complaint())
		case err != nil:
			return 0, err
		}
		switch kind {
		case frameAwake:
			awake = true
		case frameReady:
			booted()
			deadline = time.AfterFunc(c.Deadline, func() {
				go m.to.write(frameQuit) // a guest that hangs may never read it
				time.AfterFunc(c.grace, func() { m.kill(late) })
			})
			c.Ready(Boot{m.kernel.version, c.Accel, time.Since(m.started).Seconds()})
		case frameStdout:
			_, err = c.Stdout.Write(content)
		case frameStderr:
			_, err = c.Stderr.Write(content)
		case frameFile:
			err = keep(c.Results, content)
		case frameProblem:
			return 0, fmt.Errorf("guest: init: %s", content)
		case frameExit:
			if !deadline.Stop() {
				return 0, late
			}
			return strconv.Atoi(string(content))
		default:
			err = fmt.Errorf("guest: unknown frame %q", kind)
		}
		if err != nil {
			return 0, err
		}
	}
}

// looks is how often watchBoot looks in the time that it allows.
const looks = 20

// watchBoot ends a guest that has not booted, which ends ctx, and has printed nothing for so long, without the time in which QEMU wanted a
// processor and the host gave it none.
func (m *machine) watchBoot(ctx context.Context, most time.Duration) {
	look := time.NewTicker(most / looks)
	defer look.Stop()
	printed, waited, idle := m.console.written(), m.waited(), time.Duration(0)
	for idle < most {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		last, now := m.console.written(), m.waited()
		if last != printed {
			idle = time.Since(last)
		} else {
			idle += most/looks - min(most/looks, max(0, now-waited))
		}
		printed, waited = last, now
	}
	m.kill(fmt.Errorf("%w, and its console is silent for %s", errNotBooted, most))
}

// keep stores a file from the guest in the folder for results.
func keep(dir string, frame []byte) error {
	name, content, ok := bytes.Cut(frame, []byte{0})
	if !ok || !fs.ValidPath(string(name)) {
		return fmt.Errorf("guest: damaged file %q", name)
	}
	full := filepath.Join(dir, string(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	return results.WriteFile(full, content)
}

// complaint is what QEMU has printed, for an error. It ends what is left of QEMU.
func (m *machine) complaint() string {
	m.stop()
	if text := strings.TrimSpace(m.stderr.String()); text != "" {
		return "; QEMU says: " + text
	}
	return ""
}

// insideVariable tells a test program that it is in the guest.
const insideVariable = "LMMC_GUEST"

// Main is for the TestMain of a package whose tests need a guest: os.Exit(guest.Main(m, config)). It boots one, has the tests
// run there under the flags they were started with, and returns their exit code. In the guest it runs them.
func Main(m interface{ Run() int }, c Config) int {
	Init()
	if os.Getenv(insideVariable) != "" {
		return m.Run()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c.Command = os.Args
	c.Env = append(c.Env, insideVariable+"=1")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c, err := c.ForTest()
	if err == nil {
		err = Run(ctx, c)
	}
	if exit := new(ExitError); errors.As(err, &exit) {
		return exit.Code
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
