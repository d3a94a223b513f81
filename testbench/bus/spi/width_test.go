package spi_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/spi"
)

// A word of more bits than the bus has is refused.
func TestWordsThatDoNotFit(t *testing.T) {
	b := check.Must(testbench.Open(t.Context(), design("spi_slave"), testbench.Config{Wave: testbench.WaveNever}))(t)
	defer b.Close()
	m := check.Must(spi.NewMaster(b, "", spi.Config{}))(t)
	check.Fatal(t, b.Reset("rst", 2))
	b.Go("master", func(c *testbench.Task) {
		m.Select(c)
		m.Exchange(c, 0xFF, 0x100)
	})
	check.Fails(t, "wide", b.Run(1000), nil, "word 0x100 has more than 8 bits")
}
