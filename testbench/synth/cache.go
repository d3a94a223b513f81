package synth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/verilator"
)

// format changes when the same design gives another Report: another script or another field.
const format = 1

// identity hashes all that a Report follows from.
func identity(ctx context.Context, d verilator.Design, target Target, seeds []int) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, format, ForSpeed, ForSpeed.Synthesis("hx"), target, seeds, d.Top, d.Sources, d.IncludeDirs)
	for _, program := range []string{"yosys", "nextpnr-ice40"} {
		version, err := Version(ctx, program)
		if err != nil {
			return "", err
		}
		h.Write(version)
	}
	for _, set := range []map[string]string{d.Params, d.Defines} {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			fmt.Fprintf(h, "%q=%q\n", name, set[name])
		}
		fmt.Fprintln(h)
	}
	files, err := contents(d)
	if err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%q %d\n", name, len(files[name]))
		h.Write(files[name])
	}
	return campaign.Key("synth", hex.EncodeToString(h.Sum(nil))), nil
}
