// Package flash writes bitstreams to boards with iCE40 FPGAs through the programs that do that: iceprog and
// openFPGALoader. It adds what they lack: it looks at the file before anything is written, knows which board is meant
// and why it cannot be had, tells failures apart, and puts back what a flash held when a write does not come to its end.
package flash

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/plugged"
	"github.com/stafflink/lmmc/linkproto"
)

// What may go wrong. plugged.ErrPermission, plugged.ErrNoUSB and the context's error are passed on.
var (
	ErrFile       = errors.New("the bitstream is not for this board")
	ErrTiming     = errors.New("the bitstream misses its clock")
	ErrVersion    = errors.New("the bitstream speaks another version of the link protocol")
	ErrNoBoard    = errors.New("the board is not plugged in")
	ErrSeveral    = errors.New("several boards are plugged in")
	ErrBusy       = errors.New("another program uses the board")
	ErrTool       = errors.New("tool")
	ErrSilent     = errors.New("the board does not answer")
	ErrProtected  = errors.New("the flash is write-protected")
	ErrVerify     = errors.New("verification of the flash failed")
	ErrNotStarted = errors.New("the FPGA does not start: CDONE stays low")
	ErrUnplugged  = errors.New("the board was unplugged")
	ErrFailed     = errors.New("the tool failed")
)

// Board is what has to be known of a board to write to it.
type Board struct {
	Name   string
	Device string       // as nextpnr-ice40 names it: "hx8k"
	USB    plugged.Kind // how the board is found
	Tool   string       // "iceprog" or "openFPGALoader"
}

// Memory is what of a board is written.
type Memory int

const (
	Flash Memory = iota // the flash from which the FPGA starts
	SRAM                // the FPGA's configuration, which lasts until it is reset or loses power
)

// Job is one bitstream to be written.
type Job struct {
	Board  Board
	Kinds  []plugged.Kind // of all boards that are known, to tell them apart
	Data   []byte         // the bitstream
	Memory Memory
	Serial string // of the board, where several are plugged in; "" for the only one
	// Unprotect takes the flash's protection against writing away, for good.
	Unprotect bool
	// Foreign lets a bitstream pass that does not say for which board it is. One that says so must be for this board.
	Foreign bool
	// Keep is a folder for what the flash held, until the new bitstream is in it.
	Keep string
	// Progress is told where a job is; nil for nobody.
	Progress func(Progress)
	// Timeout is how long a tool may be silent; 0 for 30 s. The slowest that it waits for is the erasure of a block of flash.
	Timeout time.Duration
	System  plugged.System
}

// Progress is a stage of a job, and how many of its bytes are done.
type Progress struct {
	Stage       Stage
	Done, Total int
}

// Stage is what is done with bytes.
type Stage string

// The stages, in this order.
const (
	Saving    Stage = "saving" // what the flash held
	Erasing   Stage = "erasing"
	Writing   Stage = "writing"
	Verifying Stage = "verifying"
	Restoring Stage = "restoring" // after a failure
)

// Outcome is what came of a job.
type Outcome struct {
	Device plugged.Device `json:"device"`
	Tool   string         `json:"tool"`
	Bytes  int            `json:"bytes"`
	// Unchanged says that the flash held the bitstream already. Nothing was written.
	Unchanged bool `json:"unchanged"`
}

// Check says whether a bitstream is whole and for a board. Foreign is as in Job.
func Check(b Board, data []byte, foreign bool) (*bitstream.File, error) {
	f, err := bitstream.Read(data)
	if err != nil {
		return nil, err
	}
	if want := bitstream.Die(b.Device); f.Device != want {
		return f, fmt.Errorf("%w: built for a %s, %s has a %s (%s)", ErrFile, f.Device, b.Name, b.Device, want)
	}
	switch {
	case f.Info == nil && !foreign:
		return f, fmt.Errorf("%w: it names no board, as bitstreams of lmmc build do; its pins may be those of another board", ErrFile)
	case f.Info != nil && f.Info.Board != b.Name:
		return f, fmt.Errorf("%w: built for board %s, this is %s", ErrFile, f.Info.Board, b.Name)
	case f.Info != nil && !f.Info.Own() && f.Info.Params[bitstream.Protocol] != strconv.Itoa(linkproto.Version):
		return f, fmt.Errorf("%w: version %s, this program speaks %d; run lmmc build %s", ErrVersion,
			cmp.Or(f.Info.Params[bitstream.Protocol], "2 or before"), linkproto.Version, strings.TrimSuffix(b.Name+"/"+f.Info.Config, "/"))
	case f.Info != nil && f.Info.Params[bitstream.Reached] != "":
		return f, fmt.Errorf("%w: place and route reached %s MHz, want %s; build it with more seeds or for a slower clock",
			ErrTiming, f.Info.Params[bitstream.Reached], f.Info.Params["mhz"])
	}
	return f, nil
}

// Write writes a bitstream to a board, verifies that the flash holds it and that the FPGA has started from it.
//
// When writing to flash fails or ctx ends, what the flash held is written back, if it was a bitstream and the board is
// still there; the error says what the flash holds.
func Write(ctx context.Context, job Job) (Outcome, error) {
	if job.Progress == nil {
		job.Progress = func(Progress) {}
	}
	w := writer{Job: job}
	err := w.open(ctx)
	defer func() { _ = os.RemoveAll(w.dir) }()
	o := Outcome{Device: w.device, Bytes: len(job.Data)}
	if err != nil {
		return o, err
	}
	o.Tool = w.tool.name
	if job.Memory == SRAM {
		return o, w.load(ctx)
	}
	o.Unchanged, err = w.flash(ctx)
	return o, err
}

// writer is a job underway.
type writer struct {
	Job
	tool   tool
	device plugged.Device
	dir    string // of files for the tool
	file   string // with the bitstream

	running bool // the FPGA, at the end of the tool's last run
}

// open checks all that can be known before the board is spoken to.
func (w *writer) open(ctx context.Context) (err error) {
	if _, err := Check(w.Board, w.Data, w.Foreign); err != nil {
		return err
	}
	if w.tool, err = findTool(ctx, w.Board.Tool); err != nil {
		return err
	}
	if w.device, err = Find(w.System, w.Board, w.Kinds, w.Serial); err != nil {
		return err
	}
	if w.dir, err = os.MkdirTemp("", "lmmc-flash-"); err != nil {
		return err
	}
	w.file = filepath.Join(w.dir, "new.bin") // openFPGALoader goes by what a name ends with
	return os.WriteFile(w.file, w.Data, 0o600)
}

func (w *writer) load(ctx context.Context) error {
	err := w.run(ctx, task{do: load, file: w.file, size: len(w.Data)})
	if errors.Is(err, ErrNotStarted) {
		return fmt.Errorf("%w: check that the board's jumpers select SRAM; see boards/%s/README.md", err, w.Board.Name)
	}
	if err != nil {
		err = fmt.Errorf("%w; the FPGA is empty: repeat the command, or switch the board off and on", w.explain(err))
	}
	return err
}

// flash writes to flash, and returns whether it held the bitstream already.
func (w *writer) flash(ctx context.Context) (unchanged bool, err error) {
	old, err := w.read(ctx, Saving, len(w.Data))
	if _, damage := bitstream.Read(old); err == nil && errors.Is(damage, bitstream.ErrTruncated) { // it goes on behind the blocks that will be written
		old, err = w.read(ctx, Saving, longest)
	}
	if ctx.Err() != nil {
		// The tool was stopped while it kept the FPGA from running. Whole, it lets go at its end.
		err = errors.Join(err, w.run(context.WithoutCancel(ctx), task{do: read, stage: Restoring, file: filepath.Join(w.dir, "some.bin"), size: 256}))
	}
	if err != nil {
		return false, w.explain(err)
	}
	if bytes.HasPrefix(old, w.Data) {
		if !w.running {
			err = fmt.Errorf("%s: %w, though the flash holds the bitstream already: "+jumpers, w.tool.name, ErrNotStarted)
		}
		return true, err
	}
	kept, err := keep(w, old)
	if err != nil {
		return false, err
	}
	err = w.run(ctx, task{do: write, file: w.file, size: len(w.Data), unprotect: w.Unprotect})
	switch {
	case err == nil:
		return false, kept.forget()
	case errors.Is(err, ErrNotStarted): // and verified
		return false, errors.Join(fmt.Errorf("%w, though the flash was verified: "+jumpers, err), kept.forget())
	}
	after := context.WithoutCancel(ctx)
	if errors.Is(err, ErrVerify) {
		if now, readErr := w.read(after, Verifying, len(w.Data)); readErr == nil {
			if block, is := protected(old, now, w.Data); is {
				err = fmt.Errorf("%w: block %#x keeps its old contents: run lmmc flash --unprotect", ErrProtected, block)
			}
		}
	}
	return false, kept.restore(after, w, w.explain(err))
}

// jumpers is what helps where the FPGA does not start.
const jumpers = "switch the board off and on, and check that its jumpers select the flash"

// longest is more than a bitstream for any iCE40 has.
const longest = 256 << 10

// read returns what the flash holds in the blocks of its first n bytes.
func (w *writer) read(ctx context.Context, stage Stage, n int) ([]byte, error) {
	file := filepath.Join(w.dir, "old.bin")
	size := (n + block - 1) / block * block
	if err := w.run(ctx, task{do: read, stage: stage, file: file, size: size}); err != nil {
		return nil, err
	}
	old, err := os.ReadFile(file)
	if err == nil && len(old) != size {
		err = fmt.Errorf("%s: %w: it read %d of %d bytes", w.tool.name, ErrFailed, len(old), size)
	}
	return old, err
}

// block is how much of a flash is erased at once, in bytes.
const block = 64 << 10

// protected returns where the first block is that writing has left as it was.
func protected(old, now, want []byte) (int, bool) {
	for at := 0; at < len(want); at += block {
		o, n := old[at:at+block], now[at:at+block]
		if bytes.Equal(o, n) && !bytes.HasPrefix(n, want[at:min(at+block, len(want))]) {
			return at, true
		}
	}
	return 0, false
}

// explain adds to a tool's failure what the system knows of the board.
func (w *writer) explain(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	all, listErr := w.System.Devices()
	for _, d := range all {
		if d.Port == w.device.Port && d.Address == w.device.Address {
			return err
		}
	}
	if listErr != nil && !errors.Is(listErr, plugged.ErrNoUSB) {
		return err
	}
	return fmt.Errorf("%w (%v): %w", ErrUnplugged, w.device, err)
}
