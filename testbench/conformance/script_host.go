package conformance

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// writeBuffer writes noise.
func (s *script) writeBuffer(addr, size int) step {
	data := s.noise(size)
	return step{fmt.Sprintf("write %d bytes of the receive buffer at %#x", size, addr), func(ctx context.Context, s *side) any {
		return s.ni.WriteBuffer(ctx, data, addr)
	}}
}

// place is a part of the frames.
func (s *script) place() (addr, size int) {
	addr = s.spot()
	return addr, s.size(min(3*s.page, s.frames*s.page-addr))
}

func (s *script) setBuffer() (step, bool) { return s.writeBuffer(s.place()), true }

func (s *script) readBuffer() (step, bool) {
	addr, size := s.place()
	switch s.rng.IntN(4) {
	case 0:
		addr, size = 0, s.frames*s.page
	case 1:
		addr, size = addr/s.page*s.page, s.page
	}
	return step{fmt.Sprintf("read %d bytes of the receive buffer at %#x", size, addr), func(ctx context.Context, s *side) any {
		data := make([]byte, size)
		try.OK(s.ni.ReadBuffer(ctx, data, addr))
		return data
	}}, true
}

func (s *script) setFrame(frame, link int) step {
	return step{fmt.Sprintf("let link %d write frame %d", link, frame), func(ctx context.Context, s *side) any {
		return s.ni.SetFrame(ctx, frame, hostdrv.FrameEntry{Link: link})
	}}
}

// setAnyFrame mostly gives a frame to a link that packets come in by.
func (s *script) setAnyFrame() (step, bool) {
	link := s.loops[s.rng.IntN(len(s.loops))].at
	if s.rng.IntN(4) == 0 {
		link = s.rng.IntN(min(s.ids[0].Links, s.ids[1].Links) + 1)
	}
	return s.setFrame(s.rng.IntN(s.frames), link), true
}

func (s *script) readFrames() (step, bool) {
	frames := s.frames
	return step{"read the frame table", func(ctx context.Context, s *side) any {
		var all []string
		for frame := range frames {
			all = append(all, fmt.Sprint(try.Get(s.ni.Frame(ctx, frame)).Link))
		}
		return "links " + strings.Join(all, " ")
	}}, true
}

func readRegister(r linkproto.Reg) (step, bool) {
	return step{fmt.Sprintf("read register %v", r), func(ctx context.Context, s *side) any {
		return fmt.Sprintf("%#x", try.Get(s.ni.ReadRegister(ctx, r)))
	}}, true
}

func writeRegister(r linkproto.Reg, v uint32) (step, bool) {
	return step{fmt.Sprintf("write %#x to register %v", v, r), func(ctx context.Context, s *side) any { return s.ni.WriteRegister(ctx, r, v) }}, true
}

// scratch writes SCRATCH or reads a register that both have with the same value.
func (s *script) scratch() (step, bool) {
	if s.rng.IntN(2) == 0 {
		return writeRegister(linkproto.RegScratch, s.rng.Uint32())
	}
	all := []linkproto.Reg{linkproto.RegScratch, linkproto.RegControl, linkproto.RegMagic, linkproto.RegVersion, linkproto.RegPageBytes}
	return readRegister(all[s.rng.IntN(len(all))])
}

// hole reads or writes a register that neither has.
func (s *script) hole() (step, bool) {
	r := linkproto.Reg(s.rng.Uint32() >> s.rng.IntN(16))
	if mayExist(s.ids[0], r) || mayExist(s.ids[1], r) {
		return step{}, false
	}
	if s.rng.IntN(2) == 0 {
		return readRegister(r)
	}
	return writeRegister(r, s.rng.Uint32())
}

func (s *script) readOnly() (step, bool) {
	return writeRegister(identityRegs[s.rng.IntN(len(identityRegs))], s.rng.Uint32())
}

// readIdentity reads what may differ between the two, and must not change.
func (s *script) readIdentity() (step, bool) {
	return step{"read HASH and FEATURES again", func(ctx context.Context, s *side) any {
		id, values := s.id, s.registers(ctx, linkproto.RegHashHi, linkproto.RegHashLo, linkproto.RegFeatures)
		id.Hash, id.Features = uint64(values[0])<<32|uint64(values[1]), values[2]
		return s.identity(id)
	}}, true
}

// batch has many requests underway together.
func (s *script) batch() (step, bool) {
	type request struct {
		addr  int // in the receive buffer; -1: SCRATCH
		write []byte
		read  []byte
	}
	requests := make([]request, 2+s.rng.IntN(60))
	addr := s.rng.IntN(s.frames*s.page - 32)
	for i := range requests {
		r := &requests[i]
		r.addr = addr + s.rng.IntN(24)
		size := s.rng.IntN(9)
		if s.rng.IntN(2) == 0 {
			r.addr, size = -1, 4
		}
		if s.rng.IntN(2) == 0 {
			r.write = s.noise(size)
		} else {
			r.read = make([]byte, size)
		}
	}
	return step{fmt.Sprintf("%d requests at once, for SCRATCH and the receive buffer at %#x", len(requests), addr), func(ctx context.Context, s *side) any {
		batch := s.ni.Batch()
		values := make([]uint32, len(requests))
		for i, r := range requests {
			switch {
			case r.addr < 0 && r.write != nil:
				batch.WriteRegister(linkproto.RegScratch, binary.LittleEndian.Uint32(r.write))
			case r.addr < 0:
				batch.ReadRegister(linkproto.RegScratch, &values[i])
			case r.write != nil:
				batch.WriteBuffer(r.write, r.addr)
			default:
				batch.ReadBuffer(r.read, r.addr)
			}
		}
		try.OK(batch.Run(ctx))
		var data []byte
		for i, r := range requests {
			if r.read != nil && r.addr < 0 {
				binary.LittleEndian.PutUint32(r.read, values[i])
			}
			data = append(data, r.read...)
		}
		return data
	}}, true
}
