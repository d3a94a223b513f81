package rtlsim_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/rtlsim"
	"github.com/stafflink/lmmc/verilator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTarget(t *testing.T) {
	const target = "rtl:?links=2&frames=8&page=128&replay=512&rx=512&latency=3&seed=5"
	n := check.Must(hostdrv.Open(t.Context(), target, hostdrv.Options{Hash: rtl.Hash()}))(t)
	if id := n.Identity(); id.Links != 2 || id.Frames != 8 || id.PageBytes != 128 || id.ReplayBytes != 512 || id.RxBytes != 512 {
		t.Errorf("%+v", id)
	}
	check.Error(t, n.Close())
	if n, err := hostdrv.Open(t.Context(), target, hostdrv.Options{Hash: rtl.Hash() + 1}); !errors.Is(err, hostdrv.ErrIdentity) {
		t.Errorf("an NI of other sources: %v", err)
		if err == nil {
			n.Close()
		}
	}
	for _, bad := range []string{"rtl", "rtl:board", "rtl://host", "rtl:?links", "rtl:?links=0", "rtl:?links=1&links=2", "rtl:?colour=1", "rtl:?uart=3", "rtl:?uart=65536", "rtl:?%"} {
		check.Fails(t, bad, check.Err(hostdrv.Dial(t.Context(), bad)), hostdrv.ErrTarget)
	}
}

// TestUART goes by the pins of a UART, whose time is that of bytes: an escaped byte takes two.
func TestUART(t *testing.T) {
	n, err := hostdrv.Open(t.Context(), "rtl:?frames=1&page=1024&replay=2048&rx=2048&uart=5", hostdrv.Options{Hash: rtl.Hash(), Seed: 1})
	check.Fatal(t, err)
	defer n.Close()
	var took [2]time.Duration
	for i, b := range []byte{1, linkproto.ESC} {
		page, have := bytes.Repeat([]byte{b}, 1024), make([]byte, 1024)
		start := n.Now()
		check.Fatal(t, n.WriteBuffer(t.Context(), page, 0))
		took[i] = n.Now() - start
		if err := n.ReadBuffer(t.Context(), have, 0); err != nil || !bytes.Equal(have, page) {
			t.Errorf("%d: %v, % x", i, err, have)
		}
	}
	const byteTime = 5 * 10 * time.Second / rtlsim.Rate
	if more := (took[1] - took[0]) / byteTime; took[0] < 1024*byteTime || more < 960 || more > 1088 { // a turn of 32 either way
		t.Errorf("a page of plain bytes took %v, one of escapes %d byte times more", took[0], more)
	}
	if c := n.CableCounters(); c[linkproto.CntReplays]+c[linkproto.CntRxCRC]+c[linkproto.CntBadWord] != 0 {
		t.Errorf("the cable is not clean: %v", c)
	}
}

// TestWave dumps the last clocks of a target, and nothing of one that has not recorded.
func TestWave(t *testing.T) {
	for target, want := range map[string]error{"rtl:?frames=1&page=64": verilator.ErrNotBuilt, "rtl:?frames=1&page=64&record=100": nil} {
		to := check.Must(hostdrv.Dial(t.Context(), target))(t)
		n := check.Must(hostdrv.New(t.Context(), to, hostdrv.Options{}))(t)
		path := filepath.Join(t.TempDir(), "last.fst")
		if err := to.(rtlsim.Target).DumpWave(path); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", target, err, want)
		}
		if wave, err := os.Stat(path); (err == nil) != (want == nil) || err == nil && wave.Size() < 1000 {
			t.Errorf("%s: %v", target, err)
		}
		check.Error(t, n.Close())
	}
}
