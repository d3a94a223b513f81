package golden

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/model"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// A model at the other end of the RTL's cable is a network interface like any other: their hosts write into each other's receive buffers,
// over a cable with bit errors, and nothing is lost.
func TestModelIsAPeerOfTheRTL(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the network interface")
	}
	rng := testbench.NewRand(testbench.TestSeed(t))
	f := check.Must(ni.Open(t.Context(), ni.Config{Nodes: 1, Peers: []ni.Socket{{Link: 1}}, Seed: rng.Uint64()}))(t)
	defer f.Close()
	m := check.Must(model.New(model.Config{}))(t)
	far := check.Must(ni.JoinPort(m.Port(0), ni.EndConfig(f.Params, 0, rng)))(t)
	cable := f.Peers[ni.Socket{Link: 1}]
	cable.Far = oneLane{m.Port(1)}
	flip := func(line []linkproto.Symbol) []linkproto.Symbol {
		for i := range line {
			if rng.Chance(5e-3) {
				line[i] ^= 1 << rng.IntN(9)
			}
		}
		return line
	}
	cable.Mangle, cable.Swallow = flip, flip

	var pages [][]byte // that the model's host has read
	run := func(clocks int) {
		t.Helper()
		for range clocks / look {
			check.Fatal(t, f.Run(look))
			check.Fatal(t, ni.Exchange(instantly{t.Context()}, look, far))
			for raw, ok := far.Link.Receive(); ok; raw, ok = far.Link.Receive() {
				var p linkproto.Packet
				check.Fatal(t, p.Decode(raw))
				if p.Type == linkproto.TypeBufData {
					pages = append(pages, bytes.Clone(p.Data))
				}
			}
		}
	}
	send := func(p linkproto.Packet) {
		t.Helper()
		for far.Link.Send(stimulus.Encode(p)) != nil {
			run(1000)
		}
	}
	run(10_000)
	send(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RegNonce, Value: ni.Nonce(rng)})
	check.Fatal(t, f.WriteRegister(0, linkproto.FrameReg(1), 1<<31|1))
	send(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.FrameReg(2), Value: 1<<31 | 1})
	page := f.Params.PageBytes
	toModel, toRTL := rng.Bytes(page), rng.Bytes(page)
	check.Fatal(t, f.FillBuffer(0, make([]byte, f.Params.BufferBytes())))
	run(1000)
	for at := 0; at < page; at += 64 {
		for f.Nodes[0].Host.Write(1, uint32(2*page+at), toModel[at:at+64]) != nil {
			run(1000)
		}
		send(linkproto.Packet{Type: linkproto.TypeWrite, Via: 1, Addr: uint32(page + at), Data: toRTL[at : at+64]})
		run(500) // the model's host keeps within what SPACE allows
	}
	run(200_000)
	send(linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(2 * page), Count: uint16(page)})
	run(20_000)
	if len(pages) != 1 || !bytes.Equal(pages[0], toModel) {
		t.Errorf("the model's page is not what the RTL's host wrote")
	}
	have := check.Must(f.ReadBuffer(0))(t)
	if !bytes.Equal(have[page:2*page], toRTL) {
		t.Errorf("the RTL's page is not what the model's host wrote")
	}
	counts := check.Must(f.Counters(0, 1))(t)
	if counts[linkproto.CntRxPackets] != uint32(page/64) || counts[linkproto.CntLostPackets] != 0 {
		t.Errorf("counters of the link: %v", counts)
	}
	if counts[linkproto.CntRxCRC] == 0 || counts[linkproto.CntReplays] == 0 {
		t.Errorf("the cable has damaged nothing: %v", counts)
	}
}

// The counters after a violation at the host port do not depend on when it is asked for them.
func TestQuestionsBehindLost(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the network interface")
	}
	p := stimulus.Draw(0, 1, 1)
	f := check.Must(ni.Open(t.Context(), FabricConfig(p.Params, 1)))(t)
	defer f.Close()
	pl := NewPlayer(NewRTL(f), p)
	pl.round, pl.out = &p.Rounds[0], newTranscript(0, stimulus.Plain)
	check.Fatal(t, try.Run(pl.begin))
	rng := testbench.NewRand(1)
	for range 200 {
		wait := 2*p.Params.MaxPacket() + 500 + rng.IntN(p.Params.AckDelay)                                               // as in a round
		pl.cables[0].insert = stimulus.Rules[0].Draw(rng, stimulus.Site{Params: p.Params}).Symbols(pl.cables[0].state()) // a frame of any length
		check.Fatal(t, try.Run(func() {
			pl.wait(wait)
			pl.behindLost()
			pl.readCounters()
		}))
		if n := pl.Ports[0].Link.Counter(linkproto.CntReplays); n != 0 {
			t.Fatalf("questions asked %d clocks behind a damaged frame went out %d times more", wait, n)
		}
	}
}

// oneLane is a port of a model as the end of a cable.
type oneLane struct{ model.Port }

func (l oneLane) Emit(_ int, dst []linkproto.Symbol) int { return l.Port.Emit(dst) }
func (l oneLane) Feed(_ int, in []linkproto.Symbol)      { l.Port.Feed(in) }
