package serial_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/serial"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
	"github.com/stafflink/lmmc/testbench/serialtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBoardBehindUART(t *testing.T) {
	_, target := serialtest.Plug(t)
	ctx := t.Context()
	for range 2 { // one program after the other
		n := check.Must(hostdrv.Open(ctx, target, hostdrv.Options{}))(t)
		check.Fails(t, "opened twice", check.Err(hostdrv.Open(ctx, target, hostdrv.Options{})), serial.ErrBusy)
		node := check.Must(hostdrv.Start(ctx, n, hostdrv.NodeOptions{}))(t)
		w, _ := drivertest.Channel(t, node, node, 1, "")
		want := bytes.Repeat([]byte{0xDB, 0x1C, 'x'}, 80) // escapes among it
		check.Fatal(t, errors.Join(w.WritePage(ctx, want, 5), w.Sync(ctx)))
		frame := node.Tables().Ports[1].Frame
		have := make([]byte, len(want))
		for !bytes.Equal(have, want) {
			check.Fatal(t, n.ReadBuffer(ctx, have, frame*256+5))
		}
		check.Error(t, n.Close())
	}
}

// TestUnplugged takes the board away while calls wait for it.
func TestUnplugged(t *testing.T) {
	master, target := serialtest.Plug(t)
	n := check.Must(hostdrv.Open(t.Context(), target, hostdrv.Options{}))(t)
	defer n.Close()
	drivertest.Unplugged(t, n, func() { master.Close() })
}

// TestPluggedInAgain pulls the board out while a program writes, and plugs it in again, on another terminal by the same name. All but what is
// reported as lost must be there.
func TestPluggedInAgain(t *testing.T) {
	board := serialtest.NewSocket(t)
	board.Plug()
	ctx := t.Context()
	n := check.Must(hostdrv.Open(ctx, board.Target(), hostdrv.Options{Reopen: time.Hour}))(t)
	defer n.Close()
	check.Fatal(t, n.SetFrame(ctx, 0, hostdrv.FrameEntry{Link: 2}))
	const writes = 96
	wrote := make(chan int) // the writer is one write ahead
	var lost uint64
	var writer sync.WaitGroup
	writer.Go(func() {
		defer close(wrote)
		for i := range writes {
			err := n.Write(ctx, 1, i, []byte{byte(1 + i)})
			if err == nil {
				_, err = n.ReadRegister(ctx, linkproto.RegScratch)
			}
			if err != nil {
				t.Error(err)
				return
			}
			wrote <- i
		}
		err := n.Sync(ctx, 1)
		if loss, lossy := errors.AsType[*hostdrv.LossError](err); lossy {
			lost, err = loss.Lost, nil
		}
		check.Error(t, err)
	})
	for i := range wrote {
		if i == writes/3 || i == writes*2/3 {
			board.Unplug()
			board.Plug()
		}
	}
	writer.Wait()
	page := make([]byte, writes)
	check.Fatal(t, n.ReadBuffer(ctx, page, 0))
	missing := uint64(0)
	for i, v := range page {
		if v != byte(1+i) {
			missing++
		}
	}
	check.Equal(t, "writes that are missing, and those reported", missing, lost)
	if restarts := n.CableCounters()[linkproto.CntRestarts]; restarts < 2 {
		t.Errorf("the link started again %d times, want at least 2", restarts)
	}
}

// TestStuckPort closes a port that takes no more bytes.
func TestStuckPort(t *testing.T) {
	_, path := serialtest.Pty(t)
	drivertest.Stuck(t, check.Must(hostdrv.Dial(t.Context(), "serial:"+path+"?baud=12000000"))(t))
}

func TestErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	check.Fatal(t, os.WriteFile(file, nil, 0o600))
	_, silent := serialtest.Pty(t)
	for target, want := range map[string]error{
		"serial:":                           hostdrv.ErrTarget,
		"serial:/dev/ttyUSB99?speed=9600":   hostdrv.ErrTarget,
		"serial:/dev/ttyUSB99?baud=300":     hostdrv.ErrTarget,
		"serial:/dev/ttyUSB99":              serial.ErrNoDevice,
		"serial:" + file:                    serial.ErrNoDevice,
		"serial:" + silent + "?baud=115200": hostdrv.ErrSilent,
	} {
		check.Fails(t, target, check.Err(hostdrv.Open(t.Context(), target, hostdrv.Options{LinkTimeout: 1000})), want)
	}
}
