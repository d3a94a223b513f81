package link_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// lane_end: each lane says its number, and how many there are.
func TestLaneEnd(t *testing.T) {
	m := newTrunk(t, 4, 4, skewed)
	m.offer = 0
	heard := make([]linkproto.Init, 4)
	words := make([]*linkproto.Deframer, 4)
	for k := range words {
		words[k] = linkproto.NewDeframer(maxPacket)
	}
	for range 100 {
		for k := range words {
			s := check.Must(m.b.Model().Peek(fmt.Sprintf("tx_sym[%d:%d]", 9*k+8, 9*k)))(t)
			if ev, _ := words[k].Next([]linkproto.Symbol{linkproto.Symbol(s)}); ev.Kind == linkproto.EventInit {
				heard[k] = ev.Init
			}
		}
		m.clock()
	}
	for k, w := range heard {
		check.Equal(t, "lanes and lane", [2]uint8{w.Lanes, w.Lane}, [2]uint8{4, uint8(k)})
	}
}

// A word that begins just as the link starts again is an INIT also on a lane on which the peer was not heard: there it is no longer known.
func TestLaneEndRestart(t *testing.T) {
	var p struct {
		Rst, Tick, TxReady, RxValid, Up, Restart, Known, Fits *bool   `port:"*"`
		RxSym, TxSym                                          *uint16 `port:"*"`
	}
	b := moduletest.Open(t, "lane_end", params{"ACK_DELAY": ackDelay}, &p)
	*p.Tick, *p.TxReady = true, true
	words := linkproto.NewDeframer(maxPacket)
	run := func(clocks int) (others int) { // words that are no INIT
		for range clocks {
			if ev, _ := words.Next([]linkproto.Symbol{linkproto.Symbol(*p.TxSym)}); ev.Kind != linkproto.EventNone && ev.Kind != linkproto.EventInit {
				others++
			}
			b.Step(1)
		}
		return others
	}
	for up := range 2 * ackDelay {
		*p.RxValid = true
		for _, s := range linkproto.AppendInit(nil, linkproto.Init{Version: linkproto.Version, Page: 13, Lanes: 4, Life: 0x1234}) {
			*p.RxSym = uint16(s)
			run(1)
		}
		*p.RxValid = false
		run(5)
		check.Equal(t, "knows a peer that fits", *p.Known && *p.Fits, true)
		*p.Up = true
		run(2*ackDelay + up)
		*p.Up, *p.Restart = false, true
		others := run(1)
		*p.Restart = false
		others += run(ackDelay)
		check.Equal(t, fmt.Sprintf("words for nobody, %d clocks later", up), others, 0)
	}
}

// link_lanes with one lane is link_endpoint: it speaks to an end of one lane.
func TestLanesOne(t *testing.T) {
	m := newMixedOf(t, "link_lanes", 1, 3)
	m.clocks(10_000)
	m.settle()
	check.Equal(t, "replays", m.seen[linkproto.CntReplays], 0)
}
