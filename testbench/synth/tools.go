package synth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// packages has Debian's package of each program.
var packages = map[string]string{"yosys": "yosys", "nextpnr-ice40": "nextpnr-ice40", "icepack": "fpga-icestorm", "icebox_vlog": "fpga-icestorm"}

// Oldest has the oldest version of a program that will do.
var Oldest = map[string]string{"yosys": "0.23", "nextpnr-ice40": "0.4"}

// versions holds each program's flag for its version, and the form of its answer.
var versions = map[string]struct {
	flag string
	says *regexp.Regexp
}{
	"yosys":         {"-V", regexp.MustCompile(`Yosys (\d+\.\d+)`)},
	"nextpnr-ice40": {"--version", regexp.MustCompile(`Version (?:nextpnr-)?(\d+\.\d+)`)},
}

// Need reports the first missing program, and what to install.
func Need(programs ...string) error {
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: %s is not in PATH; install it: apt install %s", ErrTool, program, packages[program])
		}
	}
	return nil
}

// Version returns the version text of yosys or nextpnr-ice40. A missing tool, or one older than Oldest, is an ErrTool; a build without
// a version number is accepted.
func Version(ctx context.Context, program string) ([]byte, error) {
	if err := Need(program); err != nil {
		return nil, err
	}
	v := versions[program]
	text, err := Tool(ctx, "", program, v.flag)
	if err != nil {
		return nil, err
	}
	if m := v.says.FindSubmatch(text); m != nil && Older(string(m[1]), Oldest[program]) {
		return nil, fmt.Errorf("%w: %s is version %s, and %s or later is needed; install it: apt install %s, or see lmmc doctor",
			ErrTool, program, m[1], Oldest[program], packages[program])
	}
	return text, nil
}

// Digest stands for a program that tells no version, and for the files beside it that it loads.
func Digest(program string, beside ...string) (string, error) {
	if err := Need(program); err != nil {
		return "", err
	}
	path, err := exec.LookPath(program)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range append([]string{filepath.Base(path)}, beside...) {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(path), name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		fmt.Fprintln(sum, name, len(data))
		sum.Write(data)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Older compares versions, numbers with dots between them. None is older than "".
func Older(have, want string) bool {
	if want == "" {
		return false
	}
	h, w := strings.Split(have, "."), strings.Split(want, ".")
	for i := range max(len(h), len(w)) {
		a, b := 0, 0
		if i < len(h) {
			a, _ = strconv.Atoi(h[i])
		}
		if i < len(w) {
			b, _ = strconv.Atoi(w[i])
		}
		if a != b {
			return a < b
		}
	}
	return false
}

// Tool runs a program in dir, "" for the current one, and returns what it printed; a failure wraps ErrDesign and holds the lines in which the
// program says why.
func Tool(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PYTHONHASHSEED=0") // icebox_vlog numbers nets as Python's sets are ordered
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		var said []string
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, "ERROR") || strings.Contains(line, "rror:") {
				said = append(said, strings.TrimSpace(line))
			}
		}
		return out, fmt.Errorf("%w: %s: %w\n%s", ErrDesign, name, err, strings.Join(said, "\n"))
	}
	return out, nil
}

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
