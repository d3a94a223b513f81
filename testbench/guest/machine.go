package guest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/guest/initramfs"
)

// emulator is QEMU's program. Guests are of the one architecture whose PC has two serial ports that need no module.
const emulator = "qemu-system-x86_64"

// machine is a running QEMU.
type machine struct {
	kernel  *kernel
	started time.Time
	waited  func() time.Duration // how long QEMU has been ready to run without a processor
	to      *frameWriter
	from    *os.File
	console tail
	stderr  strings.Builder // to be read after stop

	ctx  context.Context // of QEMU
	kill context.CancelCauseFunc
	done chan struct{} // closed when QEMU has ended and its console has been read
}

// start returns a machine that has begun to boot. It is gone when the context is done, or by stop.
func start(ctx context.Context, c Config, k *kernel) (*machine, error) {
	program, err := exec.LookPath(emulator)
	if err != nil {
		return nil, fmt.Errorf("%w: %s is not in PATH: apt-get install qemu-system-x86", ErrTool, emulator)
	}
	image, err := k.unpacked(ctx)
	if err != nil {
		return nil, err
	}
	var initrd *os.File
	if err := try.Run(func() { initrd = c.initrd(k) }); err != nil {
		return nil, err
	}
	defer initrd.Close()
	var pipes [3][2]*os.File // to, from, console: our ends are [1], [0], [0]
	for i := range pipes {
		if pipes[i][0], pipes[i][1], err = os.Pipe(); err != nil {
			return nil, fmt.Errorf("guest: %w", err)
		}
	}
	m := &machine{kernel: k, to: &frameWriter{w: pipes[0][1]}, from: pipes[1][0], done: make(chan struct{})}
	m.ctx, m.kill = context.WithCancelCause(ctx)
	cmd := exec.CommandContext(m.ctx, program, c.arguments(image)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes[0][0], pipes[1][1], &m.stderr
	cmd.ExtraFiles = []*os.File{pipes[2][1], initrd}
	// QEMU gets no signal from the terminal, and dies with this process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}

	m.started = time.Now()
	m.console.at = m.started
	begun := make(chan error)
	go func() {
		defer close(m.done)
		defer pipes[0][1].Close()
		// The kernel sends Pdeathsig at the end of the thread that has started the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		for _, theirs := range []*os.File{pipes[0][0], pipes[1][1], pipes[2][1]} {
			theirs.Close()
		}
		begun <- err
		if err == nil {
			io.Copy(io.MultiWriter(&m.console, c.Console), pipes[2][0])
			cmd.Wait() // how QEMU ends says nothing about the command
		}
		pipes[2][0].Close()
	}()
	if err := <-begun; err != nil {
		m.stop()
		return nil, fmt.Errorf("guest: %w", err)
	}
	m.waited = func() time.Duration { return waited(cmd.Process.Pid) }
	return m, nil
}

// waited is how long a process's threads have been ready to run while the host's processors had others to run; 0 where the host does not say.
func waited(pid int) (d time.Duration) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, task := range tasks {
		var ran, waited time.Duration
		if text, err := os.ReadFile(task); err == nil { // else it has ended
			fmt.Sscan(string(text), &ran, &waited)
		}
		d += waited
	}
	return d
}

func (m *machine) stop() {
	m.kill(nil)
	<-m.done
	m.from.Close()
}

// initrd returns a file without a name.
func (c *Config) initrd(k *kernel) *os.File {
	self, err := os.Executable()
	try.Wrap(err, "guest")
	a := initramfs.New()
	// The kernel and Go's runtime open these before init mounts /dev.
	a.Device("/dev/console", 5, 1)
	a.Device("/dev/null", 1, 3)
	text, err := json.Marshal(c.plan(k, a))
	try.Wrap(err, "guest")
	a.Text(planFile, string(text))
	try.OK(a.Copy(self, self))
	a.Symlink("/init", self)

	f, err := os.CreateTemp("", "lmmc-guest-")
	try.Wrap(err, "guest")
	err = os.Remove(f.Name())
	if err == nil {
		_, err = a.WriteTo(f)
	}
	if err != nil {
		try.OK(err, f.Close())
	}
	return f
}

// arguments of QEMU to boot an image, for which file descriptor 3 is the console and 4 the initrd.
func (c *Config) arguments(image string) []string {
	accel, cpu, clock, watch := c.Accel, "max", []string(nil), ""
	if accel == "tcg" {
		cpu = "Nehalem,+rdrand" // TCG takes a sixth longer for what newer processors have; rdrand starts the random numbers
	}
	switch {
	case c.Steady:
		clock = []string{"-icount", "shift=0,sleep=off"} // 1 ns each
	case accel == "tcg":
		accel += ",thread=multi"
		fallthrough
	default: // a processor may stand still for long on a busy machine, and reports of that slow it further
		watch = "nosoftlockup rcupdate.rcu_cpu_stall_suppress=1"
	}
	return append(clock,
		"-machine", "pc", "-accel", accel, "-cpu", cpu, "-smp", strconv.Itoa(c.CPUs), "-m", strconv.Itoa(c.Memory),
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-add-fd", "fd=3,set=1", "-chardev", "file,id=console,path=/dev/fdset/1,append=on", "-serial", "chardev:console",
		"-chardev", "stdio,id=wire,signal=off", "-serial", "chardev:wire",
		"-kernel", image, "-initrd", "/proc/self/fd/4",
		"-append", strings.Join([]string{
			"console=ttyS0",
			"panic=-1",       // ends QEMU, which runs with -no-reboot
			"no_timer_check", // the check panics when the machine is so busy that QEMU serves no timer meanwhile
			"mitigations=off", "random.trust_cpu=on",
			"tsc=reliable", // which it is in QEMU; the clock that the kernel takes otherwise, HPET, is slow to read under TCG
			initVariable + "=1", watch,
		}, " "),
	)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
	at   time.Time // of the last write, or of its beginning
}

const tailBytes = 64 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = time.Now()
	t.text = append(t.text, p...)
	if over := len(t.text) - tailBytes; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// written is when something was written last.
func (t *tail) written() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at
}

// last returns the last n lines, or more: a kernel's panic whole.
func (t *tail) last(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(t.text), "\r", "")), "\n")
	from := max(0, len(lines)-n)
	if panicked := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "Kernel panic") }); panicked >= 0 {
		from = min(from, panicked)
	}
	return strings.Join(lines[from:], "\n")
}
