package replay

import (
	"maps"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// initial returns what the receive buffer of the recorded NI held in the beginning, where the host has read it: as writes of the host
// that give another NI the same content. What nobody has read does not matter.
//
// A byte that reads as a remote write of before would have put it there is left alone: so a target that loses the write is found.
func (c *script) initial() (writes []linkproto.Packet) {
	content, settled := shadow{}, shadow{}
	written := map[uint32][]*linkproto.Packet{} // the remote writes so far, by the largest page there can be
	given := map[linkproto.Reg]bool{}           // the frames that some link may write, by register
	for i := range c.steps {
		s := &c.steps[i]
		switch p := &s.packet; {
		case p.Type == linkproto.TypeWrite && p.Via > 0:
			if c.page == 0 || given[linkproto.FrameReg(int(p.Addr)/c.page)] {
				written[p.Addr/linkproto.MaxPageBytes] = append(written[p.Addr/linkproto.MaxPageBytes], p)
			}
		case s.answer == nil:
		case p.Type == linkproto.TypeRegWrite && p.Reg >= linkproto.RegFrameTable:
			given[p.Reg] = linkproto.FrameValid.Of(p.Value) != 0
		case p.Type == linkproto.TypeBufWrite:
			for i := range p.Data {
				settled.set(p.Addr+uint32(i), 0)
			}
		case s.answer.packet.Type == linkproto.TypeBufData:
			for i, b := range s.answer.packet.Data {
				addr := p.Addr + uint32(i)
				if _, known := settled.get(addr); known {
					continue
				}
				settled.set(addr, 0)
				if !puts(written[addr/linkproto.MaxPageBytes], addr, b) {
					content.set(addr, b)
				}
			}
		}
	}
	for _, block := range slices.Sorted(maps.Keys(content)) {
		writes = append(writes, runs(block*256, content[block])...)
	}
	return writes
}

// puts reports whether one of the writes puts a byte there.
func puts(writes []*linkproto.Packet, addr uint32, b byte) bool {
	return slices.ContainsFunc(writes, func(p *linkproto.Packet) bool {
		offset := addr - p.Addr
		return offset < uint32(len(p.Data)) && p.Data[offset] == b
	})
}

// runs makes writes of the known bytes of a block, none across the end of a page of any size.
func runs(addr uint32, block *[256]uint16) (writes []linkproto.Packet) {
	for i := 0; i < len(block); i++ {
		if block[i] < isKnown {
			continue
		}
		at := addr + uint32(i)
		if n := len(writes); n == 0 || writes[n-1].Addr+uint32(len(writes[n-1].Data)) != at || at%linkproto.MinPageBytes == 0 {
			writes = append(writes, linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: at})
		}
		last := &writes[len(writes)-1]
		last.Data = append(last.Data, byte(block[i]))
	}
	return writes
}
