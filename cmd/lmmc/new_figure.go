package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/stafflink/lmmc/cmd/lmmc/project"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/figures"
)

var newFigures = []figures.Figure{{
	Name: "kit_new_seconds", Doc: "from lmmc new until make sim has passed in the project, caches warm, median of 3",
	Unit: "s", Must: new(20.0), Aim: new(8.0), Better: figures.Lower, Timed: true, Long: true,
	Measure: func(ctx context.Context) (m figures.Measurement, err error) {
		err = try.Run(func() { m = newSeconds(ctx) })
		return m, err
	},
}}

func newSeconds(ctx context.Context) figures.Measurement {
	once := func() float64 {
		dir := try.Get(os.MkdirTemp("", "lmmc-new-*"))
		defer os.RemoveAll(dir)
		begin := time.Now()
		made := filepath.Join(dir, "kit_new")
		try.Get(project.Write(project.Options{Dir: made, LMMC: checkout()}))
		cmd := exec.CommandContext(ctx, "make", "sim")
		cmd.Dir = made
		out, err := cmd.CombinedOutput()
		try.Wrap(err, "make sim: %s", bytes.TrimSpace(out))
		return time.Since(begin).Seconds()
	}
	first := once()
	times := []float64{once(), once(), once()}
	slices.Sort(times)
	return figures.Measurement{Value: times[1], Note: fmt.Sprintf("the first took %.1f s", first)}
}
