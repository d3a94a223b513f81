package hostdrv_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// TestPagesAfterReadsSentAgain cuts the host's cable at many moments of a program that pages much, on a node that is cabled to itself. What the
// driver had asked of a frame is asked again then, and the frame may hold another port's page meanwhile: no page may get bytes of another.
func TestPagesAfterReadsSentAgain(t *testing.T) {
	for seed := range uint64(100) {
		ctx := t.Context()
		rng := rand.New(rand.NewPCG(seed, 23))
		cut := &cable{}
		n := drive(t, models(t, loop), 0, cut)
		node := check.Must(hostdrv.Start(ctx, n, hostdrv.NodeOptions{Seed: 1}))(t)
		var send, receive [12]*hostdrv.Window
		var want [len(send)][]byte
		for i := range send {
			send[i], receive[i] = channel(t, node, node, 1+i%2, "")
			want[i] = make([]byte, small.PageBytes)
		}
		write := func(i, off, size int) {
			err := send[i].WritePage(ctx, want[i][off:off+size], off)
			for isLoss(err) { // of anything that was written before
				err = send[i].WritePage(ctx, want[i], 0)
			}
			check.Fatal(t, err)
		}
		cut.cutAfter(rng.IntN(15_000), 2*linkproto.DefaultRetry*linkproto.DefaultRetryLimit, false, true)
		for range 150 {
			i, off := rng.IntN(len(send)), rng.IntN(small.PageBytes)
			size := 1 + rng.IntN(small.PageBytes-off)
			for j := range size {
				want[i][off+j] = byte(rng.Uint32())
			}
			write(i, off, size)
		}
		for i := range send {
			for lostBy(t, send[i].Sync(ctx)) > 0 {
				write(i, 0, small.PageBytes)
			}
		}
		for i, r := range receive {
			shows(t, fmt.Sprintf("seed %d, port %d", seed, i), node, 5*time.Millisecond, r, want[i])
		}
		if n.CableCounters()[linkproto.CntRestarts] == 0 {
			t.Errorf("seed %d: the cable's link did not start again", seed)
		}
		check.Error(t, node.Close())
	}
}
