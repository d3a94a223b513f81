package phy_test

import (
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Every symbol passes, one a clock, through one register each way; under reset the line idles and nothing is received.
func TestDirect(t *testing.T) {
	var p struct {
		Rst, TxReady, RxValid        *bool   `port:"*"`
		TxSym, RxSym, LineTx, LineRx *uint16 `port:"*"`
	}
	b := moduletest.New(t, "phy_direct", nil, &p)
	rng := b.Rand("symbols")
	for range 3000 {
		tx, rx := uint16(rng.IntN(512)), uint16(rng.IntN(512))
		*p.Rst, *p.TxSym, *p.LineRx = rng.Chance(0.05), tx, rx
		if *p.Rst {
			tx, rx = uint16(linkproto.SymIdle), uint16(linkproto.SymIdle)
		}
		b.Step(1)
		if b.Cycle() < 3 {
			continue // a clock before the first edge seen by the design may be lost
		}
		if *p.LineTx != tx || *p.RxSym != rx || !*p.TxReady || !*p.RxValid {
			t.Fatalf("cycle %d: line %03x, want %03x; received %03x, want %03x; ready %v, valid %v", b.Cycle(), *p.LineTx, tx, *p.RxSym, rx,
				*p.TxReady, *p.RxValid)
		}
	}
}
