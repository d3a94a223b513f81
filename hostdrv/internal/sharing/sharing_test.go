package sharing_test

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/internal/check"
)

func TestMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := sharing.Message{
			Op:    sharing.Op(rapid.SampledFrom([]int{1, 8, 20, 0x80, 0x85}).Draw(t, "op")),
			Call:  rapid.Uint32().Draw(t, "call"),
			Port:  rapid.Uint32().Draw(t, "port"),
			Value: rapid.Uint64().Draw(t, "value"),
			Data:  rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "data"),
		}
		got, err := sharing.Decode(m.Append(nil))
		if diff := cmp.Diff(m, got); diff != "" || err != nil {
			t.Fatal(err, diff)
		}
	})
	good := sharing.Message{Op: sharing.OpWrite}.Append(nil)
	for _, c := range []struct {
		bytes []byte
		want  string
	}{
		{nil, "of 0 bytes"},
		{good[:16], "of 16 bytes"},
		{append(bytes.Clone(good), make([]byte, sharing.MaxData+1)...), "want 17 to"},
		{append([]byte{0}, good[1:]...), "unknown kind 0"},
		{append([]byte{byte(sharing.OpCancel) + 1}, good[1:]...), "unknown kind 38"},
		{append([]byte{0x87}, good[1:]...), "unknown kind 135"},
	} {
		check.Fails(t, fmt.Sprintf("%d bytes", len(c.bytes)), check.Err(sharing.Decode(c.bytes)), nil, c.want)
	}
	check.Equal(t, "bytes of a message", len((sharing.Message{Op: sharing.OpWrite, Data: make([]byte, 2*sharing.MaxData)}).Append(nil)), sharing.MaxMessage)
}

// TestStateTellsOfChanges reads a page while it changes: what Read calls whole is of one change.
func TestStateTellsOfChanges(t *testing.T) {
	const pageBytes, changes = 100, 20000
	at, size := sharing.Sizes(pageBytes)
	if at < pageBytes || size%4096 != 0 {
		t.Fatalf("state at %d of %d", at, size)
	}
	words := make([]uint64, size/8) // aligned, as pages of memory are
	s := sharing.StateOf(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size), pageBytes)
	page := make([]atomic.Uint32, pageBytes) // what the race detector lets two goroutines use, as two processes do
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := range changes {
			s.Change(func() {
				for j := range page {
					page[j].Store(uint32(i))
				}
			})
		}
	})
	var have [pageBytes]uint32
	for whole := 0; ; {
		version, ok := s.Read(func() {
			for j := range page {
				have[j] = page[j].Load()
			}
		})
		if !ok {
			continue
		}
		for j := range have {
			if have[j] != have[0] || version > 0 && uint64(have[0]) != version/2-1 {
				t.Fatalf("version %d: byte %d is of change %d, byte 0 of %d", version, j, have[j], have[0])
			}
		}
		if whole++; version == 2*changes {
			break
		}
	}
	writer.Wait()
	if s.Out() || s.Ended() {
		t.Error("out or ended")
	}
	s.SetOut(true)
	s.End()
	if !s.Out() || !s.Ended() {
		t.Error("neither out nor ended")
	}
	s.SetOut(false)
	if s.Out() {
		t.Error("still out")
	}
}
