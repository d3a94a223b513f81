package rtl_test

import (
	"os/exec"
	"strings"
	"testing"
)

// variants are parameter values that lint looks at besides the defaults: the edges of what is allowed.
var variants = map[string][]string{
	"arbiter_rr":     {"-GN=1", "-GN=3", "-GN=8"},
	"cdr_oversample": {"-GOVERSAMPLE=3 -GVOTES=2", "-GOVERSAMPLE=4", "-GOVERSAMPLE=16 -GVOTES=16"},
	"counter_bank":   {"-GN=1", "-GN=4", "-GN=5", "-GN=128"},
	"fifo_async":     {"-GDEPTH=4", "-GWIDTH=1"},
	"fifo_commit":    {"-GDEPTH=4", "-GWIDTH=1"},
	"fifo_sync":      {"-GDEPTH=4", "-GWIDTH=1"},
	"ni_core": {"-GLINKS=7 -GFRAMES=256 -GPAGE_BYTES=256", "-GLINKS=2 -GFRAMES=5 -GPAGE_BYTES=64 -GREPLAY_BYTES=128 -GRX_BYTES=512",
		"-GFRAMES=1 -GPAGE_BYTES=64", "-GPAGE_BYTES=8192 -GREPLAY_BYTES=16384 -GRX_BYTES=16384",
		"-GTRACE=256", "-GINJECT=1 -GLINKS=3", "-GTRACE=8192 -GINJECT=1 -GLINKS=7"},
	"ni_debug":    {"-GTRACE=256", "-GINJECT=1 -GLINKS=3", "-GTRACE=8192 -GINJECT=1 -GLINKS=7"},
	"ni_trace":    {"-GPORTS=8 -GDEPTH=1024", "-GPORTS=3 -GDEPTH=2"},
	"ni_lines":    {"-GLINK_PHY=1 -GLINKS=2", "-GHOST_PHY=2 -GLINK_PHY=2 -GLINKS=7 -GFRAMES=24 -GPAGE_BYTES=256", "-GHOST_PHY=2"},
	"phy_serial":  {"-GOVERSAMPLE=3 -GCOMMA_EVERY=64", "-GOVERSAMPLE=4", "-GOVERSAMPLE=8"},
	"ni_notify":   {"-GFRAMES=1", "-GLINKS=7 -GFRAMES=24 -GPAGE_BYTES=256", "-GLINKS=3 -GFRAMES=256 -GPAGE_BYTES=8192"},
	"ni_trap":     {"-GFRAMES=1 -GMAX_PACKET=72", "-GFRAMES=256 -GLINK=7"},
	"ram_sdp":     {"-GDEPTH=2", "-GWIDTH=32 -GWORD_BYTES=4"},
	"reset_sync":  {"-GSTRETCH=256"},
	"skid_buffer": {"-GWIDTH=1"},
}

// Every module is clean under Verilator's warnings, and Icarus reads it too.
func TestLint(t *testing.T) {
	for _, tool := range []string{"verilator", "iverilog"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s not found (apt install verilator iverilog): %v", tool, err)
		}
	}
	files, names := modules()
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, variant := range append([]string{""}, variants[name]...) {
				args := append(strings.Fields("--lint-only -Wall -fno-const-bit-op-tree -I. -y common -y phy -y link -y ni --top-module "+name+" "+variant), files[i])
				if out, err := exec.CommandContext(t.Context(), "verilator", args...).CombinedOutput(); err != nil || len(out) > 0 {
					t.Errorf("verilator %s: %v\n%s", strings.Join(args, " "), err, out)
				}
			}
			args := append(strings.Fields("-g2005-sv -Wall -Wno-timescale -I. -tnull -s "+name), files...)
			if out, err := exec.CommandContext(t.Context(), "iverilog", args...).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("iverilog %s: %v\n%s", name, err, out)
			}
		})
	}
}
