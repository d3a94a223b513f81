package testbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stafflink/lmmc/verilator"
)

// Config says how to open a Bench. The zero value works.
type Config struct {
	// Name is the bench's name in messages and files; "" means the test's name, or the design's Top.
	Name string
	// Seed is what all that is random follows from. With New, 0 means the seed of the command line, or else one
	// that follows from the test's name.
	Seed uint64
	// Clock is the port of the main clock; "" means "clk" if the design has such an input, and else none, in which
	// case the first one given to Bench.Clock is it.
	Clock string
	// Period is the period of the main clock; 0 means 10.
	Period uint64
	// PeriodTime is Period as a time, such as "8ns", for a design with Timing, which counts time in its own unit (verilator.Library.Ticks).
	PeriodTime string
	// Shuffle draws the order of coroutines that are due at the same edge from the seed; otherwise it is the order of
	// their creation.
	Shuffle bool
	// Wave says when the wave of the last stretch is written.
	Wave Wave
	// WaveDir is the folder for it; "" means $LMMC_WAVES, or lmmc-waves in the folder for temporary files.
	WaveDir string
	// WaveScopes are the scopes that waves show, as verilator.Config.Waves; nil means all.
	WaveScopes []string
	// WaveCycles is the least number of cycles that such a wave shows, if as many have passed; 0 means 1000.
	WaveCycles uint64
	// Repeat is the command that runs the same again, for reports; New finds it by itself.
	Repeat string
	// Log receives what the design prints with $display and its kin, and Bench.Logf; nil means that nobody does, and
	// with New the test's log.
	Log io.Writer
	// Watchdog is how long, in wall-clock time, the bench may run without an edge of a clock. Then the program panics and says which coroutine
	// does not return control, or that evaluation of the model does not return. 0 means 30 s with New and no limit with Open; a negative
	// one means no limit.
	Watchdog time.Duration
	// Idle is how many cycles of the main clock may pass while every coroutine that Run waits for waits for an event, a queue, a semaphore or another coroutine, and
	// none goes on. Then Run ends with a TimeoutError of Deadlock. 0 means 10 million. Without observers, watches and background coroutines it ends at once.
	Idle uint64
	// PlusArgs are what $test$plusargs and $value$plusargs of the design see, each beginning with "+".
	PlusArgs []string

	coverage string // the folder for a CoverageRun; "" for none
}

// Bench is one design under test, or several that are linked. It must be used by one goroutine at a time; its coroutines count as that one.
type Bench struct {
	Instance
	config    Config
	instances []*Instance // the first is that above
	network   *verilator.Network
	links     int
	t         testing.TB // nil when opened with Open
	mark      helper     // t, or nothing
	rand      *Rand

	clocks       []*Clock // the main clock first
	now          uint64   // time of the last edge
	coroutines   []*Task  // in the order of creation
	observers    []observer
	watches      []watch
	afterWatches []func()
	live         int    // coroutines that Run waits for
	moved        uint64 // when one of these went on last
	joined       bool   // coroutines may wait for each other's end in a circle
	running      *Task
	begun        bool // initial blocks have run
	inRun        bool
	roused       bool // coroutines that may have had their turn at this edge were woken
	ended        bool // coroutines have ended, and are to be forgotten
	order        *Rand
	hints        []verilator.Until // of one plan; kept for its memory

	failures []error
	reported int // how many of them the test knows
	waves    []string
	waveErr  error
	closed   bool
	panicked bool   // the test did
	cycles   uint64 // once closed

	covered     []covered
	counted     verilator.Collector
	transcripts []func(*Record) error

	streams  map[string]*Rand // of Rand
	watchdog watchdog
}

// Open builds a design, or finds it in the cache, and makes a bench of one instance. The caller closes it.
func Open(ctx context.Context, d verilator.Design, c Config) (*Bench, error) {
	c.Name = cmp.Or(c.Name, d.Top)
	c.Period = cmp.Or(c.Period, 10)
	c.WaveCycles = cmp.Or(c.WaveCycles, 1000)
	c.Idle = cmp.Or(c.Idle, 10_000_000)
	if c.Log == nil {
		c.Log = io.Discard
	}
	b := &Bench{config: c, mark: unmarked{}, rand: NewRand(c.Seed), streams: map[string]*Rand{}}
	b.order = b.rand.Split("testbench.order")
	b.Instance.bench = b
	if err := b.open(ctx, d); err != nil {
		return nil, errors.Join(err, b.free())
	}
	b.watchdog.start(b, c.Watchdog)
	return b, nil
}

// Close ends all coroutines, writes the wave if there is a reason to, and frees the model. Of a bench made with New
// the test takes care.
func (b *Bench) Close() error {
	if b.closed {
		return nil
	}
	b.cycles = b.Cycle()
	b.closed = true
	b.keepWave()
	b.watchdog.close()
	defer b.watchdog.stop()
	for i := len(b.coroutines) - 1; i >= 0; i-- {
		b.running = b.coroutines[i]
		b.running.stop()
	}
	b.running = nil
	return errors.Join(b.waveErr, b.keepCoverage(), b.free())
}

func (b *Bench) free() error {
	var errs []error
	if b.network != nil {
		errs = append(errs, b.network.Close())
	}
	for _, i := range b.instances {
		errs = append(errs, i.model.Close())
	}
	return errors.Join(errs...)
}

// Name returns the bench's name.
func (b *Bench) Name() string { return b.config.Name }

// Seed returns the seed.
func (b *Bench) Seed() uint64 { return b.config.Seed }

// Rand returns the bench's random stream of a name. Whoever asks for the same name again gets the same stream, which goes on.
func (b *Bench) Rand(name string) *Rand {
	s := b.streams[name]
	if s == nil {
		s = b.rand.Split(name)
		b.streams[name] = s
	}
	return s
}

// Cycle returns how often the main clock has risen.
func (b *Bench) Cycle() uint64 {
	switch {
	case b.closed:
		return b.cycles
	case b.main == nil:
		return 0
	}
	return b.main.Cycles()
}

// Time returns the time of the last edge or wait that has come, in the unit of Config.Period.
func (b *Bench) Time() uint64 { return b.now }

// Logf writes a line, with the cycle, to Config.Log.
func (b *Bench) Logf(format string, args ...any) {
	fmt.Fprintf(b.config.Log, "cycle %d: %s\n", b.Cycle(), fmt.Sprintf(format, args...))
}

// helper marks functions that are left out of a test's log, as testing.TB does.
type helper interface{ Helper() }

type unmarked struct{}

func (unmarked) Helper() {}

// check lets errors fail the test, if there is one.
func (b *Bench) check(err error) error {
	b.mark.Helper()
	if err != nil && b.t != nil && b.running == nil {
		b.t.Fatal(err)
	}
	return err
}
