package hostdrv_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// TestRoomBySize fills the replay buffer of a link that nobody is at the other end of: a packet is taken when it fits, to the last byte.
func TestRoomBySize(t *testing.T) { onEach(t, roomBySize) }

func roomBySize(t *testing.T, open func(*testing.T, plan) *network) {
	const overhead = 7 // of a WRITE
	n := drive(t, open(t, plan{nis: 1}), 0, &drivertest.Cable{})
	write := func(size int) error {
		limit, cancel := n.WithTimeout(t.Context(), 50*time.Microsecond)
		defer cancel()
		return n.Write(limit, 1, 0, make([]byte, size-overhead))
	}
	for _, size := range []int{120, 120, 120, 120, 25} {
		check.Fatal(t, write(size))
	}
	check.Fails(t, "a write one byte too long", write(small.ReplayBytes-505+1), context.DeadlineExceeded)
	counters := check.Must(n.Counters(t.Context(), 1))(t)
	check.Equal(t, "packets refused", counters[linkproto.CntNoSpace], 0)
	n = drive(t, open(t, plan{nis: 1}), 0, &drivertest.Cable{})
	for _, size := range []int{120, 120, 120, 120, 25, overhead} {
		check.Fatal(t, write(size))
	}
	check.Fails(t, "a write into a full buffer", write(overhead), context.DeadlineExceeded)
	counters = check.Must(n.Counters(t.Context(), 1))(t)
	check.Equal(t, "packets refused", counters[linkproto.CntNoSpace], 0)
}

// TestWriteInParts writes pages by an NI whose replay buffer holds hardly one: in parts of which it holds three, so that the link need not wait.
func TestWriteInParts(t *testing.T) {
	for _, c := range []struct {
		target  string
		packets uint32
	}{{"model:?page=256&replay=512&rx=2048", 4}, {"model:?page=256&replay=1024&rx=2048", 2}} {
		n := check.Must(hostdrv.Open(t.Context(), c.target, hostdrv.Options{}))(t)
		defer n.Close()
		for frame := range 2 {
			check.Fatal(t, n.SetFrame(t.Context(), frame, hostdrv.FrameEntry{Link: 1}))
		}
		data := bytes.Repeat([]byte("0123456789"), 40) // of the first page the last 200 bytes
		check.Fatal(t, n.Write(t.Context(), 1, 56, data))
		check.Fatal(t, n.Sync(t.Context(), 1))
		have := make([]byte, len(data))
		check.Fatal(t, n.ReadBuffer(t.Context(), have, 56))
		counters := check.Must(n.Counters(t.Context(), 1))(t)
		if !bytes.Equal(have, data) || counters[linkproto.CntTxPackets] != c.packets {
			t.Errorf("%s: %d packets, want %d; right %v", c.target, counters[linkproto.CntTxPackets], c.packets, bytes.Equal(have, data))
		}
	}
}
