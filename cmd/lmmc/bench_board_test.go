package main

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/stafflink/lmmc/boards/flash/flashtest"
	"github.com/stafflink/lmmc/boards/plugged"
	"github.com/stafflink/lmmc/boards/plugged/pluggedtest"
)

// theBench: plug PORT ADDRESS SERIAL [NAME], bench unplug PORT and bench break FAULT... make and change the machine that the
// following commands find, and put stand-ins for iceprog and openFPGALoader first in PATH.
func theBench(ts *testscript.TestScript, _ bool, args []string) {
	b := &flashtest.Bench{Dir: ts.MkAbs("bench")}
	if _, err := os.Stat(b.Dir); err != nil {
		program, err := os.Executable()
		ts.Check(err)
		b, err = flashtest.New(b.Dir, program)
		ts.Check(err)
		ts.Setenv(flashtest.Variable, b.Dir)
		ts.Setenv("PATH", b.Bin()+string(os.PathListSeparator)+ts.Getenv("PATH"))
		ts.Setenv("HOME", ts.MkAbs("home")) // what a flash held is kept there
	}
	switch args[0] {
	case "plug":
		address, err := strconv.Atoi(args[2])
		device := plugged.Device{Port: args[1], Bus: 1, Address: address, Vendor: 0x0403, Product: 0x6010, Serial: args[3],
			Name: strings.Join(args[4:], " "), Channels: []plugged.Channel{{Driver: "ftdi_sio", Port: "/dev/ttyUSB0"}, {Driver: "ftdi_sio", Port: "/dev/ttyUSB1"}}}
		ts.Check(errors.Join(err, pluggedtest.Plug(b.Machine(), device), b.Fill(device, nil)))
	case "unplug":
		all, err := b.Machine().Devices()
		ts.Check(err)
		for _, d := range all {
			if d.Port == args[1] {
				ts.Check(pluggedtest.Unplug(b.Machine(), d))
			}
		}
	case "break":
		var faults []flashtest.Fault
		for _, f := range args[1:] {
			faults = append(faults, flashtest.Fault(f))
		}
		ts.Check(b.Break(faults...))
	default:
		ts.Fatalf("bench %s?", args[0])
	}
}
