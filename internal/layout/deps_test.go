package layout

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDeps runs scripts/deps on machines made of stand-ins for its programs.
func TestDeps(t *testing.T) {
	all := []string{"verilator", "ccache", "git", "make", "pkg-config", "yosys", "z3", "iverilog", "nextpnr-ice40", "icepack", "tshark", "umockdev-run"}
	const (
		oldGo   = "echo go1.19.2"
		newGo   = "echo go1.99.0"
		userID  = "echo 1000"
		rootID  = "echo 0"
		sayArgs = `echo "apt-get $* ($DEBIAN_FRONTEND)"`
	)
	for _, test := range []struct {
		name     string
		set      string
		programs map[string]string // besides all of the above
		without  []string
		code     int
		contains []string
		lacks    []string
	}{
		{name: "nothing missing", set: "test", programs: map[string]string{"go": newGo, "g++": "exit 0", "apt-get": sayArgs},
			lacks: []string{"apt-get"}},
		{name: "as root", set: "test", without: []string{"z3", "yosys"},
			programs: map[string]string{"go": newGo, "g++": "exit 0", "apt-get": sayArgs, "id": rootID},
			contains: []string{"update (noninteractive)", "install -y --no-install-recommends yosys z3 (noninteractive)"}},
		{name: "sim needs less", set: "sim", without: []string{"z3", "yosys"},
			programs: map[string]string{"go": newGo, "g++": "exit 0", "apt-get": sayArgs}, lacks: []string{"apt-get"}},
		{name: "no compiler means no headers", set: "sim",
			programs: map[string]string{"go": newGo, "apt-get": sayArgs, "id": rootID},
			contains: []string{"recommends g++ zlib1g-dev libusb-1.0-0-dev ("}},
		{name: "with sudo", set: "sim", without: []string{"verilator"},
			programs: map[string]string{"go": newGo, "g++": "exit 0", "apt-get": sayArgs, "id": userID, "sudo": `shift; exec "$@"`},
			contains: []string{"recommends verilator ("}},
		{name: "sudo asks for a password", set: "sim", without: []string{"verilator"}, code: 3,
			programs: map[string]string{"go": newGo, "g++": "exit 0", "apt-get": sayArgs, "id": userID, "sudo": "exit 1"},
			contains: []string{"sudo apt-get update && sudo apt-get install -y --no-install-recommends verilator"}, lacks: []string{"(noninteractive)"}},
		{name: "not Debian", set: "sim", without: []string{"verilator"}, code: 3,
			programs: map[string]string{"go": newGo, "g++": "exit 0"}, contains: []string{"Missing", "verilator"}},
		{name: "install fails", set: "sim", without: []string{"verilator"}, code: 3,
			programs: map[string]string{"go": newGo, "g++": "exit 0", "id": rootID, "apt-get": `case "$*" in *install*) exit 100; esac`},
			contains: []string{"still missing: verilator"}},
		{name: "no Go", set: "sim", code: 3, programs: map[string]string{"g++": "exit 0"}, contains: []string{"https://go.dev/dl/"}},
		{name: "old Go", set: "sim", code: 3, programs: map[string]string{"g++": "exit 0", "go": oldGo},
			contains: []string{"is 1.19.2", "https://go.dev/dl/"}},
		{name: "no set", code: 2, contains: []string{"usage"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bin := t.TempDir()
			for _, name := range []string{"awk", "sort", "head", "dirname", "env", "sh", "sleep", "true"} {
				real, err := exec.LookPath(name)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(real, filepath.Join(bin, name)); err != nil {
					t.Fatal(err)
				}
			}
			standIn := func(name, script string) {
				if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range all {
				standIn(name, "exit 0")
			}
			for _, name := range test.without {
				if err := os.Remove(filepath.Join(bin, name)); err != nil {
					t.Fatal(err)
				}
			}
			for name, script := range test.programs {
				standIn(name, script)
			}
			bash, err := exec.LookPath("bash")
			if err != nil {
				t.Fatal(err)
			}
			args := []string{filepath.Join(root, "scripts", "deps")}
			if test.set != "" {
				args = append(args, test.set)
			}
			cmd := exec.Command(bash, args...)
			cmd.Env = []string{"PATH=" + bin, "LC_ALL=C"}
			out, err := cmd.CombinedOutput()
			code := 0
			if exit := new(exec.ExitError); errors.As(err, &exit) {
				code = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			for _, want := range test.contains {
				if !strings.Contains(string(out), want) {
					t.Errorf("output lacks %q", want)
				}
			}
			for _, unwanted := range test.lacks {
				if strings.Contains(string(out), unwanted) {
					t.Errorf("output has %q", unwanted)
				}
			}
			if t.Failed() {
				t.Logf("output:\n%s", out)
			}
		})
	}
}
