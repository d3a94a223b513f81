package sim

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/boards/build"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/conformance"
	"github.com/stafflink/lmmc/verilator"
)

// short are cases that take seconds: identity, registers, traffic by the link and by the cable, a frame that is closed. make gates runs all.
const short = "identity/fields|identity/mismatch|identity/cables|registers/frame-table|registers/counters|buffer/range|protection/closed"

func conforms(t *testing.T, target string) {
	t.Helper()
	r := check.Must(conformance.Execute(t.Context(), target, conformance.Options{Filter: short}))(t)
	for _, x := range r.Results {
		if x.Verdict == conformance.Fail {
			t.Errorf("%s: %s\nagain: %s", x.Name, x.Reason, x.Again)
		}
	}
	if want := strings.Count(short, "|") + 1; r.Count(conformance.Pass) != want {
		t.Errorf("%d cases passed, want %d", r.Count(conformance.Pass), want)
	}
}

// built builds a configuration, which must reach its clock with one of the placer's first two seeds: both are tried if the given one does not.
func built(t *testing.T, name string, seed int) (*boards.Config, []byte, *build.Built) {
	t.Helper()
	c := check.Must(boards.Named(name))(t)
	b, err := build.Build(t.Context(), c, build.Options{First: seed, Seeds: 1})
	if errors.Is(err, build.ErrTiming) {
		b, err = build.Build(t.Context(), c, build.Options{Seeds: 2})
	}
	check.Fatal(t, err)
	blocks := 0
	for _, m := range c.Memories() {
		blocks += m.Blocks
	}
	check.Equal(t, "block memories for which board.toml was checked", blocks, b.Memories.Used)
	data := check.Must(os.ReadFile(b.Bitstream()))(t)
	return c, data, b
}

// The netlist and the bitstream's logic conform at the pins, and one wrong bit in used logic is detected.
func TestConformance(t *testing.T) {
	c, data, b := built(t, "hx8k/one-link", 2)
	t.Run("gates", func(t *testing.T) { conforms(t, "gates:"+c.String()) })
	t.Run("bits", func(t *testing.T) { conforms(t, "bits:"+b.Bitstream()) })
	t.Run("flipped", func(t *testing.T) {
		for _, one := range []struct {
			data []byte
			how  verilator.Optimize
			want error
		}{
			{data, verilator.Full, nil}, // as bits: has compiled it
			{flip(t, c, data), verilator.Quick, hostdrv.ErrSilent},
		} {
			const timeout = 2 * time.Millisecond // of the target's: 2,400 bytes on its UART
			n, err := hostdrv.New(t.Context(), openBitstream(t, c, one.data, one.how), hostdrv.Options{Hash: rtl.Hash(), Seed: 1, LinkTimeout: timeout})
			if err == nil {
				err = n.Close()
			}
			if !errors.Is(err, one.want) {
				t.Errorf("%v, want %v", err, one.want)
			}
		}
	})
}

// The iCEBreaker's bitstream reaches its clock, which its PLL takes from a pad, and works at the pins.
func TestIceBreaker(t *testing.T) {
	c, data, _ := built(t, "icebreaker/one-link", 1)
	works(t, c, openBitstream(t, c, data, verilator.Quick))
}

func openBitstream(t *testing.T, c *boards.Config, data []byte, how verilator.Optimize) hostdrv.Transport {
	t.Helper()
	d := check.Must(Bits(t.Context(), c, data))(t)
	d.Optimize = how
	return check.Must(options{latency: 1, seed: 1}.open(t.Context(), c, d))(t)
}

var hostTx = regexp.MustCompile(`/\* FF +(\d+) +(\d+) +(\d+) \*/ .*\bhost_tx <= `)

// flip returns a bitstream with one bit changed: in the look-up table before the flip-flop that is host_tx, what comes out when all that goes
// in is zero.
func flip(t *testing.T, c *boards.Config, data []byte) []byte {
	t.Helper()
	logic := check.Must(build.Logic(t.Context(), c, data))(t)
	chip := check.Must(os.ReadFile(filepath.Join(filepath.Dir(logic), "chip.v")))(t)
	at := hostTx.FindStringSubmatch(string(chip))
	if at == nil {
		t.Fatal("no flip-flop is host_tx")
	}
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
	}
	check.Fatal(t, os.WriteFile(filepath.Join(dir, "right.bin"), data, 0o666))
	run("icepack", "-u", "right.bin", "right.asc")
	text := check.Must(os.ReadFile(filepath.Join(dir, "right.asc")))(t)
	// A logic tile is 16 lines of 54 bits, two for each of its cells. The cell's own begin at the 36th, that of input 0 is the fifth of them.
	// Source: Project IceStorm, logic tile documentation.
	const width, bit = 54, 36 + 4
	var cell int
	fmt.Sscan(at[3], &cell)
	header := fmt.Sprintf(".logic_tile %s %s\n", at[1], at[2])
	start := strings.Index(string(text), header)
	if start < 0 {
		t.Fatalf("no %q in the bitstream", header)
	}
	text[start+len(header)+2*cell*(width+1)+bit] ^= '0' ^ '1'
	check.Fatal(t, os.WriteFile(filepath.Join(dir, "wrong.asc"), text, 0o666))
	run("icepack", "wrong.asc", "wrong.bin")
	return check.Must(os.ReadFile(filepath.Join(dir, "wrong.bin")))(t)
}
