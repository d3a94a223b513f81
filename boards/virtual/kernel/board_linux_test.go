package kernel_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/boards/virtual/orders"
	"github.com/stafflink/lmmc/boards/virtual/vhci"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	_ "github.com/stafflink/lmmc/testbench/modelsim"
)

// roleVariable makes this program, started again by a test, the board. See vhci.Plug for why the board is another process.
const roleVariable = "LMMC_KERNEL_TEST"

// fpga is the target in the FPGA until an image is loaded: the model, since a guest runs ten times slower than the machine.
const fpga = "model:?links=2&frames=8"

// Orders to the process.
const (
	orderPlug   = "plug"
	orderUnplug = "unplug"
	orderCut    = "lose power when the flash is next written"
)

// serveBoard runs the board's process until its input ends.
func serveBoard(in io.Reader, out io.Writer) error {
	target, err := hostdrv.Dial(context.Background(), fpga)
	if err != nil {
		return err
	}
	b, err := virtual.New(virtual.Config{Kind: "hx8k", Serial: "V1", FPGA: target, Design: virtual.RTL, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		return errors.Join(err, target.Close())
	}
	cut, err := virtual.ParseFault("power@write")
	if err != nil {
		return errors.Join(err, target.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- b.Run(ctx) }()
	var carried <-chan error
	err = orders.Serve(in, out, func(order string) (_ string, err error) {
		switch order {
		case orderPlug:
			b.Device().Plug()
			_, carried, err = vhci.Plug(ctx, vhci.Sysfs, b.Device())
		case orderUnplug:
			b.Device().Unplug()
			err = <-carried
		case orderCut:
			go b.InjectFaults(ctx, []virtual.Fault{cut}) // ends with ctx
		}
		return "", err
	})
	cancel()
	return errors.Join(err, <-ran)
}

// board is a board attached to the kernel.
type board struct {
	t       *testing.T
	process *orders.Process
	ports   int // free ports of the virtual host controller without it
}

// pluggedIn attaches a board until the test ends.
func pluggedIn(t *testing.T) *board {
	t.Helper()
	b := &board{t: t, ports: free(t)}
	var err error
	if b.process, err = orders.Start(roleVariable + "=board"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.unplug()
		if err := b.process.Close(); err != nil {
			t.Errorf("the board: %v", err)
		}
	})
	b.plug()
	return b
}

func (b *board) order(what string) {
	b.t.Helper()
	check.Must(b.process.Do(what))(b.t)
}

// plug waits until the kernel has created the board's serial ports.
func (b *board) plug() {
	b.t.Helper()
	b.order(orderPlug)
	until(b.t, "both serial ports are there", func() bool { return ports() == 2 })
}

// unplug waits until the kernel has removed the board.
func (b *board) unplug() {
	b.t.Helper()
	b.order(orderUnplug)
	b.unplugged()
}

func (b *board) unplugged() {
	b.t.Helper()
	until(b.t, "the port is free", func() bool { return ports() == 0 && free(b.t) == b.ports })
}

// free returns the number of free ports of the virtual host controller.
func free(t *testing.T) int {
	t.Helper()
	return len(check.Must(vhci.Free(vhci.Sysfs))(t))
}
