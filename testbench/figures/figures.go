// Package figures measures the network interface, its simulation and its driver.
//
// A Figure is one measured number with what it must and should reach; Measure takes those that are a matter of seconds one after the other, so that
// none disturbs another. The command lmmc prints them; nothing here prints.
package figures

import (
	"context"
	"slices"

	"github.com/stafflink/lmmc/internal/try"
)

// Better says which way a figure improves.
type Better string

const (
	Higher Better = "higher"
	Lower  Better = "lower"
)

// Figure is one measured number of lmmc bench.
type Figure struct {
	// Name is made of lower-case letters, digits and underscores; no two are equal.
	Name string
	// Doc says in one line what is measured.
	Doc string
	// Unit is what Value counts, for example "cycles"; "" for a fraction.
	Unit string
	// Must is the worst value that passes, Aim the one worked for, Baseline what it is compared with; nil for none.
	Must, Aim, Baseline *float64
	// Published is what others have published of the like, with its name; "" for nothing.
	Published string
	// Better is Higher unless set.
	Better Better
	// Timed says that the value is a matter of seconds, so that a busy machine can spoil it.
	Timed bool
	// Alone says that it counts what the whole process does, as allocations, so that no other figure may be taken beside it.
	Alone bool
	// Long says that it takes longer than others, up to many minutes, or RTL of its own, as networks do: a quick run leaves it out unless it is named.
	Long bool
	// Measure takes the measurement.
	Measure func(ctx context.Context) (Measurement, error)
}

// Measurement is what a Figure's Measure found.
type Measurement struct {
	Value    float64
	Baseline *float64 // measured in the same run; nil means Figure.Baseline
	Note     string   // how it came about, in a few words
}

// steps is a measurement that package try ends at its first error.
func steps(measure func(context.Context) Measurement) func(context.Context) (Measurement, error) {
	return func(ctx context.Context) (m Measurement, err error) {
		err = try.Run(func() { m = measure(ctx) })
		return m, err
	}
}

// Modules are the figures of the network interface and its simulation, in the order in which they are measured.
func Modules() []Figure {
	return slices.Concat(wireFigures, trunkFigures, idleFigures, hopFigures, faultFigures, speedFigures, busFigures, mutantFigures)
}

// Systems are those of an NI with its driver and tools, in the order in which they are measured.
func Systems() []Figure {
	return slices.Concat(cableFigures, conformFigures, driverFigures, messageFigures, socketFigures, barrierFigures, networkFigures, scaleFigures, guestFigures, servedFigures, slurmFigures, synthFigures, barrierCellFigures, checkoutFigures)
}
