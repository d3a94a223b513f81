// Package flashtest has stand-ins for iceprog and openFPGALoader, with boards that go wrong when a test wants it. They
// take the command lines and print the texts of the real programs, in their order and on their streams.
//
// Sources: iceprog/iceprog.c and iceprog/mpsse.c of Project IceStorm; src/main.cpp, src/ice40.cpp, src/spiFlash.cpp,
// src/progressBar.cpp and src/ftdipp_mpsse.cpp of openFPGALoader 0.10.
package flashtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/boards/plugged"
	"github.com/stafflink/lmmc/boards/plugged/pluggedtest"
)

// Variable is the environment variable with the folder of a Bench.
const Variable = "LMMC_FLASHTEST"

// Hanging is a file in a Bench that is there once a tool hangs.
const Hanging = "hanging"

// Bench is a folder for a machine with boards whose flashes are files. The stand-ins find it by Variable.
type Bench struct{ Dir string }

// Machine is what the boards are plugged into.
func (b *Bench) Machine() plugged.System {
	return plugged.System{Sys: filepath.Join(b.Dir, "sys"), Dev: filepath.Join(b.Dir, "dev")}
}

// Fault is what goes wrong, once.
type Fault string

const (
	Absent   Fault = "absent"   // the flash does not drive its output: all that is read is ones
	Hangs    Fault = "hangs"    // the tool says no more after some pages
	Unplugs  Fault = "unplugs"  // the board is unplugged after some pages
	Damages  Fault = "damages"  // a bit of a page is written wrong
	Sleeps   Fault = "sleeps"   // the FPGA does not start
	Dozes    Fault = "dozes"    // nor when the flash was only read
	Refuses  Fault = "refuses"  // the chip cannot be opened
	Mute     Fault = "mute"     // the tool ends in the middle as if all were well
	HangsOff Fault = "hangsoff" // the tool says no more while it reads
)

// New makes a bench in a folder, with the stand-ins in its folder bin: links to a program that calls Main.
func New(dir, program string) (*Bench, error) {
	_, err := pluggedtest.New(dir)
	bin := filepath.Join(dir, "bin")
	err = errors.Join(err, os.MkdirAll(bin, 0o755))
	for _, name := range []string{"iceprog", "openFPGALoader"} {
		err = errors.Join(err, os.Symlink(program, filepath.Join(bin, name)))
	}
	return &Bench{dir}, err
}

// Bin is the folder for PATH.
func (b *Bench) Bin() string { return filepath.Join(b.Dir, "bin") }

// flashSize is that of the flashes, in bytes.
const flashSize = 256 << 10

// Fill puts data into a board's flash, with ones behind it.
func (b *Bench) Fill(d plugged.Device, data []byte) error {
	return os.WriteFile(b.flash(d), append(bytes.Clone(data), bytes.Repeat([]byte{0xff}, flashSize-len(data))...), 0o600)
}

// Holds returns what is in a board's flash.
func (b *Bench) Holds(d plugged.Device) ([]byte, error) { return os.ReadFile(b.flash(d)) }

// Loaded returns what was last written into a board's FPGA.
func (b *Bench) Loaded(d plugged.Device) ([]byte, error) { return os.ReadFile(b.flash(d) + ".sram") }

// Protect protects all flashes against writing from an address on.
func (b *Bench) Protect(from int) error {
	return os.WriteFile(filepath.Join(b.Dir, "protected"), []byte(strconv.Itoa(from)), 0o600)
}

// Break makes something go wrong, once for each fault, in this order.
func (b *Bench) Break(faults ...Fault) error {
	for i, f := range faults {
		if err := os.WriteFile(filepath.Join(b.Dir, fmt.Sprintf("fault%d", i)), []byte(f), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bench) flash(d plugged.Device) string { return filepath.Join(b.Dir, "flash-"+d.Port) }

// Calls returns the command lines of the stand-ins so far.
func (b *Bench) Calls() []string {
	text, err := os.ReadFile(filepath.Join(b.Dir, "calls"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// Main is one of the stand-ins if this program was started as one, and does not return then.
func Main() {
	play := map[string]func(*board, []string) int{"iceprog": iceprog, "openFPGALoader": openFPGALoader}[filepath.Base(os.Args[0])]
	if play == nil {
		return
	}
	dir := os.Getenv(Variable)
	b := &Bench{dir}
	calls, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	check(err)
	_, err = fmt.Fprintln(calls, filepath.Base(os.Args[0]), strings.Join(os.Args[1:], " "))
	check(err)
	os.Exit(play(&board{bench: b}, os.Args[1:]))
}

// check ends a stand-in whose bench is not well.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "flashtest:", err)
		os.Exit(99)
	}
}
