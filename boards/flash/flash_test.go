package flash_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/bitstream/bitstreamtest"
	"github.com/stafflink/lmmc/boards/flash"
	"github.com/stafflink/lmmc/boards/flash/flashtest"
	"github.com/stafflink/lmmc/boards/plugged"
	"github.com/stafflink/lmmc/boards/plugged/pluggedtest"
	"github.com/stafflink/lmmc/internal/check"
)

func TestMain(m *testing.M) {
	flashtest.Main()
	goleak.VerifyTestMain(m)
}

var (
	hx8k = flash.Board{Name: "hx8k", Device: "hx8k", USB: plugged.Kind{Board: "hx8k", Vendor: 0x0403, Product: 0x6010}}
	icy  = flash.Board{Name: "icebreaker", Device: "up5k", USB: plugged.Kind{Board: "icebreaker", Vendor: 0x0403, Product: 0x6010, Name: "iCEBreaker"}}

	// The number of the address would be octal, and above 127 is negative in 8 bits, if it were passed on carelessly.
	onDesk = plugged.Device{Port: "1-2", Bus: 1, Address: 18, Vendor: 0x0403, Product: 0x6010, Serial: "HX1",
		Channels: []plugged.Channel{{Name: "A", Driver: "ftdi_sio"}, {Name: "B", Driver: plugged.Taken}}}
)

// desk is a test with a board, its tools and two bitstreams.
type desk struct {
	*testing.T
	*flashtest.Bench
	job      flash.Job
	old, new []byte
	stages   []flash.Stage // that were reported
}

// onEach runs a test with each tool.
func onEach(t *testing.T, test func(*desk)) {
	for _, tool := range flash.Tools() {
		t.Run(tool, func(t *testing.T) { test(newDesk(t, tool)) })
	}
}

func newDesk(t *testing.T, tool string) *desk {
	t.Helper()
	d := &desk{T: t, old: image(t, 1), new: image(t, 2)}
	dir := t.TempDir()
	d.Bench = check.Must(flashtest.New(dir, check.Must(os.Executable())(t)))(t)
	check.Fatal(t, errors.Join(pluggedtest.Plug(d.Machine(), onDesk), d.Fill(onDesk, d.old)))
	t.Setenv("PATH", d.Bin())
	t.Setenv(flashtest.Variable, dir)
	d.job = flash.Job{Board: hx8k, Kinds: []plugged.Kind{hx8k.USB, icy.USB}, Data: d.new, Keep: filepath.Join(dir, "kept"), System: d.Machine()}
	d.job.Board.Tool = tool
	d.job.Progress = func(p flash.Progress) {
		if p.Done < 0 || p.Done > p.Total {
			t.Errorf("progress %+v", p)
		}
		if len(d.stages) == 0 || d.stages[len(d.stages)-1] != p.Stage {
			d.stages = append(d.stages, p.Stage)
		}
	}
	return d
}

// image is a bitstream for hx8k, one of several.
func image(t *testing.T, hash uint64) []byte {
	return bitstreamtest.Pack(t, "8k", bitstream.Info{Board: "hx8k", Device: "hx8k", Hash: hash, Params: spoken("3")}.Comment(), []string{fmt.Sprintf(".extra_bit 3 %d 1", hash)})
}

// holds checks what the flash begins with.
func (d *desk) holds(want []byte, what string) {
	d.Helper()
	got, err := d.Holds(onDesk)
	if err != nil || !bytes.HasPrefix(got, want) {
		d.Errorf("the flash does not hold %s (%v)", what, err)
	}
}

// keptFiles is how many files wait for what may yet be written back.
func (d *desk) keptFiles() []string {
	return check.Must(filepath.Glob(filepath.Join(d.job.Keep, "*")))(d)
}

// fails checks an error.
func (d *desk) fails(err, want error, texts ...string) {
	d.Helper()
	if !errors.Is(err, want) {
		d.Fatalf("%v; want %v\ncalls:\n%s", err, want, strings.Join(d.Calls(), "\n"))
	}
	check.Contains(d, "error", err.Error(), texts...)
}

func (d *desk) breaks(faults ...flashtest.Fault) {
	check.Fatal(d, d.Break(faults...))
}

// untilHanging ends when a tool hangs.
func (d *desk) untilHanging() context.Context {
	ctx, cancel := context.WithCancel(d.Context())
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(d.Dir, flashtest.Hanging)); err == nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return ctx
}

func TestFlash(t *testing.T) {
	onEach(t, func(d *desk) {
		o := check.Must(flash.Write(d.Context(), d.job))(d)
		d.holds(d.new, "what was written")
		if o.Unchanged || o.Device.Port != onDesk.Port || o.Bytes != len(d.new) || o.Tool != d.job.Board.Tool {
			d.Errorf("%+v", o)
		}
		if want := []flash.Stage{flash.Saving, flash.Writing, flash.Verifying}; !slices.Equal(slices.DeleteFunc(d.stages, func(s flash.Stage) bool { return s == flash.Erasing }), want) {
			d.Errorf("stages %v, want %v", d.stages, want)
		}
		if kept := d.keptFiles(); kept != nil {
			d.Errorf("left behind: %v", kept)
		}
		calls := len(d.Calls())
		if o := check.Must(flash.Write(d.Context(), d.job))(d); !o.Unchanged {
			d.Errorf("the second time: %+v", o)
		}
		if more := d.Calls()[calls:]; len(more) != 2 { // --help, and one that reads
			d.Errorf("the second time it ran %v", more)
		}
	})
}

func TestSRAM(t *testing.T) {
	onEach(t, func(d *desk) {
		d.job.Memory = flash.SRAM
		check.Must(flash.Write(d.Context(), d.job))(d)
		if got, err := d.Loaded(onDesk); err != nil || !bytes.Equal(got, d.new) {
			d.Errorf("the FPGA has something else (%v)", err)
		}
		d.holds(d.old, "what it held")
		d.breaks(flashtest.Sleeps)
		_, err := flash.Write(d.Context(), d.job)
		d.fails(err, flash.ErrNotStarted, "jumpers")
	})
}

// TestInterrupted stops a write in its midst.
func TestInterrupted(t *testing.T) {
	onEach(t, func(d *desk) {
		d.breaks(flashtest.Hangs)
		_, err := flash.Write(d.untilHanging(), d.job)
		d.fails(err, context.Canceled, "interrupted", "the old contents of the flash are restored")
		d.holds(d.old, "what it held before")
		if kept := d.keptFiles(); kept != nil {
			d.Errorf("left behind: %v", kept)
		}
	})
}

// TestInterruptedBefore stops a job before anything is written: the FPGA runs again.
func TestInterruptedBefore(t *testing.T) {
	onEach(t, func(d *desk) {
		d.breaks(flashtest.HangsOff)
		_, err := flash.Write(d.untilHanging(), d.job)
		d.fails(err, context.Canceled)
		d.holds(d.old, "what it held before")
		if calls := d.Calls(); len(calls) != 3 || !strings.Contains(calls[2], " 256 ") {
			d.Errorf("after the read that was stopped should come a short one that lets go: %v", calls)
		}
	})
}

func TestUnplugged(t *testing.T) {
	onEach(t, func(d *desk) {
		d.breaks(flashtest.Unplugs)
		_, err := flash.Write(d.Context(), d.job)
		kept := d.keptFiles()
		if len(kept) != 1 {
			d.Fatalf("kept %v", kept)
		}
		d.fails(err, flash.ErrUnplugged, "cannot start until lmmc flash hx8k", kept[0])
		if got, err := os.ReadFile(kept[0]); err != nil || !bytes.HasPrefix(d.old, got) {
			d.Errorf("%s is not what the flash held (%v)", kept[0], err)
		}
	})
}

// TestFailures has what goes wrong while a tool runs, and what the flash holds thereafter.
func TestFailures(t *testing.T) {
	for _, test := range []struct {
		name    string
		faults  []flashtest.Fault
		is      error
		says    string
		changed bool // the flash holds the new bitstream all the same
	}{
		{name: "no flash", faults: []flashtest.Fault{flashtest.Absent}, is: flash.ErrSilent, says: "0xFF: check the board's power"},
		{name: "silent while reading", faults: []flashtest.Fault{flashtest.HangsOff}, is: flash.ErrSilent, says: "no output of"},
		{name: "silent while writing", faults: []flashtest.Fault{flashtest.Hangs}, is: flash.ErrSilent, says: "the old contents of the flash are restored"},
		{name: "written wrong", faults: []flashtest.Fault{flashtest.Damages}, is: flash.ErrVerify, says: "the old contents of the flash are restored"},
		{name: "written wrong twice", faults: []flashtest.Fault{flashtest.Damages, flashtest.Hangs}, is: flash.ErrVerify, says: "the old contents are in "},
		{name: "ends early", faults: []flashtest.Fault{flashtest.Mute}, is: flash.ErrFailed, says: "the old contents of the flash are restored"},
		{name: "does not start", faults: []flashtest.Fault{flashtest.Sleeps}, is: flash.ErrNotStarted, says: "though the flash was verified", changed: true},
		{name: "cannot be opened", faults: []flashtest.Fault{flashtest.Refuses}, is: flash.ErrBusy, says: "last output: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			onEach(t, func(d *desk) {
				if errors.Is(test.is, flash.ErrSilent) || len(test.faults) > 1 {
					d.job.Timeout = 3 * time.Second
				}
				d.breaks(test.faults...)
				_, err := flash.Write(d.Context(), d.job)
				d.fails(err, test.is, test.says)
				switch {
				case test.changed:
					d.holds(d.new, "what was written")
				case len(test.faults) == 1:
					d.holds(d.old, "what it held before")
				}
			})
		})
	}
}

// TestProtected has flashes that are protected as a whole, and in part.
func TestProtected(t *testing.T) {
	for _, from := range []int{0, 64 << 10} {
		onEach(t, func(d *desk) {
			check.Fatal(d, d.Protect(from))
			_, err := flash.Write(d.Context(), d.job)
			d.fails(err, flash.ErrProtected, "--unprotect")
			d.holds(d.old, "what it held before")
			d.job.Unprotect = true
			check.Must(flash.Write(d.Context(), d.job))(d)
			d.holds(d.new, "what was written")
		})
	}
}

// TestEmpty writes to a flash that holds nothing to go back to.
func TestEmpty(t *testing.T) {
	onEach(t, func(d *desk) {
		check.Fatal(d, d.Fill(onDesk, nil))
		d.breaks(flashtest.Unplugs)
		_, err := flash.Write(d.Context(), d.job)
		d.fails(err, flash.ErrUnplugged, "the flash held no bitstream", "until lmmc flash hx8k succeeds")
	})
}

// spoken are the params of an image that speaks a version of the link protocol.
func spoken(version string) map[string]string { return map[string]string{bitstream.Protocol: version} }

// TestRefused has what is refused before any tool speaks to a board.
func TestRefused(t *testing.T) {
	other := onDesk
	other.Port, other.Address, other.Serial = "1-3", 19, "HX2"
	cub := onDesk
	cub.Port, cub.Address, cub.Name = "1-4", 20, "iCEBreaker V1.0e"
	taken := onDesk
	taken.Channels = []plugged.Channel{{Name: "A", Driver: plugged.Taken}}
	pack := func(die bitstream.Device, board string) []byte {
		comment := bitstream.Info{Board: board}.Comment()
		if board == "" {
			comment = nil
		}
		return bitstreamtest.Pack(t, die, comment, nil)
	}
	slow := bitstream.Info{Board: "hx8k", Params: map[string]string{"mhz": "120", bitstream.Reached: "103.2", bitstream.Protocol: "3"}}
	old, next := bitstream.Info{Board: "hx8k", Config: "one-link"}, bitstream.Info{Board: "hx8k", Params: spoken("4")}
	images := map[string][]byte{"slow": bitstreamtest.Pack(t, "8k", slow.Comment(), nil), "up5k": pack("5k", "hx8k"), "fox": pack("8k", "fox"), "": pack("8k", ""),
		"old": bitstreamtest.Pack(t, "8k", old.Comment(), nil), "next": bitstreamtest.Pack(t, "8k", next.Comment(), nil)}
	for _, test := range []struct {
		name   string
		change func(*flash.Job)
		found  []plugged.Device
		is     error
		says   string
	}{
		{name: "other device", change: func(j *flash.Job) { j.Data = images["up5k"] }, is: flash.ErrFile, says: "built for a 5k, hx8k has a hx8k (8k)"},
		{name: "other board", change: func(j *flash.Job) { j.Data = images["fox"] }, is: flash.ErrFile, says: "built for board fox, this is hx8k"},
		{name: "any board", change: func(j *flash.Job) { j.Data = images[""] }, is: flash.ErrFile, says: "names no board"},
		{name: "too slow", change: func(j *flash.Job) { j.Data = images["slow"] }, is: flash.ErrTiming, says: "reached 103.2 MHz, want 120"},
		{name: "version 2", change: func(j *flash.Job) { j.Data = images["old"] }, is: flash.ErrVersion,
			says: "version 2 or before, this program speaks 3; run lmmc build hx8k/one-link"},
		{name: "next version", change: func(j *flash.Job) { j.Data = images["next"] }, is: flash.ErrVersion,
			says: "version 4, this program speaks 3; run lmmc build hx8k"},
		{name: "cut off", change: func(j *flash.Job) { j.Data = j.Data[:1000] }, is: bitstream.ErrTruncated, says: "byte 1000"},
		{name: "no board", found: []plugged.Device{}, is: flash.ErrNoBoard, says: "no hx8k (0403:6010)"},
		{name: "only another", found: []plugged.Device{cub}, is: flash.ErrNoBoard, says: "plugged in:\n  iCEBreaker V1.0e"},
		{name: "several", found: []plugged.Device{onDesk, other}, is: flash.ErrSeveral, says: "--serial; plugged in:\n  0403:6010 at port 1-2, serial number HX1\n  0403:6010 at port 1-3, serial number HX2"},
		{name: "serial number of none", change: func(j *flash.Job) { j.Serial = "HX3" }, is: flash.ErrNoBoard, says: "no hx8k with serial number HX3"},
		{name: "in use", found: []plugged.Device{taken}, is: flash.ErrBusy, says: "channel A of 0403:6010 at port 1-2"},
		{name: "no such tool", change: func(j *flash.Job) { j.Board.Tool = "ponyprog" }, is: flash.ErrTool, says: "there are iceprog, openFPGALoader"},
		{name: "no USB", change: func(j *flash.Job) { j.System.Sys = t.TempDir() }, is: plugged.ErrNoUSB, says: "the board is not plugged in"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, "iceprog")
			if test.found != nil {
				err := pluggedtest.Unplug(d.Machine(), onDesk)
				for _, device := range test.found {
					err = errors.Join(err, pluggedtest.Plug(d.Machine(), device))
				}
				check.Fatal(t, err)
			}
			if test.change != nil {
				test.change(&d.job)
			}
			_, err := flash.Write(t.Context(), d.job)
			d.fails(err, test.is, test.says)
			if calls := slices.DeleteFunc(d.Calls(), func(s string) bool { return s == "iceprog --help" }); len(calls) > 0 {
				t.Errorf("it ran %v", calls)
			}
		})
	}
}

// TestOneOfSeveral names a board by its serial number, and takes a bitstream that says nothing of a board.
func TestOneOfSeveral(t *testing.T) {
	unsaid := bitstreamtest.Pack(t, "8k", nil, nil)
	onEach(t, func(d *desk) {
		other := onDesk
		other.Port, other.Address, other.Serial = "1-3", 120, "HX2"
		check.Fatal(d, errors.Join(pluggedtest.Plug(d.Machine(), other), d.Fill(other, d.old)))
		d.job.Serial, d.job.Foreign, d.job.Data = "HX2", true, unsaid
		check.Must(flash.Write(d.Context(), d.job))(d)
		d.holds(d.old, "what the other board was not to be written over")
		if got, err := d.Holds(other); err != nil || !bytes.HasPrefix(got, d.job.Data) {
			d.Errorf("it is not written (%v)", err)
		}
	})
}

func TestTools(t *testing.T) {
	for _, test := range []struct{ name, script, says string }{
		{"missing", "", "iceprog is not installed: sudo apt-get install -y fpga-icestorm"},
		{"too old", "echo '  -d <device string>'; exit 1", "does not know d:<devicenode>, -R, -S, -p: it is too old, or it fails (exit status 1)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, "iceprog")
			file := filepath.Join(d.Bin(), "iceprog")
			err := os.Remove(file)
			if test.script != "" {
				err = errors.Join(err, os.WriteFile(file, []byte("#!/bin/sh\n"+test.script+"\n"), 0o755))
			}
			check.Fatal(t, err)
			_, err = flash.Write(t.Context(), d.job)
			d.fails(err, flash.ErrTool, test.says)
		})
	}
}
