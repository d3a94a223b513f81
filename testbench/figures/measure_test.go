package figures

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/suite"
	"github.com/stafflink/lmmc/verilator"
)

func fixed(name string, value float64, better Better, must, aim float64) Figure {
	return Figure{Name: name, Must: &must, Aim: &aim, Better: better, Measure: func(context.Context) (Measurement, error) {
		return Measurement{Value: value}, nil
	}}
}

func TestMeasureJudges(t *testing.T) {
	for _, test := range []struct {
		value     float64
		better    Better
		must, aim float64
		meetsMust bool
		meetsAim  bool
	}{
		{0.9, Higher, 0.9, 1.0, true, false},
		{1.0, Higher, 0.9, 1.0, true, true},
		{0.8, "", 0.9, 1.0, false, false},
		{64, Lower, 64, 40, true, false},
		{40, Lower, 64, 40, true, true},
		{65, Lower, 64, 40, false, false},
	} {
		all := check.Must(Measure(t.Context(), []Figure{fixed("f", test.value, test.better, test.must, test.aim)}, nil))(t)
		what := fmt.Sprintf("%v (%s is better) with must %v and aim %v", test.value, test.better, test.must, test.aim)
		check.Equal(t, what, [2]bool{all[0].MeetsMust(), all[0].MeetsAim()}, [2]bool{test.meetsMust, test.meetsAim})
	}
}

func TestMeasureGoesOnAfterAnError(t *testing.T) {
	bad := func(f func() (Measurement, error)) Figure {
		return Figure{Name: "bad", Measure: func(context.Context) (Measurement, error) { return f() }}
	}
	half, tenth := 0.5, 0.1
	called := 0
	all, err := Measure(t.Context(), []Figure{
		bad(func() (Measurement, error) { return Measurement{}, errors.New("no") }),
		bad(func() (Measurement, error) { panic("no") }),
		bad(func() (Measurement, error) { return Measurement{Value: math.NaN()}, nil }),
		{Name: "skipped", Must: &half, Measure: func(context.Context) (Measurement, error) {
			return Measurement{}, fmt.Errorf("%w: no such program", ErrSkip)
		}},
		{Name: "good", Baseline: &half, Measure: func(context.Context) (Measurement, error) {
			return Measurement{Value: 2, Baseline: &tenth, Note: "twice"}, nil
		}},
	}, func(Measured) { called++ })
	if err != nil || len(all) != 5 || called != 5 {
		t.Fatalf("%d measured, %d calls, error %v", len(all), called, err)
	}
	for _, m := range all[:3] {
		if m.Err == nil || m.MeetsMust() || m.MeetsAim() {
			t.Errorf("%+v passes", m)
		}
	}
	if m := all[3]; !m.MeetsMust() || m.Verdict() != Skipped {
		t.Errorf("%+v", m)
	}
	if m := all[4]; !m.MeetsMust() || m.Value != 2 || *m.Baseline != tenth || m.Note != "twice" {
		t.Errorf("%+v", m)
	}
}

func TestMeasureEndsEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	good := fixed("good", 1, Higher, 0, 0)
	good.Timed = true
	stops := Figure{Name: "stops", Timed: true, Measure: func(ctx context.Context) (Measurement, error) {
		cancel()
		return Measurement{}, fmt.Errorf("run: %w", ctx.Err())
	}}
	all, err := Measure(ctx, []Figure{good, stops, good}, nil)
	check.Fails(t, "cancelled", err, context.Canceled)
	check.Equal(t, "measured", len(all), 1)

	without := Figure{Name: "without", Timed: true, Measure: func(context.Context) (Measurement, error) {
		return Measurement{}, fmt.Errorf("build: %w", verilator.ErrTool)
	}}
	all, err = Measure(t.Context(), []Figure{good, without, good}, nil)
	check.Fails(t, "without a tool", err, verilator.ErrTool)
	check.Equal(t, "measured", len(all), 1)
}

// Figures that a busy machine cannot spoil are taken before the others, two at a time, and come out in their order all the same.
func TestMeasureTogether(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("one CPU")
	}
	first, second := make(chan struct{}), make(chan struct{})
	meet := func(name string, mine, other chan struct{}) Figure {
		return Figure{Name: name, Measure: func(ctx context.Context) (Measurement, error) {
			close(mine)
			select {
			case <-other:
			case <-ctx.Done():
			}
			return Measurement{Value: 1}, nil
		}}
	}
	timed, alone := fixed("timed", 3, Higher, 0, 0), fixed("alone", 3, Higher, 0, 0)
	timed.Timed, alone.Alone = true, true
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var ended []string
	all, err := Measure(ctx, []Figure{timed, alone, meet("first", first, second), meet("second", second, first)}, func(m Measured) { ended = append(ended, m.Name) })
	if err != nil {
		t.Fatal(err, "; measured: ", ended)
	}
	check.Equal(t, "the last to end", [2]string(ended[2:]), [2]string{"timed", "alone"})
	check.Equal(t, "names", [4]string{all[0].Name, all[1].Name, all[2].Name, all[3].Name}, [4]string{"timed", "alone", "first", "second"})
}

func TestChoose(t *testing.T) {
	all := []Figure{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	chosen, err := Choose(all, "c", "a")
	if err != nil || len(chosen) != 2 || chosen[0].Name != "c" || chosen[1].Name != "a" {
		t.Errorf("%v, %v", chosen, err)
	}
	if chosen, err := Choose(all); err != nil || len(chosen) != 3 {
		t.Errorf("%v, %v", chosen, err)
	}
	check.Fails(t, "no such figure", check.Err(Choose(all, "a", "d")), suite.ErrOptions)
}

func TestQuick(t *testing.T) {
	if Quick(t.Context()) || !Quick(WithQuick(t.Context())) {
		t.Error("Quick does not say what WithQuick was asked for")
	}
}
