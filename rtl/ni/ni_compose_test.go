package ni_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Packets come out whole, each behind its header and each source's in order; a source that keeps offering waits for at most one packet of each
// other one.
func TestCompose(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		for _, ready := range []float64{1, 0.4} {
			t.Run(fmt.Sprint(n, " sources, ready ", ready), func(t *testing.T) { compose(t, n, 0, ready) })
		}
		t.Run(fmt.Sprint(n, " sources, spaced"), func(t *testing.T) { compose(t, n, 1, 0.7) })
	}
}

func compose(t *testing.T, n, spaced int, ready float64) {
	var p struct {
		SValid, SReady, SLast, MData *uint8 `port:"*"`
		MValid, MReady, MLast        *bool  `port:"*"`
	}
	b := moduletest.Open(t, "ni_compose", params{"N": n, "SPACED": spaced}, &p)
	rng := b.Rand("traffic")
	dense := 1.0
	type source struct {
		head    []byte // of the packet on offer, until it has moved
		packet  []byte // what is left of the packet on offer, behind its head
		sent    [][]byte
		waiting int // packets of others that passed while this one waited without a break
	}
	sources := make([]source, n)
	var coming []byte
	taken, owed := 0, 0 // owed: packets that have gone in and not come out
	for now := range 30000 {
		if now%1000 == 0 {
			dense = testbench.Pick(rng, 1, 0.5, 0.05)
		}
		for i := range sources {
			s, bit := &sources[i], uint8(1)<<i
			if len(s.packet) == 0 && rng.Chance(dense) {
				s.packet = rng.Bytes(1 + rng.IntN(7))
				s.head = binary.LittleEndian.AppendUint16([]byte{byte(i) | byte(rng.IntN(32)<<3)}, uint16(rng.Uint32()))
				s.sent = append(s.sent, append(bytes.Clone(s.head), s.packet...))
			}
			if *p.SValid&bit == 0 && len(s.packet) > 0 && rng.Chance(max(dense, 0.3)) {
				*p.SValid |= bit
			}
			head, data, last := rng.Bytes(3), byte(rng.Uint32()), rng.Bool() // mean nothing but in their turn
			if *p.SValid&bit != 0 && s.head != nil {
				head = s.head
			} else if *p.SValid&bit != 0 {
				data, last = s.packet[0], len(s.packet) == 1
			}
			*p.SLast &^= bit
			if last {
				*p.SLast |= bit
			}
			set(t, b, "s_kind", 8, i, uint64(head[0]))
			set(t, b, "s_length", 16, i, uint64(binary.LittleEndian.Uint16(head[1:])))
			set(t, b, "s_data", 8, i, uint64(data))
		}
		*p.MReady = rng.Chance(ready)
		settle(t, b)
		moved := *p.SValid & *p.SReady
		if moved&(moved-1) != 0 {
			t.Fatalf("cycle %d: sources %b move", b.Cycle(), moved)
		}
		ended := false
		for i := range sources {
			s, bit := &sources[i], uint8(1)<<i
			switch {
			case moved&bit == 0:
				continue
			case s.head != nil:
				s.head = nil
			default:
				s.packet = s.packet[1:]
				ended = len(s.packet) == 0
			}
			s.waiting = 0
		}
		if *p.MValid && *p.MReady {
			coming = append(coming, *p.MData)
			if *p.MLast {
				i := int(coming[0] & 7)
				if i >= n || len(sources[i].sent) == 0 || !bytes.Equal(coming, sources[i].sent[0]) {
					t.Fatalf("cycle %d: packet % x", b.Cycle(), coming)
				}
				sources[i].sent = sources[i].sent[1:]
				coming = nil
				taken++
				owed--
			}
		}
		if ended {
			owed++
		}
		if owed < 0 || owed > 2 {
			t.Fatalf("cycle %d: %d packets have gone in and not come out", b.Cycle(), owed)
		}
		b.Step(1)
		for i := range sources {
			s, bit := &sources[i], uint8(1)<<i
			switch {
			case moved&bit != 0:
				*p.SValid &^= bit
			case *p.SValid&bit == 0:
				s.waiting = 0
			case ended:
				if s.waiting++; s.waiting > n-1 {
					t.Fatalf("cycle %d: source %d waits for %d packets of others", b.Cycle(), i, s.waiting)
				}
			}
		}
	}
	if taken < 1000 {
		t.Errorf("only %d packets", taken)
	}
}
