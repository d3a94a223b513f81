package host

import (
	"bytes"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// takeAway takes a frame away while a peer writes it: of the write a beginning is carried out, which a NOTIFY covers, and nothing behind the DONE.
// It returns how many bytes were, of n.
func takeAway(s *harness.Harness) (done, n int) {
	page := s.Params.PageBytes
	frame := s.Rand.IntN(s.Params.Frames - 1)
	n = s.Rand.Between(page/2, page)
	first := s.Rand.IntN(page - n + 1)
	image := s.Node.Image[frame*page:][:page]
	data := bytes.Clone(image[first:][:n])
	for i := range data {
		data[i] ^= byte(s.Rand.Between(1, 255))
	}
	try.OK(s.WriteRegister(0, linkproto.RegControl, linkproto.ControlNotify.In(1)))
	covered, noted := make([]bool, page), false
	s.Node.Host.Received = func(p linkproto.Packet) {
		if p.Type != linkproto.TypeNotify || int(p.Frame) != frame {
			try.Failf("the host gets %v of frame %d, and frame %d is written", p.Type, p.Frame, frame)
		}
		noted = true
		for i := p.First; i <= p.Last; i++ {
			covered[i] = true
		}
	}
	t := s.QuietTally(1)
	try.OK(s.Peer(1).Link.Send(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(frame*page + first), Data: data})))
	s.Suite.Stats.Packets++
	try.OK(s.Run(s.Rand.IntN(5*n/2)), s.WriteRegister(0, linkproto.FrameReg(frame), 0))
	pieces := map[int][]byte{}
	for range 3 {
		at := first + s.Rand.IntN(n-8)
		pieces[at] = read(s, frame*page+at, 8)
	}
	try.OK(s.Until(100_000, "the write to be acknowledged", func() bool { return s.Peer(1).Link.Queued() == 0 }), s.Run(2*s.Params.RxBytes))
	have := read(s, frame*page, page)
	for done < n && have[first+done] == data[done] {
		done++
	}
	want := bytes.Clone(image)
	copy(want[first:], data[:done])
	if !bytes.Equal(have, want) {
		try.Failf("frame %d was taken away in a write of %d bytes at %d: %d of them are there, and then something else", frame, n, first, done)
	}
	for at, piece := range pieces {
		if !bytes.Equal(piece, have[at:][:8]) {
			try.Failf("frame %d was taken away, then its bytes %d on read % x, and later % x", frame, at, piece, have[at:][:8])
		}
	}
	for i := range done {
		if !covered[first+i] {
			try.Failf("frame %d: no NOTIFY of byte %d, which was written before the frame was taken away, the last being %d", frame, first+i, first+done-1)
		}
	}
	if noted && done == 0 {
		try.Failf("frame %d: NOTIFY, and nothing of it was written", frame)
	}
	if t.Want[linkproto.CntDenied] = 1; done == n {
		t.Want[linkproto.CntDenied] = 0
	}
	t.Want[linkproto.CntRxPackets] = 1
	try.OK(t.Check())
	copy(image, have)
	s.Node.Host.Received = nil
	try.OK(s.Traffic.GrantFrames(0))
	return done, n
}

// read reads bytes of the receive buffer.
func read(s *harness.Harness, addr, n int) []byte {
	a := try.Get(s.Ask(0, linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(addr), Count: uint16(n)}))
	if len(a.Data) != n {
		try.Failf("a read of %d bytes at %#x is answered %v with %d bytes", n, addr, a.Status, len(a.Data))
	}
	return a.Data
}
