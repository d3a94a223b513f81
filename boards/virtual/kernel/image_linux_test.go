package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/bitstream/bitstreamtest"
	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/conformance"
	"github.com/stafflink/lmmc/testbench/guest"
	"github.com/stafflink/lmmc/testbench/rtlsim"
	"github.com/stafflink/lmmc/verilator"
)

// imageOf describes an image for a board: the RTL, with other parameters than fpga. Its clock is the slowest that its
// UART works with, since a guest takes some ten times as long for each clock as the machine does.
func imageOf(board, device string) bitstream.Info {
	return bitstream.Info{Board: board, Device: device, Hash: rtl.Hash(),
		Params: map[string]string{"links": "1", "frames": "4", "mhz": "1.8432", "baud": "460800", bitstream.Protocol: "3"}}
}

// carryRTL puts the compiled model of the board's image into the guest's cache. Without tools the tests skip.
func carryRTL(c *guest.Config) error {
	info := imageOf("hx8k", "hx8k")
	target, err := virtual.Target(&info)
	if err != nil {
		return err
	}
	design, err := rtlsim.Design(target)
	if err != nil {
		return err
	}
	library, err := verilator.Build(context.Background(), design)
	if errors.Is(err, verilator.ErrTool) {
		return nil
	}
	if err != nil {
		return err
	}
	cache, err := verilator.CacheDir("")
	c.Files = append(c.Files, library.Files()...)
	c.Env = append(c.Env, "LMMC_CACHE="+cache)
	return err
}

// bitstreams returns files for this board and for another one.
func bitstreams(t *testing.T) (ours, theirs string) {
	t.Helper()
	needs(t, "icepack", "iceunpack", "verilator", "g++")
	file := func(board, device string) string {
		name := filepath.Join(t.TempDir(), board+".bin")
		data := bitstreamtest.Pack(t, bitstream.Die(device), imageOf(board, device).Comment(), nil)
		check.Fatal(t, os.WriteFile(name, data, 0o600))
		return name
	}
	return file("hx8k", "hx8k"), file("icebreaker", "up5k")
}

// decode decodes a command's JSON output.
func decode(t *testing.T, answer any, args ...string) {
	t.Helper()
	text, err := lmmc(t, append(args, "--json")...)
	if err == nil {
		err = json.Unmarshal([]byte(text), answer)
	}
	if err != nil {
		t.Fatalf("lmmc %q: %v\n%s", args, err, text)
	}
}

// isUnflashed expects the network interface of fpga.
func isUnflashed(t *testing.T) {
	t.Helper()
	var before struct{ Identity hostdrv.Identity }
	decode(t, &before, "info", serialTarget)
	if id := before.Identity; id.Links != 2 || id.Frames != 8 {
		t.Fatalf("before the board is flashed it has %d links and %d frames, not those of %s", id.Links, id.Frames, fpga)
	}
}

// conforms expects the image's network interface, and that it passes the cases.
func conforms(t *testing.T, cases ...string) {
	t.Helper()
	var report conformance.Report
	decode(t, &report, "conform", serialTarget, "--run", "^("+strings.Join(cases, "|")+")$")
	if id := report.Identity; id.Hash != rtl.Hash() || id.Links != 1 || id.Frames != 4 {
		t.Errorf("what was flashed has RTL %016x, %d links and %d frames; its image has %016x, 1 and 4", id.Hash, id.Links, id.Frames, rtl.Hash())
	}
	var passed []string
	for _, x := range report.Results {
		t.Logf("%-24s %6.3f s  %s  %s", x.Name, x.Seconds, x.Verdict, x.Reason)
		if x.Verdict == conformance.Pass {
			passed = append(passed, x.Name)
		}
	}
	check.Equal(t, "cases passed", passed, cases)
}
