package testbench_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// register is a stream of bytes without frames through a register that has many resets.
var register = verilator.Design{Top: "register", Sources: []string{"register.v"}, FS: fstest.MapFS{"register.v": {Data: []byte(`
module register (input wire clk, input wire rst, rst_btn, rst_n, resetn, rst_ni, aresetn, nreset, clear, input wire [7:0] s_data,
    input wire s_valid, output wire s_ready, output reg [7:0] m_data, output reg m_valid, input wire m_ready);
  wire stop = rst || rst_btn || !(rst_n && resetn && rst_ni && aresetn && nreset && clear);
  assign s_ready = !stop && (!m_valid || m_ready);
  always @(posedge clk)
    if (stop) m_valid <= 0;
    else if (s_ready) {m_valid, m_data} <= {s_valid, s_data};
endmodule
`)}}}

func TestResetOfEitherPolarity(t *testing.T) {
	for _, port := range []string{"rst", "rst_btn", "rst_n", "resetn", "rst_ni", "aresetn", "nreset", "!clear"} {
		b := testbench.New(t, register, testbench.Config{Wave: testbench.WaveNever})
		for _, other := range []string{"rst_n", "resetn", "rst_ni", "aresetn", "nreset", "clear"} {
			if other != port && "!"+other != port {
				b.Model().Poke(other, 1)
			}
		}
		in := check.Must(b.Sender(verilator.Stream("s")))(t)
		out := check.Must(b.Receiver(verilator.Stream("m")))(t)
		h := check.Must(b.Handshake(nil, verilator.Stream("s")))(t)
		watch := check.Must(b.Monitor(h, testbench.MonitorConfig{Reset: port}))(t)
		b.Reset(port, 2)
		out.Discard()
		b.Go("words", func(c *testbench.Task) {
			for v := range uint64(20) {
				in.Put(c, v, false)
			}
			for v := range uint64(20) {
				if beat := out.Beat(c); beat.Data != v {
					c.Fatalf("reset %s: got %d, want %d", port, beat.Data, v)
				}
			}
		})
		b.Run(200)
		check.Equal(t, "reset "+port+": items that the monitor saw", watch.Items(), 20)
		check.Error(t, b.Close())
	}
}

// A stream of random numbers that is asked for in a loop goes on.
func TestRandGoesOn(t *testing.T) {
	draw := func() (seen []uint64) {
		b := testbench.New(t, register, testbench.Config{Wave: testbench.WaveNever})
		for range 4 {
			seen = append(seen, b.Rand("v").Uint64())
		}
		return seen
	}
	seen := draw()
	check.Equal(t, "streams of equal seeds", draw(), seen)
	slices.Sort(seen)
	if len(slices.Compact(seen)) != 4 {
		t.Errorf("the stream began anew: %x", seen)
	}
}
