package rtl_test

import (
	"fmt"
	"os/exec"
	"path"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/rtl"
)

// modules lists the files of all modules, with the name of the module each holds.
func modules() (files, names []string) {
	for _, f := range rtl.Sources() {
		files = append(files, f)
		names = append(names, strings.TrimSuffix(path.Base(f), ".v"))
	}
	return files, names
}

// Every module synthesises by itself: no latch, no net with two drivers, nothing undriven.
func TestSynthesis(t *testing.T) {
	if _, err := exec.LookPath("yosys"); err != nil {
		t.Fatalf("yosys not found (apt install yosys): %v", err)
	}
	files, names := modules()
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// hierarchy -check inside prep refuses a module that is missing.
			script := fmt.Sprintf("read_verilog -defer -I. %s; prep -top %s; check -assert; select -assert-none t:$dlatch t:$adlatch t:$dlatchsr",
				strings.Join(files, " "), name)
			if out, err := exec.CommandContext(t.Context(), "yosys", "-q", "-p", script).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", name, err, out)
			}
		})
	}
}
