package ni_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Every request is answered by exactly one packet, which says what the registers and the buffer held, byte for byte, under any back-pressure
// and while the buffer is being written.
func TestReply(t *testing.T) {
	for _, per := range []int{4, 8} {
		t.Run(fmt.Sprint("words of ", per), func(t *testing.T) { testReply(t, per) })
	}
}

func testReply(t *testing.T, per int) {
	var p struct {
		ReqValid, ReqDone, ReqTurn         *bool   `port:"*"`
		ReqType, ReqTag, ReqStatus, ReqVia *uint8  `port:"*"`
		ReqFields                          *uint64 `port:"*"`

		Trapped, Resume, Retrap *uint8 `port:"*"`

		RegEn, RegWrite, RegDone, RegOk *bool   `port:"*"`
		RegAddr                         *uint16 `port:"*"`
		RegWdata                        *uint32 `port:"*"`

		MemEn, MemNext, MemLast, MemClash *bool  `port:"*"`
		LastLane                          *uint8 `port:"*"`

		M offer `port:"*"`
	}
	const size, page, links = 2048, 512, 3
	b := moduletest.Open(t, "ni_reply", params{"PAGE_BYTES": page, "LINKS": links, "WORD": per}, &p)
	rng := b.Rand("requests")
	memory := rng.Bytes(size)
	registers := map[uint16]uint32{}
	exists := func(r uint16) bool { return r%3 != 0 }
	words := map[int][][]byte{} // what each aligned word held while the present request stood
	word := func(i int) []byte { return bytes.Clone(memory[per*i : per*(i+1)]) }

	for n := range 4000 {
		kind := testbench.Pick(rng, linkproto.TypeRegRead, linkproto.TypeRegWrite, linkproto.TypeBufRead, linkproto.TypeBufWrite, linkproto.TypeResume,
			linkproto.TypeRetrap, linkproto.Type(rng.IntN(32)))
		status, tag, ready := linkproto.StatusOK, uint8(rng.Uint32()), testbench.Pick(rng, 1, 0.5, 0.1)
		known := kind >= linkproto.TypeRegRead && kind <= linkproto.TypeRetrap
		if rng.Chance(0.2) || !known {
			status = linkproto.Status(1 + rng.IntN(6))
		}
		fields := rng.Bytes(6)
		addr, count, writes := 0, 0, 0.0
		if kind == linkproto.TypeBufRead {
			count = testbench.Pick(rng, 0, 1, 1+rng.IntN(9), rng.IntN(300), page)
			addr = page*rng.IntN(size/page) + testbench.Pick(rng, rng.IntN(page-max(count, 1)+1), page-max(count, 1))
			binary.LittleEndian.PutUint32(fields, uint32(addr))
			binary.LittleEndian.PutUint16(fields[4:], uint16(count))
			writes = testbench.Pick(rng, 0, 0.1, 0.5)
		}
		reg, value := binary.LittleEndian.Uint16(fields), binary.LittleEndian.Uint32(fields[2:])
		clear(words)
		for w := addr / per; w <= (addr+max(count, 1)-1)/per; w++ {
			words[w] = [][]byte{word(w)}
		}

		*p.ReqType, *p.ReqTag, *p.ReqStatus = uint8(kind), tag, uint8(status)
		*p.ReqFields = uint64(value)<<16 | uint64(reg)
		read, last := addr/per, (addr+count-1)/per
		*p.MemLast, *p.LastLane = read == last, uint8((addr+count-1)%per)
		via, trapped := uint8(rng.IntN(8)), uint8(rng.IntN(1<<links))
		aboutTrap := kind == linkproto.TypeResume || kind == linkproto.TypeRetrap
		if aboutTrap && status == linkproto.StatusOK {
			via = uint8(1 + rng.IntN(links))
		}
		*p.ReqVia, *p.Trapped = via, trapped
		b.Step(1)
		*p.ReqValid = true
		was := trapped
		resumed, retold := 0, 0
		var answer []byte
		accesses := 0
		for clocks := 0; *p.ReqValid || answer == nil; clocks++ {
			if clocks > 40*(count+60) {
				t.Fatalf("request %d, %v, hangs after % x", n, kind, p.M.packet)
			}
			*p.RegDone, *p.M.Ready = false, rng.Chance(ready)
			settle(t, b)
			if *p.RegEn {
				if *p.RegAddr != reg || *p.RegWrite != (kind == linkproto.TypeRegWrite) || *p.RegWrite && *p.RegWdata != value {
					t.Fatalf("request %d: register %#x write %v %#x, want %#x %v %#x", n, *p.RegAddr, *p.RegWrite, *p.RegWdata, reg, kind, value)
				}
				*p.RegDone, *p.RegOk = rng.Chance(0.3), exists(reg)
				if *p.RegDone {
					accesses++
				}
			}
			settle(t, b)
			if whole := p.M.clock(t, "request ", n, ": "); whole != nil {
				answer = whole
			}
			if *p.Resume != 0 {
				if *p.Resume != 1<<via>>1 {
					t.Fatalf("request %d: RESUME of link %d ends the traps %03b", n, via, *p.Resume)
				}
				trapped &^= *p.Resume
				resumed++
			}
			if *p.Retrap != 0 {
				if *p.Retrap != 1<<via>>1 {
					t.Fatalf("request %d: RETRAP of link %d tells the traps %03b", n, via, *p.Retrap)
				}
				retold++
			}
			if *p.ReqDone && !*p.ReqValid {
				t.Fatalf("request %d is done twice", n)
			}
			if (*p.M.Valid && *p.M.Last) != (*p.ReqDone || !*p.ReqValid && *p.M.Valid) {
				t.Fatalf("request %d: last byte %v, done %v", n, *p.M.Last, *p.ReqDone)
			}
			if *p.RegDone && *p.RegOk && *p.RegWrite {
				registers[reg] = value
			}
			// The memory, and a link that writes to it.
			written := -1
			enabled, moves, turns, loads, done := *p.MemEn, *p.MemNext, *p.ReqTurn, *p.RegDone, *p.ReqDone
			if rng.Chance(writes) {
				written = (addr + rng.IntN(count+1)) / per
				if rng.Bool() {
					written = read
				}
				written = min(written, size/per-1)
				memory[per*written+rng.IntN(per)] = byte(rng.Uint32())
			}
			var data []byte
			if enabled {
				data = word(read)
			}
			b.Step(1)
			*p.Trapped = trapped
			if turns {
				*p.ReqFields = *p.ReqFields>>8 | *p.ReqFields<<40&(1<<48-1)
			}
			if loads {
				*p.ReqFields = *p.ReqFields&0xFFFF | uint64(registers[reg])<<16
			}
			*p.MemClash = enabled && written == read
			if enabled {
				if *p.MemClash {
					data = rng.Bytes(per)
				}
				check.Fatal(t, b.Model().Poke("mem_data", binary.LittleEndian.Uint64(append(data, 0, 0, 0, 0))))
			}
			if moves {
				read = (read + 1) % (size / per)
				*p.MemLast = read == last
			}
			if written >= 0 {
				words[written] = append(words[written], word(written))
			}
			if done {
				*p.ReqValid = false
			}
		}
		for range rng.IntN(3) {
			*p.M.Ready = true
			b.Step(1)
			if *p.M.Valid {
				t.Fatalf("request %d: more than one answer", n)
			}
		}

		var have linkproto.Packet
		if err := have.Decode(answer); err != nil {
			t.Fatalf("request %d, %v: % x: %v", n, kind, answer, err)
		}
		want := linkproto.Packet{Type: linkproto.TypeDone, Via: via, Tag: tag, Status: status}
		wantAccesses, wantResumed, wantRetold := 0, 0, 0
		if status == linkproto.StatusOK {
			switch kind {
			case linkproto.TypeRegRead, linkproto.TypeRegWrite:
				wantAccesses = 1
				if !exists(reg) {
					want.Status = linkproto.StatusBadAddress
				} else if kind == linkproto.TypeRegRead {
					want = linkproto.Packet{Type: linkproto.TypeRegData, Tag: tag, Reg: linkproto.Reg(reg), Value: registers[reg]}
				}
			case linkproto.TypeBufRead:
				want = linkproto.Packet{Type: linkproto.TypeBufData, Tag: tag, Addr: uint32(addr)}
			case linkproto.TypeResume, linkproto.TypeRetrap:
				switch {
				case was<<1>>via&1 == 0:
					want.Status = linkproto.StatusNotTrapped
				case kind == linkproto.TypeResume:
					wantResumed = 1
				default:
					wantRetold = 1
				}
			}
		}
		if resumed != wantResumed || retold != wantRetold {
			t.Fatalf("request %d, %v via %d, trapped %03b, status %v: %d traps ended, %d told again", n, kind, via, was, status, resumed, retold)
		}
		if accesses != wantAccesses {
			t.Fatalf("request %d, %v: %d register accesses", n, kind, accesses)
		}
		if want.Type == linkproto.TypeBufData {
			if len(have.Data) != count {
				t.Fatalf("request %d: %d bytes, want %d", n, len(have.Data), count)
			}
			atomic(t, n, addr, have.Data, per, words)
		}
		have.Data = nil
		if have.Type != want.Type || have.Via != want.Via || have.Tag != want.Tag || have.Status != want.Status || have.Addr != want.Addr || have.Reg != want.Reg || have.Value != want.Value {
			t.Fatalf("request %d, %v: answer %+v, want %+v", n, kind, have, want)
		}
	}
}

// atomic checks that the bytes of each aligned word are those of one value that the word had.
func atomic(t *testing.T, n, addr int, data []byte, per int, words map[int][][]byte) {
	t.Helper()
	for len(data) > 0 {
		lane := addr % per
		part := min(per-lane, len(data))
		found := false
		for _, v := range words[addr/per] {
			found = found || bytes.Equal(v[lane:lane+part], data[:part])
		}
		if !found {
			t.Fatalf("request %d: bytes at %#x read as % x, the word was % x", n, addr, data[:part], words[addr/per])
		}
		addr, data = addr+part, data[part:]
	}
}
