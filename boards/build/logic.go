package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/testbench/cache"
	"github.com/stafflink/lmmc/testbench/synth"
)

// Logic turns a bitstream back into the logic that its bits set up, and returns a file of Verilog as Netlist.Verilog does: module top, with
// the ports where the configuration has them. Nothing of what the bitstream was made from takes part but the names of the pins.
func Logic(ctx context.Context, c *boards.Config, bitstream []byte) (string, error) {
	if err := synth.Need("icepack", "icebox_vlog"); err != nil {
		return "", err
	}
	version, err := synth.Version(ctx, "yosys")
	if err != nil {
		return "", err
	}
	dir, err := cache.Folder(ctx, area, cache.Key("logic", format, version, bitstream, pinFile(c), c.Board.FPGA), func(dir string) error {
		return logic(ctx, c, bitstream, dir)
	})
	if err != nil {
		return "", fmt.Errorf("build: a bitstream for %s as logic: %w", c, err)
	}
	return filepath.Join(dir, netlistV), nil
}

func logic(ctx context.Context, c *boards.Config, bitstream []byte, dir string) error {
	models, err := synth.CellModels("ice40")
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{BitstreamName: bitstream, pinsAs: pinFile(c), "cells.v": models} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), text, 0o666))
	}
	if err != nil {
		return err
	}
	if _, err := synth.Tool(ctx, dir, "icepack", "-u", BitstreamName, asciiAs); err != nil {
		return err
	}
	text, err := synth.Tool(ctx, dir, "icebox_vlog", "-s", "-l", "-c", "-d", c.Board.FPGA.Package, "-p", pinsAs, "-n", boards.Top, asciiAs)
	if err != nil {
		return err
	}
	if !bytes.Contains(text, []byte("module "+boards.Top)) {
		return errors.New("no module in the output of icebox_vlog")
	}
	text, err = joinPLL(c, text)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "chip.v"), text, 0o666); err != nil {
		return err
	}
	// icebox_vlog declares ports twice, which Verilator refuses; yosys reads it and writes it again.
	_, err = synth.Tool(ctx, dir, "yosys", "-q", "-p", "read_verilog -lib cells.v; read_verilog chip.v; hierarchy -check -top "+boards.Top+
		"; proc; opt_clean; "+plls+"; write_verilog -noattr "+netlistV)
	return err
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
