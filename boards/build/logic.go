package build

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cache"
	"github.com/stafflink/lmmc/testbench/synth"
)

// Logic turns a bitstream back into the logic that its bits set up, and returns a file of Verilog as Netlist.Verilog does: module top, with
// the ports where the configuration has them. Nothing of what the bitstream was made from takes part but the names of the pins.
func Logic(ctx context.Context, c *boards.Config, bitstream []byte) (file string, err error) {
	err = try.Run(func() {
		try.OK(synth.Need("icepack", "icebox_vlog"))
		tools := []string{string(try.Get(synth.Version(ctx, "yosys"))), try.Get(synth.Digest("icepack")), try.Get(synth.Digest("icebox_vlog", "icebox.py", "iceboxdb.py"))}
		key := cache.Key("logic", format, tools, bitstream, pinFile(c), c.Board.FPGA)
		dir, err := cache.Folder(ctx, area, key, func(dir string) error {
			return try.Run(func() { logic(ctx, c, bitstream, dir) })
		})
		try.Wrap(err, "build: a bitstream for %s as logic", c)
		file = filepath.Join(dir, netlistV)
	})
	return file, err
}

func logic(ctx context.Context, c *boards.Config, bitstream []byte, dir string) {
	for name, text := range map[string][]byte{BitstreamName: bitstream, pinsAs: pinFile(c), "cells.v": try.Get(synth.CellModels("ice40"))} {
		try.OK(os.WriteFile(filepath.Join(dir, name), text, 0o666))
	}
	try.Get(synth.Tool(ctx, dir, "icepack", "-u", BitstreamName, asciiAs))
	text := try.Get(synth.Tool(ctx, dir, "icebox_vlog", "-s", "-l", "-c", "-d", c.Board.FPGA.Package, "-p", pinsAs, "-n", boards.Top, asciiAs))
	if !bytes.Contains(text, []byte("module "+boards.Top)) {
		try.Failf("no module in the output of icebox_vlog")
	}
	try.OK(os.WriteFile(filepath.Join(dir, "chip.v"), try.Get(joinPLL(c, text)), 0o666))
	// icebox_vlog declares ports twice, which Verilator refuses; yosys reads it and writes it again.
	try.Get(synth.Tool(ctx, dir, "yosys", "-q", "-p", "read_verilog -lib cells.v; read_verilog chip.v; hierarchy -check -top "+boards.Top+
		"; proc; opt_clean; "+plls+"; "+gates+"; write_verilog -noattr "+netlistV))
}

// pllPads are the pins that can be the input of an SB_PLL40_PAD. Source: Project IceStorm, icebox.py, pllinfo_db and pinloc_db.
var pllPads = map[boards.FPGA]string{{Family: "ice40", Device: "up5k", Package: "sg48"}: "35"}

var (
	unmatched  = regexp.MustCompile(`(?m)^// Warning: unmatched port '\\?(.*?) ?'$`)
	packagePin = regexp.MustCompile(`\.PACKAGEPIN\(\w+\)`)
)

// joinPLL joins the port at a PLL's pad to the PLL that the bitstream sets up to take its clock from there: icebox_vlog leaves that input open. It
// only warns of such a port, and of one at a pin that the bitstream does not use, which is an error but for the links' inputs
// of a configuration that does without.
func joinPLL(c *boards.Config, chip []byte) ([]byte, error) {
	for _, found := range unmatched.FindAllSubmatch(chip, -1) {
		port := string(found[1])
		if c.Loop && strings.HasPrefix(port, "link_rx") {
			continue
		}
		pin := c.Wiring()[port]
		if pin != pllPads[c.Board.FPGA] || len(packagePin.FindAll(chip, 2)) != 1 {
			return nil, fmt.Errorf("pin %s, port %s of %s, is unused: check that board.toml has the pins of the bitstream", pin, port, c)
		}
		chip = packagePin.ReplaceAll(chip, []byte(".PACKAGEPIN("+port+")"))
	}
	return chip, nil
}
