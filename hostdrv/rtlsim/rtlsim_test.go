package rtlsim_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/rtl"
)

func TestLoop(t *testing.T) {
	ctx := t.Context()
	n, err := hostdrv.Open(ctx, "rtl:?links=2&frames=8&page=256", hostdrv.Options{Hash: rtl.Hash(), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	t.Logf("%+v", n.Identity())
	if err := n.SetFrame(ctx, 3, hostdrv.FrameEntry{Link: 2}); err != nil {
		t.Fatal(err)
	}
	want := bytes.Repeat([]byte("abc"), 80)
	if err := n.Write(ctx, 1, 3*256+5, want); err != nil {
		t.Fatal(err)
	}
	if err := n.Sync(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := n.LinkStatus(ctx, 2); err != nil {
		t.Fatal(err)
	}
	have := make([]byte, len(want))
	if err := n.ReadBuffer(ctx, have, 3*256+5); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("read %q", have)
	}
	t.Log(n.Now())
}
