package hostdrv_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// TestBytes polls a page as plain memory.
func TestBytes(t *testing.T) { onEachShared(t, pageAsMemory) }

func pageAsMemory(t *testing.T, open func(*testing.T, plan) *network) {
	a, b, _ := startPair(t, open, 0, 0)
	ctx := t.Context()
	send, receive := drivertest.Channel(t, a, b, 1, "")
	check.Fatal(t, send.WritePage(ctx, []byte{1}, 9))
	page, err := receive.Bytes()
	if err != nil || len(page) != small.PageBytes || cap(page) != len(page) {
		t.Fatalf("%d bytes, capacity %d, %v", len(page), cap(page), err)
	}
	flag := (*uint32)(unsafe.Pointer(&page[8]))
	for i := range uint32(20) {
		check.Fatal(t, send.StoreUint32(ctx, 8, 1000+i))
		for atomic.LoadUint32(flag) != 1000+i {
			runtime.Gosched()
		}
	}
	fault := func(do func()) (fault any) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() { fault = recover() }()
		do()
		return nil
	}
	if fault(func() { page[0] = 1 }) == nil {
		t.Error("a receive page was written")
	}
	// What is out of its frame stays as it was.
	others := make([]*hostdrv.Window, 2*small.Frames)
	for i := range others {
		others[i], _ = drivertest.Channel(t, a, b, 1, "")
		check.Fatal(t, others[i].WritePage(ctx, bytes.Repeat([]byte{7}, small.PageBytes), 0))
	}
	check.Fatal(t, others[0].Sync(ctx))
	if v := atomic.LoadUint32(flag); v != 1019 || page[0] != 0 {
		t.Errorf("paged out, it holds %d and % x", v, page[:4])
	}
	check.Error(t, errors.Join(receive.Unmap(), receive.Unmap()))
	if fault(func() { _ = page[9] + 1; runtime.KeepAlive(atomic.LoadUint32(flag)) }) == nil {
		t.Error("an unmapped page was read")
	}
	check.Equal(t, "after Unmap", check.Must(receive.LoadUint32(ctx, 8))(t), 1019)
}

// TestSendPageAsMemory writes a page as memory, and flushes it by hand and by itself.
func TestSendPageAsMemory(t *testing.T) { onEachShared(t, sendPageAsMemory) }

func sendPageAsMemory(t *testing.T, open func(*testing.T, plan) *network) {
	a, b, _ := startPair(t, open, 0, 0)
	ctx := t.Context()
	send, receive := drivertest.Channel(t, a, b, 1, "")
	check.Fatal(t, errors.Join(send.Port().SetWritePolicy(hostdrv.Late), send.WritePage(ctx, []byte("before"), 100)))
	page := check.Must(send.Bytes())(t)
	arrives := func(what string) {
		t.Helper()
		shows(t, what, b, 10*time.Millisecond, receive, page)
	}
	rng := rand.New(rand.NewPCG(8, 8))
	for range 20 {
		for range rng.IntN(6) {
			page[rng.IntN(len(page))]++
		}
		check.Fatal(t, errors.Join(send.WritePage(ctx, []byte{byte(rng.Uint32())}, rng.IntN(len(page))), send.Flush(ctx)))
		arrives("by Flush")
	}
	before := check.Must(b.Report(ctx))(t)
	page[3], page[4], page[90] = page[3]+1, page[4]+1, page[90]+1 // two spans
	check.Fatal(t, errors.Join(send.Flush(ctx), send.Sync(ctx)))
	arrives("two spans")
	packets := func(r hostdrv.Report) uint32 { return r.Links[2].Counters[linkproto.CntRxPackets] }
	if after, err := b.Report(ctx); err != nil || packets(after)-packets(before) != 2 {
		t.Errorf("%d packets for two changes, %v", packets(after)-packets(before), err)
	}
	check.Fatal(t, send.Port().FlushEvery(50_000)) // 50 microseconds
	for range 5 {
		page[rng.IntN(len(page))]++
		arrives("by itself")
	}
	if err := errors.Join(send.Port().FlushEvery(0), send.Port().SetWritePolicy(hostdrv.Immediate)); !errors.Is(err, hostdrv.ErrPort) {
		t.Errorf("immediate while it is memory: %v", err)
	}
	page[0] = 77
	check.Fatal(t, errors.Join(send.Unmap(), send.Flush(ctx)))
	check.Error(t, receive.Wait(ctx, func(p []byte) bool { return p[0] == 77 }))
}

// TestFlushEveryEnds ends the flushes that a port does by itself in the middle of one, which is no failure of the port and loses nothing.
func TestFlushEveryEnds(t *testing.T) { onEachShared(t, flushEveryEnds) }

func flushEveryEnds(t *testing.T, open func(*testing.T, plan) *network) {
	a, b, _ := startPair(t, open, 0, 0)
	ctx := t.Context()
	send, receive := drivertest.Channel(t, a, b, 1, "")
	check.Fatal(t, send.Port().SetWritePolicy(hostdrv.Late))
	for i := range uint32(200) {
		check.Fatal(t, errors.Join(send.Port().FlushEvery(1), send.StoreUint32(ctx, 4, i)))
		for range i % 8 {
			check.Fatal(t, send.StoreUint32(ctx, 8, i))
			runtime.Gosched()
		}
		if err := errors.Join(send.Port().FlushEvery(0), send.Flush(ctx)); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		if err := receive.Wait(ctx, func(page []byte) bool { return binary.LittleEndian.Uint32(page[4:]) == i }); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
	}
}
