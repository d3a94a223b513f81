package flash

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/stafflink/lmmc/boards/plugged"
)

// tool is a program that speaks to boards: its command lines, and what its output means.
type tool struct {
	name    string
	pkg     string   // Debian's package
	options []string // that args uses, as the program's --help has them
	args    func(plugged.Device, task) []string
	listen  func(task, func(Stage, int)) listener
}

// listener follows one run of a tool.
type listener interface {
	// line takes a line of output. After an error the tool is stopped: it would go on, or wait for ever.
	line(string) error
	// end judges a run that came to its end by itself; exit is what exec has.
	end(exit error) error
	// running says whether the FPGA has started at the end.
	running() bool
}

// task is a tool's part of a job.
type task struct {
	do        verb
	file      string // to read from or to write to
	size      int    // bytes
	unprotect bool
	stage     Stage // to report all progress as; "" for what the tool does
}

type verb int

const (
	read  verb = iota // the flash into a file
	write             // a file into the flash, and verify it
	load              // a file into the FPGA
)

var tools = []tool{iceprog, openFPGALoader}

// Tools returns the names that Board.Tool may have.
func Tools() (names []string) {
	for _, t := range tools {
		names = append(names, t.name)
	}
	return names
}

// findTool returns a tool that is installed and has the options that are used here.
func findTool(ctx context.Context, name string) (t tool, err error) {
	at := slices.Index(Tools(), name)
	if at < 0 {
		return t, fmt.Errorf("%w: there is no %q; there are %s", ErrTool, name, strings.Join(Tools(), ", "))
	}
	t = tools[at]
	if _, err := exec.LookPath(name); err != nil {
		return t, fmt.Errorf("%w: %s is not installed: sudo apt-get install -y %s", ErrTool, name, t.pkg)
	}
	help, err := exec.CommandContext(ctx, name, "--help").CombinedOutput()
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	var missing []string
	for _, option := range t.options {
		if !bytes.Contains(help, []byte(option)) {
			missing = append(missing, strings.TrimSpace(option))
		}
	}
	if missing != nil {
		return t, fmt.Errorf("%w: %s --help does not know %s: it is too old, or it fails (%v): sudo apt-get install -y %s",
			ErrTool, name, strings.Join(missing, ", "), cmp.Or(err, errors.New("exit code 0")), t.pkg)
	}
	return t, nil
}

// usualPatience is longer than a block of flash takes to be erased: 3 s for the slowest that iCE40 boards have (Micron N25Q032A).
const usualPatience = 30 * time.Second

// run runs the tool once.
func (w *writer) run(ctx context.Context, t task) error {
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	patience := cmp.Or(w.Timeout, usualPatience)
	report := func(s Stage, done int) {
		if t.stage != "" {
			s = t.stage
		}
		w.Progress(Progress{s, min(done, t.size), t.size})
	}
	name := w.tool.name
	out := &output{listener: w.tool.listen(t, report), stop: stop, patience: patience}
	out.watchdog = time.AfterFunc(patience, func() {
		stop(fmt.Errorf("%w: no output of %s for %v", ErrSilent, name, patience))
	})
	defer out.watchdog.Stop()

	cmd := exec.CommandContext(inner, name, w.tool.args(w.device, t)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's ^C is for this process, which decides
	cmd.WaitDelay = time.Second
	exit := cmd.Run()

	last := out.finish()
	switch cause := context.Cause(inner); {
	case ctx.Err() != nil:
		return fmt.Errorf("%s was interrupted: %w", name, ctx.Err())
	case cause != nil:
		return fmt.Errorf("%s: %w", name, cause)
	case errors.Is(exit, exec.ErrWaitDelay):
		exit = nil // a child of it has kept its output open
	}
	if err := out.listener.end(exit); err != nil {
		if exit == nil {
			return fmt.Errorf("%s: %w; last output: %s", name, err, last)
		}
		return fmt.Errorf("%s: %w (%v); last output: %s", name, err, exit, last)
	}
	w.running = out.listener.running()
	return nil
}

// output passes what a tool writes to its listener, by lines. Lines end with \n or, for progress, with \r.
type output struct {
	listener listener
	stop     context.CancelCauseFunc
	watchdog *time.Timer
	patience time.Duration

	mutex sync.Mutex // os/exec writes from one goroutine, which may outlast the process
	part  []byte
	said  []string // the last lines
}

func (o *output) Write(b []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.watchdog.Reset(o.patience)
	o.part = append(o.part, b...)
	for {
		at := bytes.IndexAny(o.part, "\r\n")
		if at < 0 {
			break
		}
		o.take(string(o.part[:at]), o.part[at] == '\n')
		o.part = o.part[at+1:]
	}
	if len(o.part) > maxLine {
		o.part = nil
	}
	return len(b), nil
}

const (
	maxLine  = 4096
	maxWords = 4
)

// take takes a line. Only what is meant to stay on a terminal counts as words.
func (o *output) take(line string, words bool) {
	line = strings.TrimSpace(line)
	if line == "" {
		return
	}
	if words {
		o.said = append(o.said, line)
		o.said = o.said[max(0, len(o.said)-maxWords):]
	}
	if err := o.listener.line(line); err != nil {
		o.stop(err)
	}
}

// finish takes what has no end of line, and returns the last words.
func (o *output) finish() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.take(string(o.part), true)
	o.part = nil
	if o.said == nil {
		return "none"
	}
	return strings.Join(o.said, " | ")
}
