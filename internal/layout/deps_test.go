package layout

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// TestDeps runs scripts/deps on machines made of stand-ins for its programs.
func TestDeps(t *testing.T) {
	all := []string{"verilator", "git", "make", "pkg-config", "yosys", "z3", "iverilog", "nextpnr-ice40", "icepack", "openFPGALoader", "flashrom", "ftdi_eeprom", "tshark", "zsh", "fish", "umockdev-run", "usbip",
		"qemu-system-x86_64", "xz", "slurmctld", "munged", "ip", "ping", "iperf3", "iperf", "socat", "ssh", "sshd", "python3", "curl", "redis-server", "nginx", "wrk"}
	const (
		oldGo  = "echo go1.19.2"
		newGo  = "echo go1.99.0"
		userID = "echo 1000"
		rootID = "echo 0"
		// A package whose content is that of the folder "package" beside the programs.
		unpack   = `tar c -C "$(dirname "$0")/package" .`
		download = `case "$*" in *download*) touch some.deb; esac; echo "apt-get $*"`
		depends  = "echo linux-image-amd64; echo '  Depends: linux-image-6.1'"
		sayArgs  = `echo "apt-get $* ($DEBIAN_FRONTEND)"`
	)
	for _, test := range []struct {
		name     string
		set      string
		programs map[string]string // besides all of the above, a new Go and a compiler
		without  []string
		code     int
		contains []string
		lacks    []string
		noKernel bool // in the cache
	}{
		{name: "nothing missing", set: "test", programs: map[string]string{"apt-get": sayArgs}, lacks: []string{"apt-get"}},
		{name: "as root", set: "test", without: []string{"z3", "yosys"},
			programs: map[string]string{"apt-get": sayArgs, "id": rootID},
			contains: []string{"update (noninteractive)", "install -y --no-install-recommends yosys z3 (noninteractive)"}},
		{name: "sim needs less", set: "sim", without: []string{"z3", "yosys"},
			programs: map[string]string{"apt-get": sayArgs}, lacks: []string{"apt-get"}},
		{name: "no compiler means no headers", set: "sim", without: []string{"g++"},
			programs: map[string]string{"apt-get": sayArgs, "id": rootID},
			contains: []string{"recommends g++ zlib1g-dev libusb-1.0-0-dev ("}},
		{name: "with sudo", set: "sim", without: []string{"verilator"},
			programs: map[string]string{"apt-get": sayArgs, "id": userID, "sudo": `shift; exec "$@"`},
			contains: []string{"recommends verilator ("}},
		{name: "sudo asks for a password", set: "sim", without: []string{"verilator"}, code: 3,
			programs: map[string]string{"apt-get": sayArgs, "id": userID, "sudo": "exit 1"},
			contains: []string{"sudo apt-get update && sudo apt-get install -y --no-install-recommends verilator"}, lacks: []string{"(noninteractive)"}},
		{name: "not Debian", set: "sim", without: []string{"verilator"}, code: 3, contains: []string{"Missing", "verilator"}},
		{name: "install fails", set: "sim", without: []string{"verilator"}, code: 3,
			programs: map[string]string{"id": rootID, "apt-get": `case "$*" in *install*) exit 100; esac`},
			contains: []string{"still missing: verilator"}},
		{name: "a kernel, which takes no root", set: "test", noKernel: true,
			programs: map[string]string{"id": userID, "apt-get": download, "apt-cache": depends, "dpkg-deb": unpack},
			contains: []string{"Fetching a kernel", "download linux-image-6.1"}, lacks: []string{"update"}},
		{name: "a kernel, after an update", set: "test", noKernel: true,
			programs: map[string]string{"id": rootID, "dpkg-deb": unpack, "apt-cache": depends,
				"apt-get": `[ -e "$0.updated" ] || case "$*" in *update*) touch "$0.updated" ;; *) exit 100 ;; esac; ` + download},
			contains: []string{"Fetching a kernel", "download linux-image-6.1"}},
		{name: "no kernel to be had", set: "test", noKernel: true, code: 3,
			programs: map[string]string{"id": userID, "apt-get": "exit 100", "apt-cache": "exit 100"},
			contains: []string{"apt-get update", "LMMC_KERNEL"}},
		{name: "sim needs no kernel", set: "sim", noKernel: true, lacks: []string{"kernel"}},
		{name: "no Go", set: "sim", code: 3, without: []string{"go"}, contains: []string{"https://go.dev/dl/"}},
		{name: "old Go", set: "sim", code: 3, programs: map[string]string{"go": oldGo}, contains: []string{"is 1.19.2", "https://go.dev/dl/"}},
		{name: "no set", code: 2, contains: []string{"usage"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bin := t.TempDir()
			for _, name := range []string{"awk", "sort", "head", "dirname", "env", "sh", "sleep", "true", "false", "tar", "mktemp", "mkdir", "chmod", "rm", "mv", "touch"} {
				real := check.Must(exec.LookPath(name))(t)
				check.Fatal(t, os.Symlink(real, filepath.Join(bin, name)))
			}
			standIn := func(name, script string) {
				check.Fatal(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
			}
			for _, name := range append(all, "g++") {
				standIn(name, "exit 0")
			}
			standIn("go", newGo)
			for _, name := range test.without {
				check.Fatal(t, os.Remove(filepath.Join(bin, name)))
			}
			for name, script := range test.programs {
				standIn(name, script)
			}
			bash := check.Must(exec.LookPath("bash"))(t)
			cmd := exec.Command(bash, append([]string{filepath.Join(root, "scripts", "deps")}, strings.Fields(test.set)...)...)
			cache := t.TempDir()
			image := filepath.Join("boot", "vmlinuz-6.1")
			packed := []string{image, "lib/modules/6.1/modules.builtin", "lib/modules/6.1/kernel/drivers/usb/core/usbcore.ko"}
			made := []string{}
			for _, name := range append(packed, "lib/modules/6.1/kernel/sound/loud.ko") {
				made = append(made, filepath.Join(bin, "package", name))
			}
			if !test.noKernel {
				made = append(made, filepath.Join(cache, "kernel", image))
			}
			for _, name := range made {
				check.Fatal(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, nil, 0o666)))
			}
			cmd.Env = []string{"PATH=" + bin, "LC_ALL=C", "LMMC_CACHE=" + cache}
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState == nil {
				t.Fatal(err)
			}
			code := cmd.ProcessState.ExitCode()
			check.Equal(t, "exit code", code, test.code)
			check.Contains(t, "output", string(out), test.contains...)
			for _, unwanted := range test.lacks {
				if strings.Contains(string(out), unwanted) {
					t.Errorf("output has %q", unwanted)
				}
			}
			if fetched := tree(t, filepath.Join(cache, "kernel")); test.noKernel && code == 0 && test.set == "test" {
				if slices.Sort(packed); !slices.Equal(fetched, packed) {
					t.Errorf("the cache has %v, want %v", fetched, packed)
				}
			} else if test.noKernel && len(tree(t, cache)) > 0 {
				t.Errorf("the cache has %v", tree(t, cache))
			}
			if t.Failed() {
				t.Logf("output:\n%s", out)
			}
		})
	}
}

// tree returns the files below a folder, sorted.
func tree(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	check.Fatal(t, err)
	return names
}
