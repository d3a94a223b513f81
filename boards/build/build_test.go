package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/synth"
)

// small is a board with a small wrapper, which is built in seconds.
func small(t *testing.T, config string) *boards.Config {
	t.Helper()
	t.Setenv("LMMC_CACHE", t.TempDir())
	all := check.Must(boards.LoadAll(os.DirFS("testdata")))(t)
	return check.Must(boards.Find(all, "small/"+config))(t)
}

func built(t *testing.T, c *boards.Config, seeds int) (*Built, []byte) {
	t.Helper()
	b := check.Must(Build(t.Context(), c, Options{Seeds: seeds}))(t)
	return b, check.Must(os.ReadFile(b.Bitstream()))(t)
}

// another puts a tool in the place of the installed one, which fails.
func another(t *testing.T, tool string) {
	dir := t.TempDir()
	check.Fatal(t, os.WriteFile(filepath.Join(dir, tool), []byte("#!/bin/sh\nexit 1\n"), 0o755))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// The same inputs give the same bytes, with a description, and the best seed is kept.
func TestBuild(t *testing.T) {
	c := small(t, "slow")
	b, first := built(t, c, 3)
	file := check.Must(bitstream.Read(first))(t)
	want := c.Info()
	if diff := cmp.Diff(&want, file.Info); diff != "" || file.Device != bitstream.Die("hx1k") {
		t.Errorf("device %s, %s", file.Device, diff)
	}
	if len(b.Runs) != 3 || b.Logic.Of != 1280 || b.Logic.Used < 48 || b.Memories != (synth.Use{Used: 1, Of: 16}) || b.Cells["SB_RAM40_4K"] != 1 {
		t.Errorf("%+v", b.Report)
	}
	for _, run := range b.Runs {
		if run.MHz > b.BestRun().MHz || len(run.Critical) == 0 || run.Critical[0].Signal == "" || strings.Contains(run.Critical[0].Signal, "_SB_") {
			t.Errorf("%+v, and the best is %d", run, b.Best)
		}
	}
	// A second time the tools need not run; in another cache they do.
	path := os.Getenv("PATH")
	empty := t.TempDir()
	for _, tool := range []string{"yosys", "nextpnr-ice40"} {
		text := "#!/bin/sh\nexit 1\n"
		switch tool {
		case "yosys":
			text = "#!/bin/sh\n[ \"$*\" = -V ] && PATH=" + path + " exec yosys -V; exit 1\n"
		case "nextpnr-ice40":
			text = "#!/bin/sh\n[ \"$*\" = --version ] && PATH=" + path + " exec nextpnr-ice40 --version; exit 1\n"
		}
		check.Fatal(t, os.WriteFile(filepath.Join(empty, tool), []byte(text), 0o755))
	}
	t.Setenv("PATH", empty+string(filepath.ListSeparator)+path)
	if _, again := built(t, c, 3); !bytes.Equal(again, first) {
		t.Error("what is in the cache differs")
	}
	// Fewer seeds reuse the placements in the cache.
	if fewer, _ := built(t, c, 2); !cmp.Equal(fewer.Runs, b.Runs[:2]) {
		t.Errorf("two of three seeds: %+v", fewer.Runs)
	}
	// icepack tells no version; another one makes the bitstream anew.
	another(t, "icepack")
	check.Fails(t, "with another icepack", check.Err(Build(t.Context(), c, Options{Seeds: 3})), synth.ErrDesign)
	t.Setenv("PATH", empty+string(filepath.ListSeparator)+path)
	check.Fails(t, "a fourth seed, with a placer that fails", check.Err(Build(t.Context(), c, Options{Seeds: 4})), synth.ErrDesign)
	t.Setenv("LMMC_CACHE", t.TempDir())
	check.Fails(t, "with tools that fail", check.Err(Build(t.Context(), c, Options{Seeds: 3})), synth.ErrDesign)
	t.Setenv("PATH", path)
	if _, again := built(t, c, 3); !bytes.Equal(again, first) {
		t.Error("a second build of the same has other bytes")
	}

	dir := filepath.Join(t.TempDir(), "to")
	check.Fatal(t, b.CopyTo(dir))
	for _, name := range []string{BitstreamName, asciiAs, pinsAs, reportAs, netlistJSON, netlistV, "nextpnr.log"} {
		check.Must(os.Stat(filepath.Join(dir, name)))(t)
	}
}

func TestBuildFails(t *testing.T) {
	c := small(t, "fast")
	b, err := Build(t.Context(), c, Options{Seeds: 1})
	if !errors.Is(err, ErrTiming) || b == nil || b.Met() || !strings.Contains(err.Error(), "mhz = 264") {
		t.Fatalf("a clock of 264 MHz: %v", err)
	}
	data := check.Must(os.ReadFile(b.Bitstream()))(t)
	file, err := bitstream.Read(data)
	if err != nil || file.Info.Params[bitstream.Reached] != fmt.Sprintf("%.1f", b.BestRun().MHz) || b.Params[bitstream.Reached] != "" {
		t.Errorf("the bitstream says %+v, %v", file, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Fails(t, "cancelled", check.Err(Build(ctx, c, Options{Seeds: 2})), context.Canceled)
	c.Board.Pins["led"] = boards.Balls{"98", "97"}
	check.Fails(t, "a port without a pin", check.Err(Build(t.Context(), c, Options{Seeds: 1})), boards.ErrBoard, "pins.led has 2 pins, and the port of top.v has 3 bits")
	c.Board.Pins["lamp"] = boards.Balls{"99"}
	check.Fails(t, "a pin without a port", check.Err(Build(t.Context(), c, Options{Seeds: 1})), boards.ErrBoard, "pins.lamp: top.v has no port of this name; it has clk, ")
	delete(c.Board.Pins, "lamp")
	c.Board.Pins["led"] = boards.Balls{"98", "97", "Z9"}
	check.Fails(t, "a pin that the package does not have", check.Err(Build(t.Context(), c, Options{Seeds: 1})), boards.ErrBoard, "'Z9'")
	t.Setenv("PATH", t.TempDir())
	check.Fails(t, "without tools", check.Err(Build(t.Context(), c, Options{})), synth.ErrTool, "apt install")
}

// Parts add up to the whole, and are where instances are; a parameter that is doubled costs something.
func TestArea(t *testing.T) {
	c := small(t, "slow")
	n := check.Must(Synthesise(t.Context(), c))(t)
	all := n.Area()
	if all.LUTs != n.Cells["SB_LUT4"] || all.LUTs == 0 || all.FlipFlops == 0 || all.Memories != 1 {
		t.Errorf("%+v of %v", all, n.Cells)
	}
	for depth, want := range []int{1, 2} {
		parts := check.Must(n.Parts(depth))(t)
		sum := Area{}
		for _, p := range parts {
			sum.LUTs, sum.FlipFlops = sum.LUTs+p.LUTs, sum.FlipFlops+p.FlipFlops
			sum.Carries, sum.Memories = sum.Carries+p.Carries, sum.Memories+p.Memories
		}
		if sum != all || len(parts) < want {
			t.Errorf("depth %d: %+v, want %+v in all", depth, parts, all)
		}
		if last := parts[len(parts)-1]; depth > 0 && (last.Name != "u_late" || last.FlipFlops < 4) {
			t.Errorf("u_late has five flip-flops, one of them called by the port: %+v", parts)
		}
	}
	costs := check.Must(Costs(t.Context(), c, func(int, int) {}))(t)
	check.Equal(t, "the configuration itself", costs[0], Variant{Area: all})
	for _, v := range costs[1:] {
		if more := v.FlipFlops - all.FlipFlops; strings.HasPrefix(v.Change, "oversample 5 -> 8") != (more == 3) || more != 0 && more != 3 {
			t.Errorf("%s: %d flip-flops more", v.Change, more)
		}
	}
}

// A bitstream turned back into logic has the ports and the memory of what was built, and one bit more or less in it shows.
func TestLogic(t *testing.T) {
	c := small(t, "slow")
	_, data := built(t, c, 3)
	first := check.Must(Logic(t.Context(), c, data))(t)
	text := check.Must(os.ReadFile(first))(t)
	check.Contains(t, "logic", string(text), "module top(", "input host_rx", "output [2:0] led", "lmmc_pll_core", "SB_RAM40_4K")
	check.Fails(t, "half a bitstream", check.Err(Logic(t.Context(), c, data[:len(data)/2])), synth.ErrDesign)
	path := os.Getenv("PATH")
	for _, tool := range []string{"icepack", "icebox_vlog"} {
		check.Equal(t, "logic in the cache", check.Must(Logic(t.Context(), c, data))(t), first)
		another(t, tool)
		check.Fails(t, "with another "+tool, check.Err(Logic(t.Context(), c, data)), synth.ErrDesign)
		t.Setenv("PATH", path)
	}
}

// A port at the pad of a PLL is joined to the PLL; any other port without logic is an error.
func TestJoinPLL(t *testing.T) {
	const pll, warning = ".PACKAGEPIN(n5),", "// Warning: unmatched port 'clk'\n"
	const noLink = "// Warning: unmatched port '\\link_rx '\n"
	up5k := boards.FPGA{Family: "ice40", Device: "up5k", Package: "sg48"}
	for name, one := range map[string]struct {
		fpga       boards.FPGA
		pin        string
		chip, want string // none is an error
	}{
		"pad":          {up5k, "35", pll + "\n" + warning, ".PACKAGEPIN(clk),\n" + warning},
		"matched":      {up5k, "20", pll, pll},
		"other pin":    {up5k, "20", pll + "\n" + warning, ""},
		"other chip":   {boards.FPGA{Family: "ice40", Device: "hx8k", Package: "ct256"}, "35", pll + "\n" + warning, ""},
		"no PLL there": {up5k, "35", ".REFERENCECLK(n5),\n" + warning, ""},
		"loop":         {up5k, "35", noLink, noLink},
		"no loop":      {up5k, "35", noLink, ""},
		"other port":   {up5k, "35", pll + "\n" + warning + "// Warning: unmatched port '\\led[1] '\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := &boards.Config{Board: &boards.Board{FPGA: one.fpga, Pins: map[string]boards.Balls{"clk": {one.pin}, "led": {"11", "37"}}}}
			c.Loop = name == "loop"
			got, err := joinPLL(c, []byte(one.chip))
			if string(got) != one.want || (err == nil) != (one.want != "") {
				t.Errorf("%q, %v", got, err)
			}
			if name == "other port" && !strings.Contains(fmt.Sprint(err), "pin 37, port led[1]") {
				t.Error(err)
			}
		})
	}
}
