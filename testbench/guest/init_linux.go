package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/internal/try"
)

// wirePort is the guest's end of the line to the host. The first serial port is the kernel's console.
const wirePort = "/dev/ttyS1"

// A program that calls Run calls Init first in main or TestMain: in a guest the same program is process 1.
// There, Init does what Run has asked for and does not return; anywhere else it does nothing.
func Init() {
	if os.Getpid() != 1 || os.Getenv(initVariable) == "" {
		return
	}
	err := try.Run(serveInit)
	fmt.Fprintln(os.Stderr, "guest init:", err)
	unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART) // ends QEMU, which runs with -no-reboot
	select {}
}

// serveInit returns when there is nothing left to do.
func serveInit() {
	mountAll()
	wire := openWire()
	out := &frameWriter{w: wire}
	try.OK(out.write(frameAwake))
	code := 0
	if err := try.Run(func() { code = carryOut(wire, out) }); err != nil {
		try.OK(out.write(frameProblem, []byte(err.Error())))
	} else {
		try.OK(out.write(frameExit, []byte(strconv.Itoa(code))))
	}
	// Returns when all has been sent.
	try.OK(unix.IoctlSetInt(int(wire.Fd()), unix.TCSBRK, 1))
}

func carryOut(wire *os.File, out *frameWriter) (code int) {
	var p plan
	text, err := os.ReadFile(planFile)
	try.Wrap(err, "its plan")
	try.Wrap(json.Unmarshal(text, &p), "its plan")
	for _, file := range p.Modules {
		try.Wrap(load(file), "load %s", filepath.Base(file))
	}
	try.Wrap(loopbackUp(), "network device lo")
	try.OK(out.write(frameReady))
	if len(p.Command) == 0 {
		return 0
	}
	before := files(p.Results)
	code = try.Get(runCommand(p, wire, out))
	for _, name := range files(p.Results) {
		if _, old := slices.BinarySearch(before, name); !old {
			try.OK(out.write(frameFile, []byte(name), []byte{0}, try.Get(os.ReadFile(filepath.Join(p.Results, name)))))
		}
	}
	return code
}

func mountAll() {
	for _, m := range []struct {
		dir, kind string
		flags     uintptr
	}{
		{"/proc", "proc", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC},
		{"/sys", "sysfs", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC},
		{"/dev", "devtmpfs", unix.MS_NOSUID},
		{"/dev/pts", "devpts", unix.MS_NOSUID | unix.MS_NOEXEC},
		{"/dev/shm", "tmpfs", unix.MS_NOSUID | unix.MS_NODEV},
	} {
		try.OK(os.MkdirAll(m.dir, 0o755))
		try.Wrap(unix.Mount(m.kind, m.dir, m.kind, m.flags, ""), "mount %s", m.dir)
	}
	for name, target := range map[string]string{"/dev/fd": "/proc/self/fd", "/dev/stdin": "fd/0", "/dev/stdout": "fd/1", "/dev/stderr": "fd/2"} {
		try.OK(os.Symlink(target, name))
	}
}

// openWire opens the serial line in raw mode.
func openWire() *os.File {
	fd, err := unix.Open(wirePort, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	try.Wrap(err, "%s", wirePort)
	raw := &unix.Termios{Cflag: unix.CS8 | unix.CREAD | unix.CLOCAL | unix.B115200, Ispeed: unix.B115200, Ospeed: unix.B115200}
	raw.Cc[unix.VMIN] = 1
	try.Wrap(unix.IoctlSetTermios(fd, unix.TCSETS, raw), "%s", wirePort)
	return os.NewFile(uintptr(fd), wirePort)
}

func load(module string) error {
	f, err := os.Open(module)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.FinitModule(int(f.Fd()), "", 0)
}

// loopbackUp brings the loopback device up, upon which the kernel assigns 127.0.0.1.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	device, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	device.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, device)
}

// runCommand returns the command's exit code, or 128 and the signal that ended it, as a shell does.
func runCommand(p plan, wire *os.File, out *frameWriter) (int, error) {
	stdout, err := newOutput(out.stream(frameStdout))
	if err != nil {
		return 0, err
	}
	stderr, err := newOutput(out.stream(frameStderr))
	if err != nil {
		return 0, errors.Join(err, stdout.close())
	}
	cmd := &exec.Cmd{Path: p.Command[0], Args: p.Command, Env: p.Env, Dir: p.Dir, Stdout: stdout.in, Stderr: stderr.in,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	if err := cmd.Start(); err != nil {
		return 0, errors.Join(err, stdout.close(), stderr.close())
	}
	go func() {
		for {
			kind, _, err := readFrame(wire)
			if err != nil {
				return
			}
			if kind == frameQuit {
				cmd.Process.Signal(syscall.SIGQUIT) // without effect on a process that has ended
			}
		}
	}()
	err = cmd.Wait()
	if problem := errors.Join(stdout.close(), stderr.close()); problem != nil {
		return 0, problem
	}
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
			return 128 + int(status.Signal()), nil
		}
		return exit.ExitCode(), nil
	}
	return 0, err
}

// files returns the plain files below a folder by their sorted paths from there. Without a folder there are none.
func files(dir string) (names []string) {
	if dir == "" {
		return nil
	}
	try.OK(fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	}))
	slices.Sort(names)
	return names
}
