package modelsim_test

import (
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	_ "github.com/stafflink/lmmc/testbench/modelsim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTarget(t *testing.T) {
	const target = "model:?links=2&frames=8&page=128&replay=512&rx=2048"
	n := check.Must(hostdrv.Open(t.Context(), target, hostdrv.Options{}))(t)
	if id := n.Identity(); id.Links != 2 || id.Frames != 8 || id.PageBytes != 128 || id.ReplayBytes != 512 || id.RxBytes != 2048 {
		t.Errorf("%+v", id)
	}
	check.Error(t, n.Close())
	if n, err := hostdrv.Open(t.Context(), target, hostdrv.Options{Hash: 1}); !errors.Is(err, hostdrv.ErrIdentity) {
		t.Errorf("an NI of other sources: %v", err)
		if err == nil {
			n.Close()
		}
	}
	for _, bad := range []string{"model", "model:board", "model://host", "model:?links", "model:?links=0", "model:?links=1&links=2", "model:?colour=1", "model:?page=100", "model:?links=8", "model:?%"} {
		check.Fails(t, bad, check.Err(hostdrv.Dial(t.Context(), bad)), hostdrv.ErrTarget)
	}
}
