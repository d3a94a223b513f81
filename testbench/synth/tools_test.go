package synth

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

func TestOlder(t *testing.T) {
	for _, test := range []struct {
		have, want string
		older      bool
	}{
		{"5.006", "5.002", false}, {"4.228", "5.002", true}, {"5.002", "5.002", false}, {"1.26", "1.26.0", false},
		{"0.9", "0.23", true}, {"12.2.0", "10.0", false}, {"1", "", false},
	} {
		check.Equal(t, fmt.Sprintf("Older(%q, %q)", test.have, test.want), Older(test.have, test.want), test.older)
	}
}

// A tool that is too old is reported before it fails.
func TestVersion(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, test := range []struct{ program, says, want string }{
		{"yosys", "Yosys 0.9 (git sha1 1979e0b)", "yosys is version 0.9, and 0.23 or later is needed"},
		{"yosys", "Yosys 0.23 (git sha1 7ce5011c24b)", ""},
		{"yosys", "Yosys 0.55+46", ""},
		{"nextpnr-ice40", "nextpnr-ice40 -- Next Generation Place and Route (Version nextpnr-0.3-2)", "version 0.3"},
		{"nextpnr-ice40", "nextpnr-ice40 -- Next Generation Place and Route (Version 0.8)", ""},
		{"nextpnr-ice40", "nextpnr-ice40 -- Next Generation Place and Route (Version unknown)", ""},
	} {
		program := filepath.Join(os.Getenv("PATH"), test.program)
		check.Fatal(t, os.WriteFile(program, []byte("#!/bin/sh\necho '"+test.says+"'\n"), 0o755))
		text, err := Version(t.Context(), test.program)
		if test.want == "" && (err != nil || string(text) != test.says+"\n") || test.want != "" && (!errors.Is(err, ErrTool) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%q: %q, %v", test.says, text, err)
		}
	}
}

func TestSignal(t *testing.T) {
	for name, want := range map[string]string{
		"u_ni.h_valid[0]": "u_ni.h_valid[0]", "u_ni.sum_SB_DFF_Q_D_SB_LUT4_O_LC": "u_ni.sum", "u_ni.at_SB_LUT4_I1_O[3]": "u_ni.at",
		"$nextpnr_ICESTORM_LC_34$I3": "",
	} {
		check.Equal(t, "signal of "+name, signal(name), want)
	}
}

// What nextpnr-ice40 0.4 said of a design with two links on an UP5K, and of one that fits.
func TestOverfull(t *testing.T) {
	const head, lc, io = "Info: Device utilisation:\n", "Info: \t         ICESTORM_LC:  6460/ 5280   122%\n", "Info: \t               SB_IO:     8/   96     8%\n"
	const ram = "Info: \t        ICESTORM_RAM:    31/   30   103%\n"
	for log, want := range map[string]string{
		head + lc + io: "6460 logic cells of 5280", head + lc + ram: "6460 logic cells of 5280, 31 block memories of 30",
		head + io: "", "": "", "Info:        SB_PLL:     2/    1   200%\n": "2 SB_PLL of 1",
	} {
		check.Equal(t, "resources exceeded in "+log, overfull([]byte(log)), want)
	}
}
