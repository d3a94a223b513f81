package boards

import (
	"fmt"
	"math"
)

// pll returns the parameters by which the PLL of the board's FPGA makes a clock of so many MHz from its oscillator, or an error that names
// the nearest clock that it can make.
func (b *Board) pll(mhz float64) (map[string]int, error) {
	search := map[string]func(float64, float64) (float64, map[string]int){"ice40": ice40PLL, "ecp5": ecp5PLL}[b.FPGA.Family]
	got, params := search(b.Clock.MHz, mhz)
	if params == nil {
		return nil, fmt.Errorf("clock.mhz = %g: no PLL of this family takes that", b.Clock.MHz)
	}
	if math.Abs(got/mhz-1) > 1e-4 {
		return nil, fmt.Errorf("mhz = %g: the PLL cannot make that from %g MHz; the nearest is %g", mhz, b.Clock.MHz, got)
	}
	return params, nil
}

// ice40PLL searches as the data sheet of the iCE40 allows: a phase detector at 10 to 133 MHz, an oscillator at 533 to 1066 MHz, and the
// feedback taken from the output divider's input (FEEDBACK_PATH SIMPLE). Source: Lattice TN1251.
func ice40PLL(in, want float64) (best float64, params map[string]int) {
	for divr := 0; divr < 16; divr++ {
		detector := in / float64(divr+1)
		if detector < 10 || detector > 133 {
			continue
		}
		for divf := 0; divf < 128; divf++ {
			vco := detector * float64(divf+1)
			if vco < 533 || vco > 1066 {
				continue
			}
			for divq := 1; divq <= 6; divq++ {
				if out := vco / float64(int(1)<<divq); params == nil || math.Abs(out-want) < math.Abs(best-want) {
					best, params = out, map[string]int{"PLL_DIVR": divr, "PLL_DIVF": divf, "PLL_DIVQ": divq, "PLL_FILTER": ice40Filter(detector)}
				}
			}
		}
	}
	return best, params
}

// ice40Filter is the loop filter's range for a phase detector at so many MHz.
func ice40Filter(detector float64) int {
	for i, below := range []float64{17, 26, 44, 66, 101} {
		if detector < below {
			return i + 1
		}
	}
	return 6
}

// ecp5PLL searches as the data sheet of the ECP5 allows: a phase detector at 10 to 400 MHz, an oscillator at 400 to 800 MHz, and the
// feedback taken from the output. Source: Lattice FPGA-TN-02200, FPGA-DS-02012.
func ecp5PLL(in, want float64) (best float64, params map[string]int) {
	for divi := 1; divi <= 128; divi++ {
		detector := in / float64(divi)
		if detector < 10 || detector > 400 {
			continue
		}
		for divf := 1; divf <= 128; divf++ {
			out := detector * float64(divf)
			for divo := 1; divo <= 128; divo++ {
				if vco := out * float64(divo); vco < 400 || vco > 800 {
					continue
				}
				if params == nil || math.Abs(out-want) < math.Abs(best-want) {
					best, params = out, map[string]int{"PLL_DIVI": divi, "PLL_DIVF": divf, "PLL_DIVO": divo}
				}
				break
			}
		}
	}
	return best, params
}
