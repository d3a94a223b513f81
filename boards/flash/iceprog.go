package flash

import (
	"fmt"
	"strings"

	"github.com/stafflink/lmmc/boards/plugged"
)

// iceprog is the program of Project IceStorm. Its texts are those of iceprog/iceprog.c and iceprog/mpsse.c there.
var iceprog = tool{
	name: "iceprog", pkg: "fpga-icestorm", options: []string{"  -d ", "d:<devicenode>", "  -R ", "  -S ", "  -p "},
	args:   iceprogArgs,
	listen: func(t task, report func(Stage, int)) listener { return &iceprogListener{task: t, report: report} },
}

func iceprogArgs(d plugged.Device, t task) []string {
	args := []string{"-d", fmt.Sprintf("d:%03d/%03d", d.Bus, d.Address)}
	switch {
	case t.do == read:
		args = append(args, "-R", fmt.Sprint(t.size))
	case t.do == load:
		args = append(args, "-S")
	case t.unprotect:
		args = append(args, "-p")
	}
	return append(args, t.file)
}

type iceprogListener struct {
	task     task
	report   func(Stage, int)
	stage    Stage
	verified bool
	differs  bool
	cdone    string // the last that was said
	opened   bool
}

func (l *iceprogListener) line(line string) error {
	var at, percent int
	switch {
	case strings.HasPrefix(line, "cdone: "):
		l.cdone, l.opened = strings.TrimPrefix(line, "cdone: "), true
	case strings.HasPrefix(line, "flash ID: "):
		return idle(strings.Fields(strings.TrimPrefix(line, "flash ID: ")))
	case strings.HasPrefix(line, "erase "):
		if _, err := fmt.Sscanf(line, "erase 64kB sector at 0x%X..", &at); err == nil {
			l.report(Erasing, at)
		}
	case line == "programming..":
		l.stage = Writing
	case line == "reading..":
		l.stage = Verifying
		if l.task.do == read {
			l.stage = Saving
		}
	case line == "VERIFY OK":
		l.verified = true
	case line == "Found difference between flash and file!":
		l.differs = true
	default:
		if n, _ := fmt.Sscanf(line, "addr 0x%X %d%%", &at, &percent); n == 2 {
			l.report(l.stage, at)
		}
	}
	return nil
}

// idle says whether a flash's identity is only what a line has that nobody drives. iceprog would wait for it for ever.
func idle(id []string) error {
	for _, level := range []string{"0xFF", "0x00"} {
		if len(id) > 2 && id[0] == level && id[1] == level && id[2] == level {
			return idleError{level}
		}
	}
	return nil
}

// idleError is an ErrSilent: no flash is there, or one that is still erasing.
type idleError struct{ level string }

func (e idleError) Error() string {
	return fmt.Sprintf("%v: all bytes of the flash ID are %s: check the board's power and that its jumpers select the flash", ErrSilent, e.level)
}

func (idleError) Unwrap() error { return ErrSilent }

func (l *iceprogListener) end(exit error) error {
	switch {
	case l.differs:
		return ErrVerify
	case exit != nil && !l.opened:
		return fmt.Errorf("%w, or it was unplugged: iceprog cannot open it", ErrBusy)
	case exit != nil:
		return ErrFailed
	case l.task.do == write && !l.verified:
		return fmt.Errorf("%w: no message that the flash was verified", ErrFailed)
	case l.task.do != read && !l.running():
		return ErrNotStarted
	}
	return nil
}

func (l *iceprogListener) running() bool { return l.cdone == "high" }
