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
)

// wirePort is the guest's end of the line to the host. The first serial port is the kernel's console.
const wirePort = "/dev/ttyS1"

// A program that calls Run calls Init first in main or TestMain: in a guest the same program is process 1.
// There, Init does what Run has asked for and does not return; anywhere else it does nothing.
func Init() {
	if os.Getpid() != 1 || os.Getenv(initVariable) == "" {
		return
	}
	err := serveInit()
	fmt.Fprintln(os.Stderr, "guest init:", err)
	unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART) // ends QEMU, which runs with -no-reboot
	select {}
}

// serveInit returns when there is nothing left to do.
func serveInit() error {
	if err := mountAll(); err != nil {
		return err
	}
	wire, err := openWire()
	if err != nil {
		return err
	}
	out := &frameWriter{w: wire}
	last, content := byte(frameExit), ""
	if err := out.write(frameAwake); err != nil {
		return err
	}
	if code, err := carryOut(wire, out); err != nil {
		last, content = frameProblem, err.Error()
	} else {
		content = strconv.Itoa(code)
	}
	if err := out.write(last, []byte(content)); err != nil {
		return err
	}
	// Returns when all has been sent.
	return unix.IoctlSetInt(int(wire.Fd()), unix.TCSBRK, 1)
}

func carryOut(wire *os.File, out *frameWriter) (code int, err error) {
	var p plan
	text, err := os.ReadFile(planFile)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return 0, fmt.Errorf("its plan: %w", err)
	}
	for _, file := range p.Modules {
		if err := load(file); err != nil {
			return 0, fmt.Errorf("load %s: %w", filepath.Base(file), err)
		}
	}
	if err := loopbackUp(); err != nil {
		return 0, fmt.Errorf("network device lo: %w", err)
	}
	if err := out.write(frameReady); err != nil {
		return 0, err
	}
	if len(p.Command) == 0 {
		return 0, nil
	}
	before, err := files(p.Results)
	if err != nil {
		return 0, err
	}
	code, err = runCommand(p, wire, out)
	if err != nil {
		return code, err
	}
	after, err := files(p.Results)
	if err != nil {
		return code, err
	}
	for _, name := range after {
		if _, old := slices.BinarySearch(before, name); old {
			continue
		}
		content, err := os.ReadFile(filepath.Join(p.Results, name))
		if err != nil {
			return code, err
		}
		if err := out.write(frameFile, []byte(name), []byte{0}, content); err != nil {
			return code, err
		}
	}
	return code, nil
}

func mountAll() error {
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
		if err := os.MkdirAll(m.dir, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.dir, m.kind, m.flags, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.dir, err)
		}
	}
	for name, target := range map[string]string{"/dev/fd": "/proc/self/fd", "/dev/stdin": "fd/0", "/dev/stdout": "fd/1", "/dev/stderr": "fd/2"} {
		if err := os.Symlink(target, name); err != nil {
			return err
		}
	}
	return nil
}

// openWire opens the serial line in raw mode.
func openWire() (*os.File, error) {
	fd, err := unix.Open(wirePort, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", wirePort, err)
	}
	raw := &unix.Termios{Cflag: unix.CS8 | unix.CREAD | unix.CLOCAL | unix.B115200, Ispeed: unix.B115200, Ospeed: unix.B115200}
	raw.Cc[unix.VMIN] = 1
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, raw); err != nil {
		return nil, fmt.Errorf("%s: %w", wirePort, err)
	}
	return os.NewFile(uintptr(fd), wirePort), nil
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
func files(dir string) (names []string, err error) {
	if dir == "" {
		return nil, nil
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	slices.Sort(names)
	return names, err
}
