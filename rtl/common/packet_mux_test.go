package common_test

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// Packets come out whole, each source's in order; a source that keeps offering waits for at most one packet of each other one.
func TestPacketMux(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		for _, ready := range []float64{1, 0.4} {
			t.Run(fmt.Sprint(n, " sources, ready ", ready), func(t *testing.T) {
				b := testbench.New(t, verilator.Design{Top: "packet_mux", FS: rtl.FS, IncludeDirs: rtl.IncludeDirs,
					Sources: []string{"common/packet_mux.v", "common/arbiter_rr.v", "common/skid_buffer.v"}, Params: map[string]string{"N": strconv.Itoa(n)}}, testbench.Config{})
				var p struct {
					Rst    *bool  `port:"rst"`
					SValid *uint8 `port:"s_valid"`
					SReady *uint8 `port:"s_ready"`
					SLast  *uint8 `port:"s_last"`
					MValid *bool  `port:"m_valid"`
					MReady *bool  `port:"m_ready"`
					MData  *uint8 `port:"m_data"`
					MLast  *bool  `port:"m_last"`
				}
				b.Bind(&p)
				b.Reset("rst", 3)
				rng := b.Rand("traffic")
				dense := 1.0
				type source struct {
					packet  []byte // what is left of the one on offer
					sent    [][]byte
					waiting int // packets of others that passed while this one waited without a break
				}
				sources := make([]source, n)
				var coming []byte
				taken, inside := 0, 0 // inside: bytes between the sources and the output
				for now := range 20000 {
					if now%1000 == 0 {
						dense = testbench.Pick(rng, 1, 0.5, 0.05)
					}
					var data uint64
					for i := range sources {
						s := &sources[i]
						if len(s.packet) == 0 && rng.Chance(dense) {
							s.packet = append([]byte{byte(i)}, rng.Bytes(rng.IntN(7))...)
							s.sent = append(s.sent, s.packet)
						}
						bit := uint8(1) << i
						if *p.SValid&bit == 0 && len(s.packet) > 0 && rng.Chance(max(dense, 0.3)) {
							*p.SValid |= bit
						}
						*p.SLast &^= bit
						if *p.SValid&bit != 0 {
							data |= uint64(s.packet[0]) << (8 * i)
							if len(s.packet) == 1 {
								*p.SLast |= bit
							}
						} else if rng.Bool() {
							*p.SLast |= bit // means nothing without valid
						}
					}
					check.Fatal(t, b.Model().Poke("s_data", data))
					*p.MReady = rng.Chance(ready)
					check.Fatal(t, b.Model().Eval())
					moved := *p.SValid & *p.SReady
					if moved&(moved-1) != 0 || *p.MValid != (inside > 0) {
						t.Fatalf("cycle %d: sources %b move, output valid %v with %d bytes inside", b.Cycle(), moved, *p.MValid, inside)
					}
					ended := moved&*p.SLast != 0
					if moved != 0 {
						inside++
					}
					if *p.MValid && *p.MReady {
						inside--
						coming = append(coming, *p.MData)
						if *p.MLast {
							i := int(coming[0])
							if i >= n || len(sources[i].sent) == 0 || !bytes.Equal(coming, sources[i].sent[0]) {
								t.Fatalf("cycle %d: packet % x", b.Cycle(), coming)
							}
							sources[i].sent = sources[i].sent[1:]
							coming = nil
							taken++
						}
					}
					b.Step(1)
					for i := range sources {
						s, bit := &sources[i], uint8(1)<<i
						if moved&bit != 0 {
							s.packet, s.waiting = s.packet[1:], 0
							*p.SValid &^= bit
						} else if *p.SValid&bit == 0 {
							s.waiting = 0
						} else if ended {
							if s.waiting++; s.waiting > n-1 {
								t.Fatalf("cycle %d: source %d waits for %d packets of others", b.Cycle(), i, s.waiting)
							}
						}
					}
				}
				if taken < 1000 {
					t.Errorf("only %d packets", taken)
				}
			})
		}
	}
}
