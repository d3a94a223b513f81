// Package baseline is what the Go-driven simulation is measured against: the same two network interfaces under the same load, driven
// by a harness written by hand in C++ and compiled by Verilator's own build.
package baseline

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stafflink/lmmc/testbench/cache"
	"github.com/stafflink/lmmc/verilator"
)

//go:embed harness
var sources embed.FS

// Program is a compiled harness.
type Program struct{ path string }

// Result is what one run of it measured.
type Result struct {
	Cycles  uint64
	Payload float64 // bytes acknowledged, both directions
	Seconds float64 // of CPU time in the clock loop
}

// Build compiles the harness with a design whose top module is ni_direct, or finds it compiled.
func Build(ctx context.Context, d verilator.Design) (*Program, error) {
	files, err := collect(d)
	if err != nil {
		return nil, err
	}
	key := cache.Key("program", files, d.Top, d.Sources, d.Params, d.IncludeDirs)
	home, err := cache.Folder(ctx, "baseline", key, func(dir string) error { return compile(ctx, d, files, dir) })
	return &Program{filepath.Join(home, "obj", "Vni_direct")}, err
}

// compile makes the program in a folder.
func compile(ctx context.Context, d verilator.Design, files map[string][]byte, dir string) error {
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, data, 0o666)); err != nil {
			return err
		}
	}
	args := []string{"--cc", "--exe", "--build", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "-fno-const-bit-op-tree",
		"-Wno-fatal", "-MAKEFLAGS", "OPT_FAST=-O3", "--top-module", d.Top, "--Mdir", "obj"}
	for name, value := range d.Params {
		args = append(args, "-G"+name+"="+value)
	}
	for _, i := range d.IncludeDirs {
		args = append(args, "-I"+i)
	}
	cmd := exec.CommandContext(ctx, "verilator", append(append(args, d.Sources...), "pair.cpp")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("baseline: verilator: %w\n%s", err, tail(out))
	}
	return nil
}

// collect reads the harness and everything the design is made of.
func collect(d verilator.Design) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(d.FS, ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files[path], err = fs.ReadFile(d.FS, path)
		}
		return err
	})
	for _, name := range []string{"pair.cpp", "host.h"} {
		if err == nil {
			files[name], err = sources.ReadFile("harness/" + name)
		}
	}
	return files, err
}

func tail(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}

// Load is what the two hosts do: writes of Payload bytes over a cable of Cable clocks each way, between network interfaces with these
// parameters.
type Load struct{ Payload, PageBytes, ReplayBytes, Cable int }

// Run simulates cycles clocks under a load, by a copy of the program: see Design.Fresh of package verilator.
func (p *Program) Run(ctx context.Context, cycles uint64, l Load) (Result, error) {
	dir, err := os.MkdirTemp(filepath.Dir(p.path), "fresh-*.tmp")
	if err != nil {
		return Result{}, fmt.Errorf("baseline: %w", err)
	}
	defer os.RemoveAll(dir)
	// By another program: while this one has a file open to write, the kernel may refuse to execute it.
	if out, err := exec.CommandContext(ctx, "cp", p.path, dir).CombinedOutput(); err != nil {
		return Result{}, fmt.Errorf("baseline: copying the program: %w\n%s", err, tail(out))
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, filepath.Base(p.path)), fmt.Sprint(cycles), fmt.Sprint(l.Payload), fmt.Sprint(l.PageBytes), fmt.Sprint(l.ReplayBytes),
		fmt.Sprint(l.Cable))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return Result{}, fmt.Errorf("baseline: %w", err)
	}
	var r Result
	if _, err := fmt.Sscan(string(out), &r.Cycles, &r.Payload, &r.Seconds); err != nil {
		return r, fmt.Errorf("baseline: unexpected output %q: %w", out, err)
	}
	return r, nil
}
