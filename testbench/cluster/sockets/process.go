package sockets

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/try"
)

// ErrNamespace says that a host of TCP cannot have a network namespace.
var ErrNamespace = errors.New("the kernel's TCP takes a network namespace and an interface for each host: CAP_SYS_ADMIN and CAP_NET_ADMIN, as root has them")

// process is a host that runs.
type process struct {
	command *exec.Cmd
	orders  io.WriteCloser
	answers *json.Decoder
	killed  bool
}

// start starts a host: lmmc, with HostCommand, on one processor. For TCP it has a network namespace of its own.
func start(lmmc, target string, peer uint16, ways []Way) (*process, error) {
	c := exec.Command(lmmc, HostCommand, target, fmt.Sprint(peer))
	for _, way := range ways {
		c.Args = append(c.Args, string(way))
	}
	netns := slices.Contains(ways, TCP)
	if netns {
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	}
	p := &process{command: c}
	err := try.Run(func() {
		p.orders = try.Get(c.StdinPipe())
		p.answers = json.NewDecoder(try.Get(c.StdoutPipe()))
		c.Stderr = os.Stderr
		c.Env = append(os.Environ(), "GOMAXPROCS=1") // on more, what threads cost that wake each other changes from run to run
		try.OK(c.Start())
	})
	if netns && errors.Is(err, syscall.EPERM) {
		err = fmt.Errorf("%w: %w", ErrNamespace, err)
	}
	return p, err
}

// do has the host carry out an order.
func (p *process) do(o order, a *answer) error {
	err := json.NewEncoder(p.orders).Encode(o)
	if err == nil {
		err = p.answers.Decode(a)
	}
	switch {
	case err != nil:
		err = fmt.Errorf("a host ended: %w", err)
	case a.Error != "":
		err = errors.New(a.Error)
	default:
		return nil
	}
	return fmt.Errorf("%s, %d times %d bytes by %s: %w", o.Do, o.Count, o.Size, o.Way, err)
}

// end ends the host.
func (p *process) end() error {
	err := errors.Join(p.orders.Close(), p.command.Wait())
	if p.killed {
		return nil
	}
	return err
}

// kill ends the host where nothing else does.
func (p *process) kill() {
	p.killed = true
	p.command.Process.Kill()
}

// calls is how many system calls both hosts make for each write of a stream, or 0 where they are not counted.
func (b *bench) calls(way Way, size, writes int) float64 {
	path, err := exec.LookPath("strace")
	if err != nil || !b.o.Calls {
		return 0
	}
	args := []string{"-f", "-c", "-U", "calls,name"}
	for _, h := range b.hosts {
		args = append(args, "-p", strconv.Itoa(h.command.Process.Pid))
	}
	c := exec.Command(path, args...)
	out := try.Get(c.StderrPipe())
	try.OK(c.Start())
	lines := bufio.NewScanner(out)
	for attached := 0; attached < len(b.hosts) && lines.Scan(); {
		if strings.Contains(lines.Text(), "attached") {
			attached++
		}
	}
	b.both(order{"send", way, size, writes}, order{"receive", way, size, writes})
	try.OK(c.Process.Signal(os.Interrupt))
	total := 0
	for lines.Scan() {
		if m := callsLine.FindStringSubmatch(lines.Text()); m != nil {
			total = try.Get(strconv.Atoi(m[1]))
		}
	}
	_ = c.Wait() // by the signal
	return float64(total) / float64(writes)
}

var callsLine = regexp.MustCompile(`^ *(\d+) +total`)

// meter is a simulation that counts the CPU time that it takes itself, by some of its turns: asking for it costs as much as a turn does.
type meter struct {
	lockstep.Simulation
	on   atomic.Bool // it counts
	rng  *rand.Rand
	skip int          // turns until one is measured
	used atomic.Int64 // ns
}

// sampled is of how many turns one is measured, on average.
const sampled = 4

func (m *meter) wrap(s lockstep.Simulation) lockstep.Simulation {
	m.Simulation = s
	return m
}

func (m *meter) time() time.Duration { return time.Duration(m.used.Load()) }

// Turn runs a turn.
func (m *meter) Turn(n int, lines []lockstep.Line) (int, error) {
	if !m.on.Load() {
		return m.Simulation.Turn(n, lines)
	}
	if m.skip > 0 {
		m.skip--
		return m.Simulation.Turn(n, lines)
	}
	m.skip = m.rng.IntN(2*sampled - 1)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var start, end unix.Timespec
	began := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &start)
	passed, err := m.Simulation.Turn(n, lines)
	ended := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &end)
	m.used.Add(sampled * (end.Nano() - start.Nano()))
	return passed, errors.Join(err, began, ended)
}
