package synth

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// CellModels reads yosys's models of the cells of a family, "ice40", from where yosys looks for them: beside itself.
func CellModels(family string) ([]byte, error) {
	yosys, err := exec.LookPath("yosys")
	if err == nil {
		yosys, err = filepath.EvalSymlinks(yosys)
	}
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(yosys), "..", "share", "yosys", family, "cells_sim.v"))
	if err != nil {
		return nil, fmt.Errorf("%w: yosys without its models of cells: %w", ErrTool, err)
	}
	return text, nil
}
