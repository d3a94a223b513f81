package bitstream

import (
	"fmt"
	"strings"
)

// Device is a die, by the name that Project IceStorm gives it: "8k" is in packages sold as HX8K, LP8K, HX4K and LP4K.
type Device string

// dies has the die of each device that nextpnr-ice40 has a flag for.
var dies = map[string]Device{
	"lp384": "384",
	"lp1k":  "1k", "hx1k": "1k",
	"lp4k": "8k", "hx4k": "8k", "lp8k": "8k", "hx8k": "8k",
	"up3k": "5k", "up5k": "5k",
	"u1k": "u4k", "u2k": "u4k", "u4k": "u4k",
}

// Die returns the die of a device by nextpnr-ice40's name, such as "8k" for "hx8k"; "" if the name is unknown.
func Die(device string) Device { return dies[strings.ToLower(device)] }

// banks has the sizes of a die's banks, the even and the odd ones, as icepack has them.
var banks = []struct {
	device     Device
	cram, bram [2]extent
}{
	{"384", [2]extent{{182, 80}, {182, 80}}, [2]extent{}},
	{"1k", [2]extent{{332, 144}, {332, 144}}, [2]extent{{64, 256}, {64, 256}}},
	{"8k", [2]extent{{872, 272}, {872, 272}}, [2]extent{{128, 256}, {128, 256}}},
	{"5k", [2]extent{{692, 336}, {692, 176}}, [2]extent{{160, 256}, {80, 256}}},
	{"u4k", [2]extent{{692, 176}, {692, 176}}, [2]extent{{80, 256}, {80, 256}}},
	{"lm4k", [2]extent{{656, 176}, {656, 176}}, [2]extent{{80, 256}, {80, 256}}},
}

// device finds the die whose banks were written, in full, and whether block RAMs were.
func device(rows [2][4]extent) (Device, bool, error) {
	none := [4]extent{}
	for _, d := range banks {
		if rows[0][0] != d.cram[0] {
			continue
		}
		for i, got := range rows[0] {
			if want := d.cram[i%2]; got != want {
				return "", false, fmt.Errorf("%w: CRAM bank %d has %v; that of a %s has %v", ErrDamaged, i, got, d.device, want)
			}
		}
		for i, got := range rows[1] {
			if want := d.bram[i%2]; got != want && rows[1] != none {
				return "", false, fmt.Errorf("%w: BRAM bank %d has %v; that of a %s has %v", ErrDamaged, i, got, d.device, want)
			}
		}
		return d.device, rows[1] != none, nil
	}
	return "", false, fmt.Errorf("%w: no iCE40 has a first CRAM bank of %v", ErrForeign, rows[0][0])
}

func (e extent) String() string {
	if e.rows == 0 {
		return "no data"
	}
	return fmt.Sprintf("%d rows of %d bits", e.rows, e.width)
}
