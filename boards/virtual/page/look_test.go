package page_test

import (
	"net"
	"testing"
	"time"

	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
)

// still is an idle network interface with a given status.
type still struct {
	look  hostdrv.StatusProbe
	ended chan struct{}
}

func (s *still) Watch() error               { return nil }
func (s *still) Probe() hostdrv.StatusProbe { return s.look }
func (s *still) Wake()                      {}
func (s *still) Timing() hostdrv.Timing {
	return hostdrv.Timing{TicksPerSecond: 1, Burst: 1, LinkTimeout: 1}
}

func (s *still) Exchange(*hostdrv.Exchange) error {
	<-s.ended
	return net.ErrClosed
}

func (s *still) Close() error {
	select {
	case <-s.ended:
	default:
		close(s.ended)
	}
	return nil
}

// shows runs a board whose FPGA has a given status, until the test ends.
func shows(t *testing.T, kind, serial string, look hostdrv.StatusProbe) *virtual.Board {
	t.Helper()
	b := check.Must(virtual.New(virtual.Config{Kind: kind, Serial: serial, FPGA: &still{look, make(chan struct{})}}))(t)
	check.Background(t, b.Run)
	for b.Status().FPGA == nil { // it has not begun
		time.Sleep(time.Millisecond)
	}
	return b
}
