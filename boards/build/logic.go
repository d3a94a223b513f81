package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/testbench/synth"
)

// Logic turns a bitstream back into the logic that its bits set up, and returns a file of Verilog as Netlist.Verilog does: module top, with
// the ports where the configuration has them. Nothing of what the bitstream was made from takes part but the names of the pins.
func Logic(ctx context.Context, c *boards.Config, bitstream []byte) (string, error) {
	if err := synth.Need("icepack", "icebox_vlog", "yosys"); err != nil {
		return "", err
	}
	version, err := synth.Tool(ctx, "", "yosys", "-V")
	if err != nil {
		return "", err
	}
	dir, err := once(ctx, hash("logic", format, version, bitstream, pinFile(c), c.Board.FPGA), func(dir string) error {
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
		return errors.New("icebox_vlog made no module of it")
	}
	// It only warns of a port that nothing in the chip is joined to, as of the pad of an UP5K's PLL, which it does not know.
	if _, port, found := bytes.Cut(text, []byte("// Warning: unmatched port '")); found {
		port, _, _ = bytes.Cut(port, []byte("'"))
		return fmt.Errorf("icebox_vlog finds nothing at the pin of port %s of a %s: its bitstreams cannot be simulated, gates: simulates the netlist", port, c.Board.FPGA.Device)
	}
	if err := os.WriteFile(filepath.Join(dir, "chip.v"), text, 0o666); err != nil {
		return err
	}
	// icebox_vlog declares ports twice, which Verilator refuses; yosys reads it and writes it again.
	_, err = synth.Tool(ctx, dir, "yosys", "-q", "-p", "read_verilog -lib cells.v; read_verilog chip.v; hierarchy -check -top "+boards.Top+
		"; proc; opt_clean; "+plls+"; write_verilog -noattr "+netlistV)
	return err
}
