package virtual

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stafflink/lmmc/internal/nearest"
)

// ErrFault means that a text does not describe a fault.
var ErrFault = errors.New("virtual: no such fault")

// FaultForms lists the forms that ParseFault accepts, a line each.
const FaultForms = `flips=CHANCE  invert each bit on the UART's line with this probability
delay=TIME    delay each USB transfer; 0s ends it
nak=TIME      bulk endpoints answer NAK for TIME
stall         halt the bulk endpoints until the host clears them
unplug=TIME   unplug for TIME; transfers end midway
power         power loss and return
Append @TIME to begin after TIME instead of at once, @every:TIME to repeat, or @write to begin at the next write to the flash.`

// Fault is an injected fault of a board, and when.
type Fault struct {
	text  string
	do    func(context.Context, *Board)
	at    time.Duration
	every time.Duration // 0 for once
	write bool          // when the flash is being written
}

func (f Fault) String() string { return f.text }

// ParseFault reads a fault, such as "flips=1e-5" or "nak=20ms@every:1s". Errors wrap ErrFault.
func ParseFault(text string) (Fault, error) {
	f := Fault{text: text}
	what, when, timed := strings.Cut(text, "@")
	name, value, _ := strings.Cut(what, "=")
	kind, known := faultKinds[name]
	if !known {
		names := slices.Sorted(maps.Keys(faultKinds))
		return f, fmt.Errorf("%w: %q%s; there are %s", ErrFault, text, nearest.Hint(name, names), strings.Join(names, ", "))
	}
	do, err := kind(value)
	if err != nil {
		return f, fmt.Errorf("%w: %q: %w", ErrFault, text, err)
	}
	f.do = do
	switch often, periodic := strings.CutPrefix(when, "every:"); {
	case !timed:
	case when == "write":
		f.write = true
	case periodic:
		f.every, err = duration(often)
		f.at = f.every
	default:
		f.at, err = duration(when)
	}
	if err != nil {
		return f, fmt.Errorf("%w: %q: when: %w", ErrFault, text, err)
	}
	return f, nil
}

// faultKinds make what a fault does of its value.
var faultKinds = map[string]func(value string) (func(context.Context, *Board), error){
	"flips": func(value string) (func(context.Context, *Board), error) {
		chance, err := strconv.ParseFloat(value, 64)
		if err != nil || !(chance >= 0) || chance > 1 {
			return nil, fmt.Errorf("want a chance from 0 to 1 behind flips=")
		}
		return func(_ context.Context, b *Board) { b.SetBitErrors(chance) }, nil
	},
	"delay": func(value string) (func(context.Context, *Board), error) {
		delay, err := time.ParseDuration(value)
		if err == nil && delay != 0 {
			delay, err = duration(value)
		}
		if err != nil {
			return nil, errors.New("want a time such as 20ms, or 0s, behind delay=")
		}
		return func(_ context.Context, b *Board) { b.Device().SetDelay(delay) }, nil
	},
	"nak": timed(func(_ context.Context, b *Board, long time.Duration) { b.Device().AnswerNAK(long) }),
	"unplug": timed(func(ctx context.Context, b *Board, long time.Duration) {
		b.Device().Unplug()
		sleep(ctx, long)
		b.Device().Plug()
	}),
	"stall": plain(func(b *Board) {
		for _, address := range b.Device().Endpoints() {
			b.Device().Halt(address)
		}
	}),
	"power": plain((*Board).PowerCycle),
}

func timed(do func(context.Context, *Board, time.Duration)) func(string) (func(context.Context, *Board), error) {
	return func(value string) (func(context.Context, *Board), error) {
		long, err := duration(value)
		return func(ctx context.Context, b *Board) { do(ctx, b, long) }, err
	}
}

func plain(do func(*Board)) func(string) (func(context.Context, *Board), error) {
	return func(value string) (func(context.Context, *Board), error) {
		if value != "" {
			return nil, errors.New("it takes no value")
		}
		return func(_ context.Context, b *Board) { do(b) }, nil
	}
}

// duration is a time above 0.
func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > math.MaxInt64/2 {
		return 0, fmt.Errorf("%q: want a time such as 20ms", text)
	}
	return d, nil
}

// sleep waits, or until ctx ends; then it returns false.
func sleep(ctx context.Context, long time.Duration) bool {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// InjectFaults injects faults until ctx ends or all have happened. Their times count from now.
func (b *Board) InjectFaults(ctx context.Context, faults []Fault) {
	var group sync.WaitGroup
	defer group.Wait()
	for _, f := range faults {
		if f.at == 0 && !f.write { // now, in their order
			b.suffer(ctx, f)
			continue
		}
		group.Go(func() {
			for due := b.due(ctx, f); due; due = f.every > 0 && sleep(ctx, f.every) {
				b.suffer(ctx, f)
			}
		})
	}
}

// due waits for a fault's time; false means that ctx has ended.
func (b *Board) due(ctx context.Context, f Fault) bool {
	if !f.write {
		return sleep(ctx, f.at)
	}
	select {
	case <-b.nextWrite():
		return true
	case <-ctx.Done():
		return false
	}
}

func (b *Board) suffer(ctx context.Context, f Fault) {
	b.config.Log.Info("fault", "what", f.text)
	f.do(ctx, b)
}
