package verilator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

var (
	// ErrClosed is returned by every method of a closed Model.
	ErrClosed = errors.New("verilator: model is closed")
	// ErrTool says that Verilator or the C++ compiler is missing, too old, or too new for what a Design asks; the text says what to install.
	ErrTool = errors.New("verilator: tool missing")
	// ErrPort says that a port does not exist or is not of the wanted kind; the text lists those that exist.
	ErrPort = errors.New("verilator: port mismatch")
	// ErrNotBuilt says that the design was built without what a method needs; the text names the field of Design.
	ErrNotBuilt = errors.New("verilator: design built without this")
	// ErrFinish matches a HaltError of $finish.
	ErrFinish = errors.New("$finish")
	// ErrStop matches a HaltError of $stop.
	ErrStop = errors.New("$stop")
	// ErrFatal matches a HaltError after which the model cannot go on, such as logic that does not settle.
	ErrFatal = errors.New("the model cannot go on")
	// ErrAssert matches a HaltError of $error, $fatal or a failed assertion.
	ErrAssert = errors.New("assertion failed")
)

// noTiming is what Verilator says of a delay that it is not told how to handle.
const (
	noTiming      = "NEEDTIMINGOPT"
	delaysRefused = `set Design.Timing, which simulates delays and waits; or Design.Flags to "--no-timing", which ignores them and is faster`
)

const howToInstall = "apt-get install verilator g++ make zlib1g-dev"

// Diagnostic is one warning or error of Verilator, with the path as the Design spells it.
type Diagnostic struct {
	// Severity is "Error" or "Warning".
	Severity string
	// Code is Verilator's name for the kind, for example "WIDTH"; often empty for errors.
	Code string
	// File, Line and Column say where; empty and 0 where Verilator does not.
	File         string
	Line, Column int
	// Message is one line, without the place.
	Message string
}

func (d Diagnostic) String() string {
	kind := strings.ToLower(d.Severity)
	if d.Code != "" {
		kind += " " + d.Code
	}
	if d.File == "" {
		return fmt.Sprintf("%s: %s", kind, d.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", d.File, d.Line, d.Column, kind, d.Message)
}

// CompileError is what Build and Lint return when a tool rejects the design.
type CompileError struct {
	// Top is the design's top module.
	Top string
	// Tool is "verilator" or the C++ compiler.
	Tool string
	// Diagnostics are the tool's errors and warnings, errors first.
	Diagnostics []Diagnostic
	// Output is everything the tool said.
	Output string
}

func (e *CompileError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "verilator: %s rejects %s", e.Tool, e.Top)
	shown := 0
	for _, d := range e.Diagnostics {
		if d.Severity != "Error" {
			continue
		}
		if shown++; shown > 10 {
			b.WriteString("\n\t…")
			break
		}
		b.WriteString("\n\t" + d.String())
	}
	if shown == 0 {
		b.WriteString(":\n" + e.Output)
	}
	if slices.ContainsFunc(e.Diagnostics, func(d Diagnostic) bool { return d.Code == noTiming }) {
		b.WriteString("\n" + delaysRefused)
	}
	return b.String()
}

// HaltError says that the design ended a run by itself.
type HaltError struct {
	// Kind is ErrFinish, ErrStop, ErrAssert or ErrFatal.
	Kind error
	// Model is the instance's name.
	Model string
	// File and Line say where in the Verilog.
	File string
	Line int
	// Message is the text of $error or $fatal.
	Message string
	// Time is the model's time.
	Time uint64
}

func (e *HaltError) Error() string {
	s := fmt.Sprintf("verilator: model %s: %v at time %d (%s:%d)", e.Model, e.Kind, e.Time, e.File, e.Line)
	if e.Message != "" && e.Message != e.Kind.Error() {
		s += ": " + e.Message
	}
	return s
}

// Unwrap returns Kind, so that errors.Is(err, ErrFinish) works.
func (e *HaltError) Unwrap() error { return e.Kind }
