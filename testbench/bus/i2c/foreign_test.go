package i2c_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/foreign"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/i2c"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/verilator"
)

// The master of verilog-ethernet's examples writes to an EEPROM that stretches the clock, and reads it back. It holds
// START for a quarter of a bit, 6 clocks: 2.5 us at 100 kHz, of which UM10204 wants 4. After an address that
// nobody acknowledges it goes on with data.
func TestForeignMaster(t *testing.T) {
	d := verilator.Design{Top: "i2c_master", Sources: foreign.Files(t, "verilog-ethernet", "example/VCU118/fpga_fmc_htg_6qsfp_25g/rtl/i2c_master.v"), Flags: []string{"-Wno-WIDTH"}}
	b := testbench.New(t, d, testbench.Config{})
	wires := check.Must(i2c.NewBus(b, "", i2c.Config{Low: 10, High: 6, Config: bus.Config{Waive: []string{i2c.RuleNack}}}))(t)
	rom := &memory.Memory{}
	slow := check.Must(wires.AddTarget(0x50, &i2c.EEPROM{Target: rom}))(t)
	slow.SetThrottle(0.9)
	check.Must(wires.AddTarget(i2c.Ten(0x2A5), &i2c.EEPROM{Target: &memory.Memory{}}))(t)
	check.Fatal(t, b.Model().Poke("prescale", 5))
	var p struct {
		Address  *uint8 `port:"s_axis_cmd_address"`
		Start    *bool  `port:"s_axis_cmd_start"`
		Read     *bool  `port:"s_axis_cmd_read"`
		Multiple *bool  `port:"s_axis_cmd_write_multiple"`
		Stop     *bool  `port:"s_axis_cmd_stop"`
		Valid    *bool  `port:"s_axis_cmd_valid"`
		Ready    *bool  `port:"s_axis_cmd_ready"`
		Missed   *bool  `port:"missed_ack"`
	}
	check.Fatal(t, b.Bind(&p))
	in := check.Must(b.Sender(verilator.Channel{Data: "s_axis_data_tdata", Valid: "s_axis_data_tvalid", Ready: "s_axis_data_tready", Last: "s_axis_data_tlast"}))(t)
	out := check.Must(b.Receiver(verilator.Channel{Data: "m_axis_data_tdata", Valid: "m_axis_data_tvalid", Ready: "m_axis_data_tready", Last: "m_axis_data_tlast"}))(t)
	check.Fatal(t, b.Reset("rst", 4))
	missed := 0
	b.Observe(b.Main(), func() {
		if *p.Missed {
			missed++
		}
	})
	sent := b.Rand("data").Bytes(20)
	b.Go("host", func(c *testbench.Task) {
		command := func(address uint8, read, stop bool) {
			*p.Address, *p.Start, *p.Read, *p.Multiple, *p.Stop, *p.Valid = address, false, read, !read, stop, true
			for ready := false; !ready; c.Cycles(1) {
				check.Fatal(t, b.Model().Eval())
				ready = *p.Ready
			}
			*p.Valid = false
		}
		command(0x50, false, true)
		in.Send(c, append([]byte{0x30}, sent...))
		in.Drain(c)
		command(0x50, false, false)
		in.Send(c, []byte{0x30})
		var got []byte
		for i := range sent {
			command(0x50, true, i == len(sent)-1)
			got = append(got, byte(out.Beat(c).Data))
		}
		if !bytes.Equal(got, sent) {
			c.Fatalf("have %x, want %x", got, sent)
		}
		check.Equal(t, "missed", missed, 0)
		high := uint8(0x78 | 0x2A5>>8) // a 10-bit address, whose low bits go as data
		command(high, false, true)
		in.Send(c, append([]byte{0xA5, 0x30}, sent...))
		command(high, false, false)
		in.Send(c, []byte{0xA5, 0x30})
		for i, want := range sent {
			command(high, true, i == len(sent)-1)
			check.Equal(t, fmt.Sprint("byte of the 10-bit address ", i), byte(out.Beat(c).Data), want)
		}
		check.Equal(t, "missed", missed, 0)
		command(0x11, false, true)
		in.Send(c, []byte{1})
		c.Cycles(1000)
		if missed == 0 {
			t.Error("the master has not seen that nobody acknowledges")
		}
	})
	check.Fatal(t, b.Run(100_000))
	t.Logf("%d cycles, %d not acknowledged, %d violations", b.Cycle(), missed, wires.Violations())
}
