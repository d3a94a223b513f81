package cluster_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// TestStretch: what is sent under a load arrives as it was sent, on two threads as on one; a byte of a receive buffer that is another one is noticed.
func TestStretch(t *testing.T) {
	var all [2]cluster.Carried
	for i := range all {
		c := watched(t, 3, 1+i)
		b := check.Must(c.NewBench(cluster.Workload{Pattern: "uniform", Least: 64, Most: 600}))(t)
		check.Fatal(t, b.Begin(0.4))
		check.Fatal(t, b.Pass(12_000))
		check.Fatal(t, b.Pass(12_000))
		all[i] = check.Must(b.End())(t)
		if i == 0 {
			wrong := linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: 40, Data: []byte{0}}
			right := check.Must(c.Ask(c.NIs[1], linkproto.Packet{Type: linkproto.TypeBufRead, Addr: 40, Count: 1}))(t)
			wrong.Data[0] = ^right.Data[0]
			check.Must(c.Ask(c.NIs[1], wrong))(t)
			_, err := b.End()
			if err == nil {
				t.Fatal("a wrong byte in a receive buffer is not noticed")
			}
			check.Contains(t, "error", err.Error(), "byte 40", "n1")
		}
	}
	check.Equal(t, "with two threads", all[1], all[0])
	if c := all[0]; c.Messages < 30 || c.Bytes < 64*c.Messages || c.Offered < 0.3 || c.Offered > 0.5 {
		t.Errorf("%+v", c)
	}
}
