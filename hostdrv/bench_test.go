package hostdrv_test

import (
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/lockstep"
	"github.com/stafflink/lmmc/linkproto"
)

// sponge is an NI that takes every packet and frees it at once: what is left is the cost of the driver, and of a link layer.
type sponge struct {
	*fake
	bytes   uint16
	packets uint8
}

func (s *sponge) take(f *fake, p linkproto.Packet) bool {
	if p.Type != linkproto.TypeWrite {
		return false
	}
	s.bytes += uint16(linkproto.HeaderBytes + 4 + len(p.Data))
	s.packets++
	if s.packets%2 == 0 {
		f.send(linkproto.Packet{Type: linkproto.TypeSpace, Via: p.Via, Bytes: s.bytes, Packets: s.packets})
	}
	return true
}

func BenchmarkWrite64(b *testing.B) {
	s := &sponge{}
	s.fake = newFake(b, s.take)
	s.regs[linkproto.RegPageBytes], s.regs[linkproto.RegReplayBytes] = 1024, 1<<15
	host, err := lockstep.New(s, 1, 4096, 125e6).Sole()
	if err != nil {
		b.Fatal(err)
	}
	n, err := hostdrv.New(b.Context(), host, hostdrv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	data := make([]byte, 64)
	b.ReportAllocs()
	b.SetBytes(64)
	for b.Loop() {
		if err := n.Write(b.Context(), 1, 0, data); err != nil {
			b.Fatal(err)
		}
	}
}
