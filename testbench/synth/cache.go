package synth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

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
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

func cachePath(key string) (string, error) {
	user, err := os.UserCacheDir()
	return filepath.Join(user, "lmmc", "synth", key+".json"), err
}

// recall returns the Report kept under key, or nil.
func recall(key string) *Report {
	path, err := cachePath(key)
	if err != nil {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	r := &Report{}
	if json.Unmarshal(data, r) != nil || len(r.Runs) == 0 {
		return nil
	}
	return r
}

// remember keeps r, if it can: a cache that cannot be written costs time and nothing else.
func remember(key string, r *Report) {
	path, err := cachePath(key)
	if err != nil || os.MkdirAll(filepath.Dir(path), 0o755) != nil {
		return
	}
	data, err := json.Marshal(r)
	if err != nil {
		return
	}
	temporary := fmt.Sprintf("%s.%d", path, os.Getpid())
	if os.WriteFile(temporary, data, 0o644) == nil {
		os.Rename(temporary, path)
	}
}
