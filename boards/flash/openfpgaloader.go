package flash

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/boards/plugged"
)

// openFPGALoader is the program of that name, of version 0.10 and later. Its texts are those of src/ice40.cpp,
// src/spiFlash.cpp, src/progressBar.cpp and src/ftdipp_mpsse.cpp there. Its exit code says nothing of what failed
// after the board was opened: only its words do.
var openFPGALoader = tool{
	name: "openFPGALoader", pkg: "openfpgaloader",
	options: []string{"--board", "--busdev-num", "--write-flash", "--write-sram", "--verify ", "--unprotect-flash", "--dump-flash", "--file-size"},
	args:    loaderArgs,
	listen: func(t task, report func(Stage, int)) listener {
		return &loaderListener{task: t, report: report, completed: map[Stage]bool{}}
	},
}

func loaderArgs(d plugged.Device, t task) []string {
	// The serial number would not do: it is not heeded for SPI. The numbers are decimal here, those with a leading zero octal.
	args := []string{"--board", "ice40_generic", "--busdev-num", fmt.Sprintf("%d:%d", d.Bus, d.Address)}
	switch t.do {
	case read:
		args = append(args, "--dump-flash", "--file-size", strconv.Itoa(t.size))
	case load:
		args = append(args, "--write-sram")
	case write:
		args = append(args, "--write-flash", "--verify")
		if t.unprotect {
			args = append(args, "--unprotect-flash")
		}
	}
	return append(args, t.file)
}

type loaderListener struct {
	task      task
	report    func(Stage, int)
	stage     Stage
	completed map[Stage]bool
	id        []string // of the flash, as far as it was said
	differs   bool
	protected bool
	started   bool
	opened    bool
	why       string // it could not be opened
}

// bars are what its progress bars are called.
var bars = map[string]Stage{"Writing: ": Writing, "Loading to CRAM: ": Writing, "Read flash : ": Verifying}

func (l *loaderListener) line(line string) error {
	for name, stage := range bars {
		if bar, ours := strings.CutPrefix(line, name); ours {
			l.bar(stage, bar)
			return nil
		}
	}
	switch {
	case strings.HasPrefix(line, "unable to open ftdi device: "):
		l.why = line
	case strings.HasPrefix(line, "Parse file "), strings.HasPrefix(line, "Read Flash "):
		l.opened = true
	case strings.HasPrefix(line, "Jedec ID"), strings.HasPrefix(line, "memory type"), strings.HasPrefix(line, "memory capacity"):
		_, value, _ := strings.Cut(line, ": ")
		l.id = append(l.id, "0x"+strings.ToUpper(value))
		return idle(l.id)
	case line == "Done":
		l.completed[l.stage] = true
	case strings.HasPrefix(line, "Error: block protection is set"):
		l.protected = true
	case strings.HasPrefix(line, "Verification failed at "):
		l.differs = true
	case line == "Wait for CDONE DONE":
		l.started = true
	}
	return nil
}

// bar takes "[=====     ] 10.00%".
func (l *loaderListener) bar(stage Stage, bar string) {
	if l.stage = stage; l.task.do == read {
		l.stage = Saving
	}
	_, number, _ := strings.Cut(bar, "] ")
	if percent, err := strconv.ParseFloat(strings.TrimSuffix(number, "%"), 64); err == nil {
		l.report(l.stage, int(percent/100*float64(l.task.size)))
	}
}

func (l *loaderListener) end(exit error) error {
	needed := map[verb][]Stage{read: {Saving}, write: {Writing, Verifying}, load: {Writing}}[l.task.do]
	switch {
	case l.protected:
		return fmt.Errorf("%w: run lmmc flash --unprotect", ErrProtected)
	case l.differs:
		return ErrVerify
	case !l.opened && l.why != "":
		return fmt.Errorf("%w: %s", ErrBusy, l.why)
	case exit != nil:
		return ErrFailed
	}
	for _, s := range needed {
		if !l.completed[s] {
			return fmt.Errorf("%w: no message that %s is done", ErrFailed, s)
		}
	}
	if l.task.do != read && !l.started {
		return ErrNotStarted
	}
	return nil
}

func (l *loaderListener) running() bool { return l.started }
