package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/boards/plugged"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/guest"
	"github.com/stafflink/lmmc/testbench/synth"
)

// tool is something that the toolkit runs. The packages are those that scripts/deps installs; a test compares them.
type tool struct {
	name    string
	command []string       // what prints the version
	version *regexp.Regexp // whose first group is the version; nil: there is none to read
	min     string         // "" for any
	need    string         // needSim, needTest or needNot
	purpose string
	pkg     string // Debian's package; "" for none
	url     string // where else it comes from
}

const (
	needSim  = "sim"
	needTest = "test"
	needNot  = "optional"
)

// minGo is the version that go.mod asks for; a test compares them.
const minGo = "1.26.0"

func tools() []tool {
	compiler := cmp.Or(os.Getenv("CXX"), "g++")
	re := regexp.MustCompile
	return []tool{
		{"go", []string{"go", "version"}, re(`go(\d+\.\d+(\.\d+)?)`), minGo, needSim, "builds everything", "", "https://go.dev/dl/"},
		{"verilator", []string{"verilator", "--version"}, re(`Verilator (\d+\.\d+)`), "5.002", needSim, "compiles Verilog", "verilator",
			"https://verilator.org/guide/latest/install.html"},
		{"g++", []string{compiler, "--version"}, re(`(\d+\.\d+(\.\d+)?)`), "10.0", needSim, "compiles models", "g++", "https://gcc.gnu.org"},
		{"zlib.h", []string{compiler, "-E", "-dM", "-x", "c++", "-include", "zlib.h", "/dev/null"}, re(`ZLIB_VERSION "(\d+\.\d+(\.\d+)?)`), "",
			needSim, "waves", "zlib1g-dev", "https://zlib.net"},
		{"make", []string{"make", "--version"}, re(`Make (\d+\.\d+)`), "", needSim, "make sim, make test", "make", "https://www.gnu.org/software/make/"},
		{"pkg-config", []string{"pkg-config", "--version"}, re(`(\d+\.\d+(\.\d+)?)`), "", needNot, "make lmmc, for usb: targets", "pkg-config",
			"https://www.freedesktop.org/wiki/Software/pkg-config/"},
		{"libusb.h", []string{"pkg-config", "--modversion", "libusb-1.0"}, re(`^(\d+\.\d+(\.\d+)?)`), "1.0.20", needNot, "make lmmc, for usb: targets",
			"libusb-1.0-0-dev", "https://libusb.info"},
		{"yosys", []string{"yosys", "-V"}, re(`Yosys (\d+\.\d+)`), synth.Oldest["yosys"], needTest, "synthesis, proofs, mutants", "yosys", "https://github.com/YosysHQ/yosys"},
		{"z3", []string{"z3", "--version"}, re(`version (\d+\.\d+(\.\d+)?)`), "4.8", needTest, "proofs", "z3", "https://github.com/Z3Prover/z3"},
		{"iverilog", []string{"iverilog", "-V"}, re(`version (\d+\.\d+)`), "11.0", needTest, "a second simulator", "iverilog",
			"https://steveicarus.github.io/iverilog/"},
		{"nextpnr-ice40", []string{"nextpnr-ice40", "--version"}, re(`Version (?:nextpnr-)?(\d+\.\d+)`), synth.Oldest["nextpnr-ice40"], needTest, "clock rates", "nextpnr-ice40",
			"https://github.com/YosysHQ/nextpnr"},
		{"icepack", []string{"icepack", "-h"}, nil, "", needTest, "bitstreams", "fpga-icestorm", "https://github.com/YosysHQ/icestorm"},
		{"icebox_vlog", []string{"icebox_vlog", "-h"}, nil, "", needTest, "simulates bitstreams", "fpga-icestorm", "https://github.com/YosysHQ/icestorm"},
		{"iceprog", []string{"iceprog", "--help"}, nil, "", needTest, "lmmc flash", "fpga-icestorm", "https://github.com/YosysHQ/icestorm"},
		{"openFPGALoader", []string{"openFPGALoader", "-V"}, re(`v(\d+\.\d+(\.\d+)?)`), "0.10", needTest, "lmmc flash", "openfpgaloader",
			"https://github.com/trabucayre/openFPGALoader"},
		{"flashrom", []string{"flashrom", "--version"}, nil, "", needTest, "writes the flash of virtual boards, as any other", "flashrom",
			"https://www.flashrom.org"},
		{"ftdi_eeprom", []string{"ftdi_eeprom", "--help"}, nil, "", needTest, "writes the EEPROM of virtual boards, as any other", "ftdi-eeprom",
			"https://www.intra2net.com/en/developer/libftdi/"},
		{"tshark", []string{"tshark", "--version"}, re(`(?i)tshark.* (\d+\.\d+\.\d+)`), "", needTest, "the Wireshark dissector", "tshark",
			"https://www.wireshark.org"},
		{"zsh", []string{"zsh", "--version"}, re(`zsh (\d+\.\d+(\.\d+)?)`), "", needTest, "completion of lmmc's commands", "zsh", "https://www.zsh.org"},
		{"fish", []string{"fish", "--version"}, re(`version (\d+\.\d+(\.\d+)?)`), "", needTest, "completion of lmmc's commands", "fish", "https://fishshell.com"},
		{"umockdev-run", []string{"umockdev-run", "--version"}, re(`(\d+\.\d+(\.\d+)?)`), "0.17", needTest, "libusb with simulated chips", "umockdev",
			"https://github.com/martinpitt/umockdev"},
		{"usbip", []string{"usbip", "version"}, re(`(\d+\.\d+)`), "", needTest, "reaches virtual boards, as other machines do", "usbip",
			"https://docs.kernel.org/usb/usbip_protocol.html"},
		{"qemu-system-x86", []string{"qemu-system-x86_64", "--version"}, re(`version (\d+\.\d+)`), "4.0", needTest, "a kernel of one's own: lmmc guest",
			"qemu-system-x86", "https://www.qemu.org"},
		{"xz", []string{"xz", "--version"}, re(`(\d+\.\d+(\.\d+)?)`), "", needTest, "lmmc guest boots sooner", "xz-utils", "https://tukaani.org/xz/"},
		{"slurmctld", []string{"slurmctld", "-V"}, re(`slurm\S* (\d+\.\d+(\.\d+)?)`), "", needTest, "lmmc sim --launcher slurm, tried on a cluster of one node", "slurm-wlm",
			"https://slurm.schedmd.com"},
		{"munge", []string{"munge", "--version"}, re(`munge-(\d+\.\d+(\.\d+)?)`), "", needTest, "that cluster's authentication", "munge", "https://github.com/dun/munge"},
		{"chromium", []string{"chromium", "--version"}, re(`Chromium (\d+\.\d+)`), "", needNot, "tests of the report and of the pages of virtual boards and networks, skipped without", "",
			"https://www.chromium.org"},
	}
}

// finding is a tool on this machine.
type finding struct {
	Tool    string `json:"tool"`
	State   string `json:"state"` // "ok", "missing", "old" or "broken"
	Found   string `json:"found"` // version, "" if it says none
	Minimum string `json:"minimum"`
	Need    string `json:"need"` // "sim", "test" or "optional"
	Purpose string `json:"purpose"`
	Fix     string `json:"fix"` // the command that fixes it; "" when all is well

	pkg string
}

// examine asks a tool for its version.
func examine(ctx context.Context, t tool) (f finding) {
	f = finding{Tool: t.name, State: "ok", Minimum: t.min, Need: t.need, Purpose: t.purpose}
	defer func() {
		switch {
		case f.State == "ok":
		case t.pkg == "" && t.min == "":
			f.Fix = "install it from " + t.url
		case f.State == "old" || t.pkg == "":
			f.Fix = "install " + t.min + " or later from " + t.url
		default:
			f.pkg = t.pkg
			f.Fix = install(t.pkg)
		}
	}()
	if _, err := exec.LookPath(t.command[0]); err != nil {
		f.State = "missing"
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.command[0], t.command[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if t.version == nil {
		if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
			f.State = "broken"
		}
		return f
	}
	m := t.version.FindSubmatch(out)
	switch {
	case m == nil && strings.HasSuffix(t.name, ".h"):
		f.State = "missing"
	case m == nil:
		f.State = "broken"
	default:
		f.Found = string(m[1])
		if synth.Older(f.Found, t.min) {
			f.State = "old"
		}
	}
	return f
}

// examineKernel looks for the kernel of lmmc guest, which is no tool to ask.
func examineKernel() finding {
	f := finding{Tool: "linux", State: "ok", Need: needTest, Purpose: "the kernel of lmmc guest"}
	var err error
	if f.Found, err = guest.KernelVersion(); err != nil {
		f.State, f.Fix = "missing", "scripts/deps test, or set "+guest.KernelVariable+" to a folder with boot/vmlinuz-VERSION and lib/modules/VERSION"
	}
	return f
}

// install is the command that installs Debian packages.
func install(packages ...string) string {
	return sudo("apt-get install -y " + strings.Join(packages, " "))
}

func sudo(command string) string {
	if os.Geteuid() == 0 {
		return command
	}
	return "sudo " + command
}

func doctorCommand(c contents) *cli.Command {
	return &cli.Command{
		Name:        "doctor",
		Usage:       "check the tools and boards of this machine, and print the command that fixes each problem",
		Description: "The exit code is 0 if everything that lmmc sim needs is installed, and 1 otherwise.",
		Flags:       []cli.Flag{jsonFlag},
		Action:      func(ctx *cli.Context) error { return doctor(ctx, c) },
	}
}

func doctor(ctx *cli.Context, c contents) error {
	var findings []finding
	var packages, broken []string
	for _, t := range tools() {
		f := examine(ctx.Context, t)
		try.OK(ctx.Context.Err())
		findings = append(findings, f)
		if f.pkg != "" && !slices.Contains(packages, f.pkg) {
			packages = append(packages, f.pkg)
		}
		if f.State != "ok" && f.Need == needSim {
			broken = append(broken, f.Tool)
		}
	}
	findings = append(findings, examineKernel())
	boards, err := lookForBoards(c.machine, c.boards)
	if err != nil && !errors.Is(err, plugged.ErrNoUSB) {
		return err
	}
	document := map[string]any{"ready": broken == nil, "tools": findings, "boards": boards}
	try.OK(show(ctx, document, func(b *strings.Builder, _ map[string]any) { writeFindings(b, findings, packages, boards) }))
	if broken != nil {
		return fmt.Errorf("lmmc sim cannot run without %s", strings.Join(broken, ", "))
	}
	return nil
}

func writeFindings(b *strings.Builder, findings []finding, packages []string, boards []pluggedIn) {
	t := table{names: []string{"tool", "state", "found", "at least", "for", "needed by", "fix"}}
	well := true
	for _, f := range findings {
		needed := f.Need
		switch needed {
		case needSim:
			needed = "sim, test"
		case needNot:
			needed = "-"
		}
		well = well && f.State == "ok"
		t.add(f.Tool, f.State, orDash(f.Found), orDash(f.Minimum), f.Purpose, needed, f.Fix)
	}
	t.write(b)
	if len(boards) > 0 {
		writePlugged(b, boards, nil)
	}
	for _, board := range boards {
		well = well && board.Fix == ""
	}
	switch {
	case well:
		b.WriteString("\nnothing is missing\n")
	case packages != nil:
		fmt.Fprintf(b, "\ninstall all: %s && %s\n", sudo("apt-get update"), install(packages...))
	}
}

func orDash(s string) string { return cmp.Or(s, "-") }
