package testbench

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// defaultWatchdog is Config.Watchdog of a bench made with New.
const defaultWatchdog = 30 * time.Second

// looks is how often a watchdog looks in its time. It counts looks and reads no clock, so a process that was halted does not wake it.
const looks = 10

// watchdog ends the program, with a panic that says why, when a bench runs and no edge of a clock passes.
type watchdog struct {
	bench *Bench
	time  time.Duration // 0 for none
	moves atomic.Uint64 // odd while the bench runs
	progress

	mutex sync.Mutex // held while it looks
	timer *time.Timer
}

// progress counts the looks since something has changed.
type progress struct {
	moves, now uint64
	same       int
}

// stalled takes what a look has seen, and tells whether it is time to give up.
func (p *progress) stalled(moves, now uint64) bool {
	if moves%2 == 0 || moves != p.moves || now != p.now {
		*p = progress{moves: moves, now: now}
		return false
	}
	p.same++
	return p.same >= looks
}

func (w *watchdog) start(b *Bench, limit time.Duration) {
	if limit <= 0 {
		return
	}
	w.bench, w.time = b, limit
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.timer = time.AfterFunc(limit/looks, w.look)
}

func (w *watchdog) stop() {
	if w.time == 0 {
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.timer.Stop()
	w.time = 0
}

func (w *watchdog) look() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.time == 0 {
		return
	}
	moves, now := w.moves.Load(), uint64(0)
	if moves%2 != 0 {
		for _, i := range w.bench.instances {
			now += i.model.Time()
		}
	}
	if w.stalled(moves, now) {
		panic(w.describe())
	}
	w.timer.Reset(w.time / looks)
}

// hung returns the coroutine that does not return control. It is read without synchronisation, which would cost time at every resumption:
// whoever sets it has not moved for long.
//
//go:norace
func (w *watchdog) hung() *Task { return w.bench.running }

var goroutineState = regexp.MustCompile(`^goroutine \d+ .*?\[([^\],]+)`)

func (w *watchdog) describe() string {
	b := w.bench
	var s strings.Builder
	fmt.Fprintf(&s, "testbench: bench %s: no clock edge for %v, after cycle %d and time %d: ", b.Name(), w.time, b.Cycle(), b.model.Time())
	buffer := make([]byte, 4<<20)
	all := strings.Split(string(buffer[:runtime.Stack(buffer, true)]), "\n\n")
	task := w.hung()
	stacks := busy(all, packagePath+"(*Bench).start.")
	if task == nil || len(stacks) == 0 {
		stacks = busy(all, packagePath+"(*Bench).loop(")
	}
	switch {
	case strings.Contains(strings.Join(stacks, "\n"), "verilator._Cfunc_lm_"):
		fmt.Fprintf(&s, "evaluation of model %s does not return: it holds a loop without end (a forever whose delay --no-timing ignores?)", b.model.Name())
	case task != nil:
		fmt.Fprintf(&s, "coroutine %s does not return control: it may wait by methods of Task only, not on channels or locks", task.name)
	default:
		s.WriteString("an observer does not return")
	}
	if b.config.Repeat != "" {
		fmt.Fprintf(&s, "\nrepeat: %s", b.config.Repeat)
	}
	for _, stack := range stacks {
		s.WriteString("\n\n" + stack)
	}
	return s.String()
}

// busy returns the stacks with a call of a function, but for those of coroutines that wait as they should, and of whoever has resumed one.
func busy(stacks []string, function string) (found []string) {
	for _, stack := range stacks {
		state := goroutineState.FindStringSubmatch(stack)
		if state != nil && state[1] != "coroutine" && strings.Contains(stack, function) {
			found = append(found, stack)
		}
	}
	return found
}
