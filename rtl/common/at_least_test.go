package common_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Every number of a width against limits of all kinds.
func TestAtLeast(t *testing.T) {
	for _, limit := range []int{0, 1, 2, 127, 128, 129, 170, 254, 255} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			var p struct {
				X *uint8 `port:"*"`
				Y *bool  `port:"*"`
			}
			b := moduletest.New(t, "at_least", params{"WIDTH": 8, "LIMIT": limit}, &p)
			for x := range 256 {
				*p.X = uint8(x)
				check.Fatal(t, b.Model().Eval())
				check.Equal(t, fmt.Sprintf("y of %d", x), *p.Y, x >= limit)
			}
		})
	}
}
