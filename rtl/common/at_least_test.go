package common_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Every number of eight bits against every limit.
func TestAtLeast(t *testing.T) {
	var p struct {
		X *uint8   `port:"*"`
		Y []uint32 `port:"*"`
	}
	b := moduletest.New(t, "testdata/at_least_all", nil, &p)
	for x := range 256 {
		*p.X = uint8(x)
		check.Fatal(t, b.Model().Eval())
		for limit := range 256 {
			check.Equal(t, fmt.Sprintf("y of %d, at least %d", x, limit), p.Y[limit/32]>>(limit%32)&1 != 0, x >= limit)
		}
	}
}
