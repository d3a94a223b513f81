// Package figures holds the figures of lmmc bench that are measured on boards: what their tools make of them, and what a virtual one takes.
package figures

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/boards/build"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/figures"
)

// Synthesis are those that the tools of the boards tell.
var Synthesis = []figures.Figure{
	{Name: "hx8k_mhz", Doc: "clock of board hx8k with one serial link and 4 pages of 1 KB, by its pins: median of 5 placer seeds",
		Unit: "MHz", Must: new(130.0), Aim: new(150.0), Long: true, Measure: ofBuild("hx8k/one-link", clock)},
	{Name: "hx8k_cells", Doc: "the share of the chip's logic cells that the same takes",
		Must: new(0.6), Aim: new(0.4), Better: figures.Lower, Long: true, Measure: ofBuild("hx8k/one-link", cells)},
	{Name: "hx8k_2link_mhz", Doc: "clock of board hx8k with two serial links: median of 5 placer seeds",
		Unit: "MHz", Must: new(115.0), Aim: new(130.0), Long: true, Measure: ofBuild("hx8k/two-link", clock)},
	{Name: "up5k_mhz", Doc: "clock of board icebreaker, an UP5K, with one serial link: median of 5 placer seeds",
		Unit: "MHz", Must: new(36.0), Aim: new(48.0), Long: true, Measure: ofBuild("icebreaker/one-link", clock)},
	{Name: "serial_line_rate", Doc: "bits a second on a serial link of board hx8k at the clock that it is built for",
		Unit: "Mbit/s", Long: true, Measure: lineRate(serialLine)},
	{Name: "host_line_rate", Doc: "bits a second on the host's UART of board hx8k at the clock that it is built for",
		Unit: "Mbit/s", Must: new(3.0), Aim: new(12.0), Long: true, Measure: lineRate(hostLine)},
}

// builtBoard builds a configuration with five seeds. That its clock is missed is no error here.
func builtBoard(ctx context.Context, name string) (*boards.Config, *build.Built, error) {
	c, err := boards.Named(name)
	if err != nil {
		return nil, nil, err
	}
	b, err := build.Build(ctx, c, build.Options{Seeds: 5})
	if errors.Is(err, build.ErrTiming) {
		err = nil
	}
	return c, b, err
}

// ofBuild is a figure of a configuration that has been built.
func ofBuild(name string, measure func(*boards.Config, *build.Built) figures.Measurement) func(context.Context) (figures.Measurement, error) {
	return func(ctx context.Context) (figures.Measurement, error) {
		c, b, err := builtBoard(ctx, name)
		if err != nil {
			return figures.Measurement{}, err
		}
		return measure(c, b), nil
	}
}

func clock(c *boards.Config, b *build.Built) figures.Measurement {
	var clocks []float64
	for _, run := range b.Runs {
		clocks = append(clocks, run.MHz)
	}
	return figures.Measurement{Value: figures.Median(clocks), Note: fmt.Sprintf("%s: %d seeds, %.1f to %.1f MHz, built for %g; %s; %d pages of %d bytes",
		c, len(clocks), slices.Min(clocks), slices.Max(clocks), c.MHz, usedOf(b), c.Frames, c.Page)}
}

func cells(_ *boards.Config, b *build.Built) figures.Measurement {
	return figures.Measurement{Value: float64(b.Logic.Used) / float64(b.Logic.Of), Note: usedOf(b)}
}

func usedOf(b *build.Built) string {
	return fmt.Sprintf("%d of %d logic cells, %d of %d block memories", b.Logic.Used, b.Logic.Of, b.Memories.Used, b.Memories.Of)
}

// lineRate is a figure of a line of board hx8k, whose rate is a fraction of the board's clock: one that place and route has reached.
func lineRate(measure func(*boards.Config) figures.Measurement) func(context.Context) (figures.Measurement, error) {
	return func(ctx context.Context) (figures.Measurement, error) {
		c, b, err := builtBoard(ctx, "hx8k/one-link")
		if err == nil && !b.Met() {
			err = fmt.Errorf("%s does not reach the clock that it is built for: %.1f of %g MHz", c, b.BestRun().MHz, c.MHz)
		}
		if err != nil {
			return figures.Measurement{}, err
		}
		return measure(c), nil
	}
}

func hostLine(c *boards.Config) figures.Measurement {
	return figures.Measurement{Value: c.MHz / float64(c.Divisor()),
		Note: fmt.Sprintf("%g MHz, %d clocks a bit; go test ./boards/sim -run TestWrappers -v measures what it carries", c.MHz, c.Divisor())}
}

func serialLine(c *boards.Config) figures.Measurement {
	over := c.Params().Oversample
	note := fmt.Sprintf("%g MHz, %d samples a bit", c.MHz, over)
	if margin, known := rtl.Eye[over]; known {
		note += fmt.Sprintf(", edges may be off by %.2f samples either way while the clocks differ by %d ppm", margin*float64(over), rtl.EyePPM)
	}
	return figures.Measurement{Value: c.MHz / float64(over), Note: note}
}
