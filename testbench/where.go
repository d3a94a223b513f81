package testbench

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

const packagePath = "github.com/stafflink/lmmc/testbench."

// frames returns the calls of the user's code that led here, innermost first, up to the body of the coroutine.
func frames() []runtime.Frame {
	counters := make([]uintptr, 64)
	next := runtime.CallersFrames(counters[:runtime.Callers(2, counters)])
	var found []runtime.Frame
	for {
		f, more := next.Next()
		switch {
		case strings.HasPrefix(f.Function, packagePath+"(*Bench).start."), strings.HasPrefix(f.Function, "testing."):
			return found
		case strings.HasPrefix(f.Function, packagePath), strings.HasPrefix(f.Function, "runtime."), f.Function == "":
		default:
			found = append(found, f)
		}
		if !more {
			return found
		}
	}
}

// stack describes frames, a line each.
func stack() string {
	var s strings.Builder
	for _, f := range frames() {
		fmt.Fprintf(&s, "%s:%d %s\n", f.File, f.Line, f.Function[strings.LastIndexByte(f.Function, '/')+1:])
	}
	return s.String()
}

// where returns the file and line of the innermost call of the user's code.
func where() string {
	if all := frames(); len(all) > 0 {
		return fmt.Sprintf("%s:%d", filepath.Base(all[0].File), all[0].Line)
	}
	return "unknown place"
}

// panicking reports whether the caller is run by a panic that unwinds the stack. A test's cleanup has no other sign.
func panicking() bool {
	counters := make([]uintptr, 64)
	next := runtime.CallersFrames(counters[:runtime.Callers(1, counters)])
	for {
		f, more := next.Next()
		if f.Function == "runtime.gopanic" {
			return true
		}
		if !more {
			return false
		}
	}
}
