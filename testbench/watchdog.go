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
	closing bool // the bench is being closed; guarded by mutex

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

// close begins the time that what coroutines have deferred, and final blocks, may take.
func (w *watchdog) close() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.closing = true
	w.moves.Store(w.moves.Load()/2*2 + 3) // odd, and not as before
}

func (w *watchdog) look() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.time == 0 {
		return
	}
	moves, now := w.moves.Load(), uint64(0)
	if moves%2 != 0 && !w.closing {
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
	if fmt.Fprintf(&s, "testbench: bench %s: ", b.Name()); w.closing {
		fmt.Fprintf(&s, "not closed after %v: ", w.time)
	} else {
		fmt.Fprintf(&s, "no clock edge for %v, after cycle %d and time %d: ", w.time, b.Cycle(), b.model.Time())
	}
	buffer := make([]byte, 4<<20)
	all := strings.Split(string(buffer[:runtime.Stack(buffer, true)]), "\n\n")
	task := w.hung()
	stacks := busy(all, packagePath+"(*Bench).start.")
	if task == nil || len(stacks) == 0 {
		stacks = append(busy(all, packagePath+"(*Bench).loop("), busy(all, packagePath+"(*Bench).Close(")...)
	}
	switch {
	case strings.Contains(strings.Join(stacks, "\n"), "verilator._Cfunc_lm_"):
		fmt.Fprintf(&s, "evaluation of model %s does not return: it holds a loop without end (a forever whose delay --no-timing ignores?)", b.model.Name())
	case task != nil && w.closing:
		fmt.Fprintf(&s, "what coroutine %s has deferred does not return", task.name)
	case task != nil && computes(stacks):
		fmt.Fprintf(&s, "coroutine %s does not return control: it computes without a wait, or in a loop without end", task.name)
	case task != nil:
		fmt.Fprintf(&s, "coroutine %s does not return control: it may wait by methods of Task only, not on channels or locks", task.name)
	case w.closing:
		s.WriteString("the model is not freed: a final block that does not return?")
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

// computes reports whether the first stack is of what runs, or could, and does not wait for another goroutine.
func computes(stacks []string) bool {
	if len(stacks) == 0 {
		return false
	}
	state := goroutineState.FindStringSubmatch(stacks[0])
	return state != nil && (state[1] == "running" || state[1] == "runnable")
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
