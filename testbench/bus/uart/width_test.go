package uart_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/uart"
	"github.com/stafflink/lmmc/verilator"
)

// A character of more bits than the line has is refused.
func TestCharactersThatDoNotFit(t *testing.T) {
	b := check.Must(testbench.Open(t.Context(), verilator.Design{Top: "through", Sources: []string{"testdata/through.v"}}, testbench.Config{Wave: testbench.WaveNever}))(t)
	defer b.Close()
	out := check.Must(uart.NewTransmitter(b, "rx", uart.Config{Bit: 4, Data: 7}))(t)
	out.Put(uart.Character{Data: 0x7F})
	check.Error(t, b.Err())
	out.Put(uart.Character{Data: 0x80})
	check.Fails(t, "wide", b.Err(), nil, "uart rx: character 0x80 has more than 7 bits")
}
