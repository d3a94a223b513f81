package soak

import (
	"context"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench"
)

// SerialDifference tries differences between two clocks, in ppm and upwards, and returns the last one at which two ends over phy_serial
// exchange packets both ways for so many symbol times without a lost packet or any counter of an error moving; 0 if there is none.
//
// Half of all edges come a clock of the receiver late, a fifth of a bit. One clock is the faster one for one direction and the slower one for
// the other, so both signs are tried.
func SerialDifference(ctx context.Context, symbols int, ppm ...int) (best int, err error) {
	c := Case{"serial", "jitter", 0.5}
	l, f, err := c.kinds()
	if err != nil {
		return 0, err
	}
	l.symbols = symbols
	for _, p := range ppm {
		rng := testbench.NewRand(1).Split(fmt.Sprint(p))
		w, err := open(ctx, l, p, nil, rng.Split("world"), 0, "")
		if err != nil {
			return 0, err
		}
		err = try.Run(newRun(ctx, c, l, f, w, rng).campaign)
		if closing := w.close(); closing != nil {
			return 0, closing
		}
		switch {
		case errors.Is(err, ErrLost), errors.Is(err, ErrOrder), errors.Is(err, ErrDamaged), errors.Is(err, ErrWedged), errors.Is(err, ErrCount):
			return best, nil
		case err != nil:
			return 0, err
		}
		best = p
	}
	return best, nil
}
