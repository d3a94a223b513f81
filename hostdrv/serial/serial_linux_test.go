package serial_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/serial"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pty is a pseudo-terminal: the board has the file, the driver the path.
func pty(t *testing.T) (*os.File, string) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	master := os.NewFile(uintptr(fd), "ptmx")
	t.Cleanup(func() { master.Close() })
	path := fmt.Sprintf("/dev/pts/%d", number)
	slave, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0) // while it is open the board sees no end
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, path
}

// board is the RTL behind its UART pins, its links cabled to each other.
type board struct {
	models []*verilator.Model
	net    *verilator.Network
	line   *ni.UARTLine
	rst    *bool
}

const divisor = 4 // clocks a bit

func newBoard(t *testing.T) *board {
	t.Helper()
	p := ni.Params{Links: 2, Frames: 4, PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024, HostPHY: ni.UART, HostDivisor: divisor}.WithDefaults()
	lib, err := verilator.Build(t.Context(), p.Design())
	if err != nil {
		t.Fatal(err)
	}
	m, err := lib.New(verilator.Config{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	b := &board{models: []*verilator.Model{m}}
	var pins struct {
		Rst *bool `port:"rst"`
	}
	clock, err := m.Clock("clk", 2, 0)
	err = errors.Join(err, m.Bind(&pins), p.Quiet(m))
	if err != nil {
		t.Fatal(err)
	}
	b.rst = pins.Rst
	rx, tx := p.Lines(0)
	if b.line, err = ni.NewUARTLine(m, clock, rx, tx, divisor); err != nil {
		t.Fatal(err)
	}
	if b.net, err = verilator.NewNetwork(1, m); err != nil {
		t.Fatal(err)
	}
	for _, way := range [][2]int{{1, 2}, {2, 1}} {
		_, out := p.Lines(way[0])
		in, _ := p.Lines(way[1])
		if _, err := verilator.Connect(verilator.LinkConfig{From: clock, Output: out, To: clock, Input: in, Latency: 1, Idle: 0x1BC}); err != nil {
			t.Fatal(err)
		}
	}
	*b.rst = true
	if err := b.net.Run(64); err != nil {
		t.Fatal(err)
	}
	*b.rst = false
	return b
}

// run carries bytes between the pins and a pseudo-terminal until that is closed.
func (b *board) run(pty *os.File) (err error) {
	defer func() { err = errors.Join(err, b.net.Close(), b.models[0].Close()) }()
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
		if quiet > 8*4096 { // symbol times: as good as still
			in, open = <-arrived
		} else {
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

// plug puts the board on a pseudo-terminal and returns that and its target.
func plug(t *testing.T) (*os.File, string) {
	t.Helper()
	b := newBoard(t)
	master, path := pty(t)
	ended := make(chan error, 1)
	go func() { ended <- b.run(master) }()
	t.Cleanup(func() {
		master.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return master, "serial:" + path + "?baud=115200"
}

func TestBoardBehindUART(t *testing.T) {
	_, target := plug(t)
	ctx := t.Context()
	for range 2 { // one program after the other
		n, err := hostdrv.Open(ctx, target, hostdrv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hostdrv.Open(ctx, target, hostdrv.Options{}); !errors.Is(err, serial.ErrBusy) {
			t.Errorf("opened twice: %v", err)
		}
		node, err := hostdrv.Start(ctx, n, hostdrv.NodeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if r, err := node.Accept(ctx); err == nil {
				_, _ = r.Accept()
			}
		}()
		p, err := node.CreatePort(1, hostdrv.Send)
		if err == nil {
			err = p.Connect(ctx, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		w, err := p.Map()
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Repeat([]byte{0xDB, 0x1C, 'x'}, 80) // escapes among it
		if err := errors.Join(w.WriteAt(ctx, want, 5), w.Sync(ctx)); err != nil {
			t.Fatal(err)
		}
		frame := node.Tables().Ports[1].Frame
		have := make([]byte, len(want))
		for !bytes.Equal(have, want) {
			if err := n.ReadBuffer(ctx, have, frame*256+5); err != nil {
				t.Fatal(err)
			}
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestUnplugged takes the board away while calls wait for it.
func TestUnplugged(t *testing.T) {
	master, target := plug(t)
	n, err := hostdrv.Open(t.Context(), target, hostdrv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	var users sync.WaitGroup
	for range 3 {
		users.Go(func() {
			for {
				if err := n.ReadBuffer(t.Context(), make([]byte, 1024), 0); err != nil {
					if !errors.Is(err, hostdrv.ErrGone) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	master.Close()
	users.Wait()
}

// TestStuckPort closes a port that takes no more bytes.
func TestStuckPort(t *testing.T) {
	_, path := pty(t)
	n, err := hostdrv.Dial(t.Context(), "serial:"+path+"?baud=12000000")
	if err != nil {
		t.Fatal(err)
	}
	out := make([]linkproto.Symbol, n.Timing().Burst)
	for stuck := 0; stuck < 3; stuck++ { // a terminal holds some thousand bytes
		x := hostdrv.Exchange{Out: out, Wait: 20_000}
		if err := n.Exchange(&x); err != nil {
			t.Fatal(err)
		}
		if x.Taken {
			stuck = 0
		}
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, silent := pty(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for target, want := range map[string]error{
		"serial:":                           hostdrv.ErrTarget,
		"serial:/dev/ttyUSB99?speed=9600":   hostdrv.ErrTarget,
		"serial:/dev/ttyUSB99?baud=300":     hostdrv.ErrTarget,
		"serial:/dev/ttyUSB99":              serial.ErrNoDevice,
		"serial:" + file:                    serial.ErrNoDevice,
		"serial:" + silent + "?baud=115200": hostdrv.ErrSilent,
	} {
		n, err := hostdrv.Open(ctx, target, hostdrv.Options{Patience: 1000})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", target, err, want)
		}
		if err == nil {
			n.Close()
		}
	}
}
