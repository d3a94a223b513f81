package guest

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/guest/initramfs"
)

// Config says what runs in a guest, and in what guest.
type Config struct {
	// Command is a program and its arguments. The program is looked for as a shell does, and has the same path in the guest.
	// Without one the guest only boots.
	Command []string
	// Env is the command's environment besides PATH, HOME and TMPDIR, as "NAME=value".
	Env []string
	// Dir is the folder that the command starts in, which the guest has too; "" is the current one.
	Dir string
	// Programs are further programs that the guest has, by name or path. They keep their paths.
	Programs []string
	// Files are files and folders that the guest has under the same paths. Programs and libraries bring the libraries they need.
	Files []string
	// Modules are modules of the kernel to load, in this order, besides those they depend on.
	Modules []string
	// Results is a folder, "" for none. In the guest it begins with the same folders in it; what files the command makes there are
	// brought back when it has ended.
	Results string

	// CPUs is the number of processors, 0 for 2.
	CPUs int
	// Memory is in MiB, 0 for 1024. It holds the file system too.
	Memory int
	// Accel is what QEMU runs the guest with, "tcg" or "kvm"; "" is kvm where it has been seen to boot, and tcg elsewhere.
	Accel string
	// Steady makes the guest's clock count its instructions, 1,000 million a second, and skip what it only waits for (QEMU's icount): then what
	// it measures is the same on any machine at any load. It takes tcg and one processor, which are what "" and 0 mean then.
	Steady bool
	// Deadline is how long the command may take; 0 for ten minutes. Then it is sent SIGQUIT, upon which a program in Go shows its
	// goroutines, and the guest is ended a little later.
	Deadline time.Duration

	// Stdout and Stderr take what the command prints, Console what the kernel does, as it comes; nil for none.
	Stdout, Stderr, Console io.Writer
	// Ready is called when the command is about to start; nil for none.
	Ready func(Boot)

	bootDeadline, grace time.Duration // 0 for the constants of that name
}

// Boot is how a guest has come up.
type Boot struct {
	Kernel  string  `json:"kernel"`  // version
	Accel   string  `json:"accel"`   // "tcg" or "kvm"
	Seconds float64 `json:"seconds"` // from the start of QEMU until the command starts
}

func (c *Config) setDefaults() {
	if c.Steady {
		c.CPUs, c.Accel = cmp.Or(c.CPUs, 1), cmp.Or(c.Accel, "tcg")
	}
	c.CPUs = cmp.Or(c.CPUs, 2)
	c.Memory = cmp.Or(c.Memory, 1024)
	c.Deadline = cmp.Or(c.Deadline, 10*time.Minute)
	c.bootDeadline = cmp.Or(c.bootDeadline, bootDeadline)
	c.grace = cmp.Or(c.grace, grace)
	for _, w := range []*io.Writer{&c.Stdout, &c.Stderr, &c.Console} {
		if *w == nil {
			*w = io.Discard
		}
	}
	if c.Ready == nil {
		c.Ready = func(Boot) {}
	}
}

// check refuses what does not go together.
func (c *Config) check() error {
	if c.Steady && (c.CPUs != 1 || c.Accel != "tcg") {
		return fmt.Errorf("guest: a steady guest with %d processors under %s: it takes one, and tcg", c.CPUs, c.Accel)
	}
	return nil
}

// guestPath is where a command in the guest finds programs.
const guestPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// moduleFolder is where the guest has the kernel's modules.
const moduleFolder = "/modules"

// plan returns what init does, and adds to the archive what that takes.
func (c *Config) plan(k *kernel, a *initramfs.Archive) (p plan) {
	for _, file := range k.order(c.Modules) {
		name := filepath.Join(moduleFolder, filepath.Base(file))
		try.OK(a.Copy(name, file))
		p.Modules = append(p.Modules, name)
	}
	for _, program := range c.Programs {
		addProgram(a, program)
	}
	for _, file := range c.Files {
		try.OK(a.CopyAll(file))
	}
	if len(c.Command) == 0 {
		return p
	}
	p.Command = append([]string{addProgram(a, c.Command[0])}, c.Command[1:]...)
	p.Env = append([]string{guestPath, "HOME=/root", "TMPDIR=/tmp"}, c.Env...)
	p.Dir = absolute(c.Dir)
	for _, dir := range []string{p.Dir, "/root", "/run", "/tmp"} {
		a.Folder(dir)
	}
	if c.Results != "" {
		p.Results = absolute(c.Results)
		try.Wrap(filepath.WalkDir(p.Results, func(name string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				a.Folder(name)
			}
			return err
		}), "guest: the folder for results")
	}
	return p
}

// addProgram returns the program's path.
func addProgram(a *initramfs.Archive, name string) string {
	found, err := exec.LookPath(name)
	try.Wrap(err, "guest")
	found = absolute(found)
	try.OK(a.Copy(found, found))
	return found
}

func absolute(name string) string {
	full, err := filepath.Abs(name)
	try.Wrap(err, "guest")
	return full
}

// ForTest completes a Config whose command is a program that `go test` has made: it starts where the test does, has the
// folder testdata, and its coverage is brought back. Go does not cache what it finds, which depends on more than Go knows.
func (c Config) ForTest() (Config, error) {
	program, err := filepath.Abs(c.Command[0])
	if err != nil {
		return c, fmt.Errorf("guest: %w", err)
	}
	c.Results = filepath.Dir(program)
	c.Command = slices.DeleteFunc(slices.Clone(c.Command), func(arg string) bool { return strings.HasPrefix(arg, "-test.testlogfile=") })
	testdata := filepath.Join(c.Dir, "testdata")
	if _, err := os.Stat(testdata); err == nil {
		c.Files = append(slices.Clone(c.Files), testdata)
	}
	return c, nil
}
