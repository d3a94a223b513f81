package serialtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// Pty makes a pseudo-terminal until the test ends: the board has the file, the driver the path.
func Pty(t testing.TB) (*os.File, string) {
	t.Helper()
	fd := check.Must(unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0))(t)
	check.Fatal(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number := check.Must(unix.IoctlGetInt(fd, unix.TIOCGPTN))(t)
	master := os.NewFile(uintptr(fd), "ptmx")
	t.Cleanup(func() { master.Close() })
	path := fmt.Sprintf("/dev/pts/%d", number)
	slave := check.Must(os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0))(t) // while it is open the board sees no end
	t.Cleanup(func() { slave.Close() })
	return master, path
}

// board is the RTL behind its UART pins, its links cabled to each other.
type board struct {
	model *verilator.Model
	net   *verilator.Network
	line  *ni.UARTLine
}

const (
	divisor = 4   // clocks a bit
	queued  = 512 // bytes that wait before the board at most, so that who writes faster waits, as at a serial port
)

func newBoard(t testing.TB) *board {
	t.Helper()
	p := rtl.Params{Links: 2, Frames: 4, PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024, HostPHY: rtl.UART, HostDivisor: divisor}.WithDefaults()
	lib := check.Must(verilator.Build(t.Context(), ni.Design(p)))(t)
	m := check.Must(lib.New(verilator.Config{Seed: 1}))(t)
	b := &board{model: m}
	var pins struct {
		Rst *bool `port:"rst"`
	}
	clock := check.Must(m.Clock("clk", 2, 0))(t)
	check.Fatal(t, errors.Join(m.Bind(&pins), ni.Quiet(m, p)))
	rx, tx := p.Lines(0)
	b.line = check.Must(ni.NewUARTLine(m, clock, rx, tx, divisor))(t)
	b.net = check.Must(verilator.NewNetwork(1, m))(t)
	for _, way := range [][2]int{{1, 2}, {2, 1}} {
		_, out := p.Lines(way[0])
		in, _ := p.Lines(way[1])
		idle := uint64(linkproto.SymIdle)
		check.Must(verilator.Connect(verilator.LinkConfig{From: clock, Output: out, To: clock, Input: in, Latency: 1, Idle: idle}))(t)
	}
	*pins.Rst = true
	check.Fatal(t, b.net.Run(64))
	*pins.Rst = false
	return b
}

func (b *board) close() error { return errors.Join(b.net.Close(), b.model.Close()) }

// run carries bytes between the pins and a pseudo-terminal until that is closed.
func (b *board) run(pty *os.File) error {
	arrived := make(chan []byte)
	var reader sync.WaitGroup
	defer reader.Wait()
	reader.Go(func() {
		defer close(arrived)
		for {
			buf := make([]byte, 256)
			n, err := pty.Read(buf)
			if err != nil {
				return
			}
			arrived <- buf[:n]
		}
	})
	defer func() { // the reader may have something that nobody takes any more
		pty.Close()
		for range arrived {
		}
	}()
	out := make([]byte, 1<<12)
	for quiet := 0; ; {
		var in []byte
		open := true
		switch {
		case quiet > 8*linkproto.DefaultWordTimer: // symbol times: as good as still
			in, open = <-arrived
		case b.line.Pending() < queued:
			select {
			case in, open = <-arrived:
			default:
			}
		}
		if !open {
			return nil
		}
		if _, err := b.line.Write(in); err != nil {
			return err
		}
		const symbols = 16
		b.line.Advance(symbols * 10 * divisor)
		if err := b.net.Run(symbols * 10 * divisor); err != nil {
			return err
		}
		n, err := b.line.Read(out)
		if err != nil {
			return err
		}
		if _, err := pty.Write(out[:n]); err != nil {
			return nil // the other end has gone
		}
		if quiet += symbols; len(in)+n+b.line.Pending() > 0 {
			quiet = 0
		}
	}
}

// Plug puts a board with two links, 4 frames of 256 bytes on a pseudo-terminal until the test ends, and returns that, to be closed when the board
// is to vanish, and its target. It simulates some 20,000 bytes a second.
func Plug(t testing.TB) (*os.File, string) {
	t.Helper()
	s := NewSocket(t)
	s.Plug()
	return s.master, "serial:" + s.slave + "?baud=115200"
}

// Socket is for a board as Plug has it, which is plugged in and pulled out, and has its power from elsewhere. Each time it is on another
// pseudo-terminal.
type Socket struct {
	t      testing.TB
	board  *board
	link   string // to the pseudo-terminal, while the board is plugged in
	master *os.File
	slave  string
	ended  chan error // nil while it is not
}

// NewSocket makes a socket, without the board in it, until the test ends.
func NewSocket(t testing.TB) *Socket {
	t.Helper()
	s := &Socket{t: t, board: newBoard(t), link: filepath.Join(t.TempDir(), "tty")}
	t.Cleanup(func() {
		s.Unplug()
		check.Error(t, s.board.close())
	})
	return s
}

// Target is the board's while it is plugged in.
func (s *Socket) Target() string { return "serial:" + s.link + "?baud=115200" }

// Plug plugs the board in.
func (s *Socket) Plug() {
	s.t.Helper()
	s.master, s.slave = Pty(s.t)
	master, ended := s.master, make(chan error, 1)
	s.ended = ended
	go func() { ended <- s.board.run(master) }()
	check.Fatal(s.t, os.Symlink(s.slave, s.link))
}

// Unplug pulls it out, if it is plugged in.
func (s *Socket) Unplug() {
	s.t.Helper()
	if s.ended == nil {
		return
	}
	err := os.Remove(s.link)
	s.master.Close() // may be closed already
	check.Error(s.t, errors.Join(err, <-s.ended))
	s.ended = nil
}
