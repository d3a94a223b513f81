package phy_test

import (
	"testing"

	"github.com/stafflink/lmmc/testbench/prove"
)

// The header comes first: the modules include it from the folder above.
var proofs = []prove.Proof{
	{Top: "enc_8b10b", Files: []string{"../linkproto.vh", "enc_8b10b.v", "dec_8b10b.v"}, Depth: 4, Unroll: true},
}

func TestProofs(t *testing.T) {
	for _, p := range proofs {
		t.Run(p.Top, func(t *testing.T) { prove.Run(t, p) })
	}
}
