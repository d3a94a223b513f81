package ni_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
)

// Of as many frames as there may be each is granted, written and reported as itself.
func TestManyFrames(t *testing.T) {
	p := rtl.Params{Frames: 256, PageBytes: 64, ReplayBytes: 512, RxBytes: 512}
	w := openWhole(t, p)
	var said []string
	w.Nodes[0].Host.Received = func(p linkproto.Packet) {
		said = append(said, fmt.Sprintf("%v frame %d bytes %d..%d", p.Type, p.Frame, p.First, p.Last))
	}
	w.must(w.WriteRegister(0, linkproto.RegControl, 1<<linkproto.ControlNotify.Lo))
	frames := []int{0, 255}
	for bit := range 8 {
		frames = append(frames, 1<<bit, 255&^(1<<bit))
	}
	slices.Sort(frames)
	for _, f := range slices.Compact(frames) {
		w.must(w.WriteRegister(0, linkproto.FrameReg(f), 1<<31|1))
		data := binary.LittleEndian.AppendUint16([]byte{0xA5}, uint16(f))
		at := f*p.PageBytes + f%32
		write := linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(at), Data: data}
		w.must(w.Until(10_000, "room", func() bool { return w.send(1, write) }))
		copy(w.image[at:], data)
		said = nil
		w.must(w.Until(10_000, fmt.Sprintf("news of frame %d", f), func() bool { return len(said) > 0 }))
		if want := fmt.Sprintf("NOTIFY frame %d bytes %d..%d", f, f%32, f%32+2); len(said) != 1 || said[0] != want {
			t.Errorf("the host heard %q, want %q", said, want)
		}
		w.must(w.WriteRegister(0, linkproto.FrameReg(f), 0))
	}
	w.checkBuffer()
}
