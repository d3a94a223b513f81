package engine

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// oneRegister is the end of a host's cable at an NI with one register besides its counter. It answers late.
type oneRegister struct {
	link    *flowctl.Endpoint
	lives   uint32 // of the link
	count   uint32 // packets
	value   uint32
	wrote   []uint32
	answers []linkproto.Packet
}

func (ni *oneRegister) take() {
	if lives := ni.link.Counter(linkproto.CntRestarts); lives != ni.lives {
		ni.lives, ni.answers = lives, nil
		ni.link.Lost()
	}
	for {
		raw, ok := ni.link.Receive()
		if !ok {
			return
		}
		ni.count++
		var p linkproto.Packet
		if err := p.Decode(raw); err != nil {
			panic(err)
		}
		a := linkproto.Packet{Type: linkproto.TypeDone, Tag: p.Tag}
		switch {
		case p.Type == linkproto.TypeRegWrite:
			ni.value, ni.wrote = p.Value, append(ni.wrote, p.Value)
		case p.Reg == countReg:
			a.Type, a.Reg, a.Value = linkproto.TypeRegData, p.Reg, ni.count
		default:
			a.Type, a.Reg, a.Value = linkproto.TypeRegData, p.Reg, ni.value
		}
		ni.answers = append(ni.answers, a)
	}
}

func (ni *oneRegister) answer() {
	for _, a := range ni.answers {
		raw, err := a.Append(nil)
		if err = errors.Join(err, ni.link.Send(raw)); err != nil {
			panic(err)
		}
	}
	ni.answers = nil
}

// TestOrderBehindCuts: writes of a register are carried out once each and in their order, and a read returns what was written last before it, however often the host's cable is cut. Only a
// write that ends with a RestartError may have been carried out before a read that was asked for earlier.
func TestOrderBehindCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const turn = 256 // ticks
		c := check.Must(New(Config{Epoch: 1, LinkTimeout: 1 << 30}))(t)
		ni := &oneRegister{link: check.Must(flowctl.New(flowctl.Config{MaxPacket: linkproto.MaxPacket(linkproto.MaxPageBytes), Epoch: 9}))(t)}
		to, from := make([]linkproto.Symbol, turn), make([]linkproto.Symbol, turn)
		run := func(turns int, toNI, fromNI, answers bool) {
			for range turns {
				out := to[:c.Emit(to)]
				if !toNI {
					out = nil
				}
				ni.link.Feed(out)
				ni.link.Tick(turn)
				if ni.take(); answers {
					ni.answer()
				}
				in := from[:ni.link.Emit(from)]
				if !fromNI {
					in = nil
				}
				c.Advance(in, turn)
			}
		}
		const scratch = linkproto.RegScratch
		calls, unknown := uint32(0), map[uint32]bool{} // writes that may have been carried out
		submit := func() {
			calls++
			number := calls
			if rapid.Bool().Draw(t, "writes") {
				c.Request(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: scratch, Value: number}, func(_ linkproto.Packet, err error) {
					_, unknown[number] = errors.AsType[*RestartError](err)
				})
				return
			}
			c.Request(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: scratch}, func(a linkproto.Packet, err error) {
				if err == nil && a.Value > number && !unknown[a.Value] {
					t.Errorf("read %d returns what write %d wrote", number, a.Value)
				}
			})
		}
		for range rapid.IntRange(1, 4).Draw(t, "cuts") {
			run(20, true, true, true)
			for range rapid.IntRange(1, 4).Draw(t, "parts") {
				for range rapid.IntRange(0, 20).Draw(t, "calls") {
					submit()
				}
				run(rapid.IntRange(0, 4).Draw(t, "turns"), true, rapid.Bool().Draw(t, "acknowledges"), rapid.Bool().Draw(t, "answers"))
			}
			run(2*linkproto.DefaultRetry*linkproto.DefaultRetryLimit/turn, rapid.Bool().Draw(t, "to the NI"), false, true)
		}
		run(1000, true, true, true)
		if errors.Is(c.err, ErrUncertain) {
			return
		}
		check.Fatal(t, c.err)
		if !c.Settled() {
			t.Error("some are not answered")
		}
		if !slices.IsSorted(ni.wrote) || len(slices.Compact(ni.wrote)) != len(ni.wrote) {
			t.Errorf("writes in this order: %v", ni.wrote)
		}
	})
}
