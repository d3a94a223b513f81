package net_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// netLocal is module net_local, between a host and a router.
type netLocal struct {
	SValid, SLast, Cancel, HasRoom, Takes, Refused, Admit, Queued, Gap *bool   `port:"*"`
	MValid, MReady, MLast, MVoid                                       *bool   `port:"*"`
	Size, FreedBytes                                                   *uint16 `port:"*"`
	FreedPackets                                                       *uint8  `port:"*"`

	t       *testing.T
	b       *testbench.Bench
	r       *testbench.Rand
	in, out *moduletest.Beats
	slow    float64 // of the router
	have    []byte
	queue   [][]byte // whole ones that have not come out
	bytes   int      // of those, and of what has come out
	packets int
	freed   int // bytes that have come out
	came    int
	voided  int
	quiet   int // clocks since a packet has come out
}

// step lets a clock pass.
func (n *netLocal) step() {
	*n.MReady = !n.r.Chance(n.slow)
	check.Fatal(n.t, n.b.Model().Eval())
	if *n.MVoid {
		if *n.MValid {
			n.t.Fatal("a packet is taken back, and goes on")
		}
		n.have = nil
		n.voided++
	}
	last := 0
	if *n.MValid && *n.MReady {
		n.have = append(n.have, n.out.Get()...)
		if *n.MLast {
			if len(n.queue) == 0 || !bytes.Equal(n.have, n.queue[0]) {
				n.t.Fatalf("the router gets % x, want the first of % x", n.have, n.queue)
			}
			last = len(n.have)
			n.queue, n.have = n.queue[1:], nil
		}
	}
	n.b.Step(1)
	n.quiet++
	if last > 0 {
		n.freed += last
		n.came++
		n.quiet = 0
	}
	if *n.FreedBytes != uint16(n.freed) || *n.FreedPackets != uint8(n.came) {
		n.t.Fatalf("%d bytes in %d packets are freed, want %d in %d", *n.FreedBytes, *n.FreedPackets, uint16(n.freed), uint8(n.came))
	}
}

// send sends a packet, or so many beats of it, which are then taken back.
func (n *netLocal) send(packet []byte, beats int) {
	whole := beats == 0
	for rest := packet; len(rest) > 0; {
		size := n.in.Put(rest)
		*n.SValid, *n.SLast = !n.r.Chance(0.2), size == len(rest)
		took := *n.SValid
		if took && *n.SLast { // it may come out at once
			n.queue = append(n.queue, packet)
		}
		n.step()
		*n.SValid = false
		if !took {
			continue
		}
		rest = rest[size:]
		if beats--; beats == 0 {
			*n.Cancel = true
			n.step()
			*n.Cancel = false
			break
		}
	}
	if whole {
		n.bytes += len(packet)
		n.packets++
	}
	for range 4 { // what is said of room is late
		n.step()
	}
}

func openLocal(t *testing.T, width, replay int) *netLocal {
	n := &netLocal{t: t}
	n.b = moduletest.Open(t, "net_local", params{"REPLAY_BYTES": replay, "MAX_PACKET": linkproto.MaxRoute(64), "WIDTH": width}, n)
	n.r, n.in, n.out = n.b.Rand("packets"), moduletest.NewBeats(t, n.b, "s", width), moduletest.NewBeats(t, n.b, "m", width)
	return n
}

// TestLocal: what this node sends comes out whole and in order, whatever is taken back, and its account is exact; room is said of as much as there is,
// by bytes and by packets, and a refusal closes the queue until the host has seen it.
func TestLocal(t *testing.T) {
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		const replay, longest = 4096, linkproto.RouteExtra + 64 + linkproto.PacketExtra
		n := openLocal(t, width, replay)
		var filled, windows, refusals int
		for serial := range 3000 {
			if serial%100 == 0 {
				n.slow = testbench.Pick(n.r, 0, 0.7, 0.99)
			}
			least := linkproto.RouteExtra + linkproto.HeaderBytes
			size := n.r.Between(least, longest)
			if serial%1000 > 700 {
				n.slow, size = 1, least // as many as the queue takes
			}
			*n.Size = uint16(size - 1)
			n.step()
			n.step()
			held, packets := n.bytes-n.freed, n.packets-n.came
			if !*n.MValid || n.quiet >= 2 { // else one may just be taken, or what is freed is not said yet
				if *n.Takes != (held+size <= replay && packets < 128) || *n.HasRoom != (held+longest <= replay && packets < 128) {
					t.Fatalf("with %d bytes in %d packets it takes one of %d: %v, and has room: %v", held, packets, size, *n.Takes, *n.HasRoom)
				}
			}
			if *n.Queued != (packets > 0) && n.slow == 1 {
				t.Fatalf("with %d packets it says QUEUED: %v", packets, *n.Queued)
			}
			if !*n.Takes {
				if packets == 128 {
					windows++
				}
				filled++
				n.slow = 0
				for range 60 {
					n.step()
				}
				continue
			}
			packet := n.r.Bytes(size)
			beats := (len(packet) + width - 1) / width
			if n.r.Chance(0.1) {
				n.send(packet, n.r.Between(1, beats-1))
				continue
			}
			n.send(packet, 0)
			if n.r.Chance(0.02) {
				*n.Refused = true
				n.step()
				*n.Refused = false
				n.step()
				if !*n.Gap || *n.HasRoom || *n.Takes {
					t.Fatalf("after a refusal: LOST %v, room %v, takes %v", *n.Gap, *n.HasRoom, *n.Takes)
				}
				*n.Admit = true
				n.step()
				*n.Admit = false
				for range 3 {
					n.step()
				}
				if *n.Gap {
					t.Fatal("LOST stays")
				}
				refusals++
			}
		}
		n.slow = 0
		for range 3000 {
			n.step()
		}
		check.Equal(t, "packets that came", n.came, n.packets)
		if n.voided < 20 || filled < 20 || windows < 1 || refusals < 20 {
			t.Errorf("%d packets were taken back, the queue was full %d times, %d times of small packets, %d refusals: too few", n.voided, filled, windows, refusals)
		}
	})
}
