package main

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/bitstream/bitstreamtest"
	"github.com/stafflink/lmmc/boards/flash/flashtest"
	"github.com/stafflink/lmmc/boards/plugged"
	"github.com/stafflink/lmmc/boards/plugged/pluggedtest"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/conformance"
)

// lmmcHere runs lmmc in a folder of its own.
func lmmcHere(t *testing.T, c contents, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(t.TempDir())
	var out, err bytes.Buffer
	code = run(append([]string{"lmmc"}, args...), &out, &err, c)
	return code, out.String(), err.String()
}

// loopImage is a bitstream that says it is a configuration of the board hx8k, with an empty FPGA.
func loopImage(t *testing.T, device bitstream.Device) string {
	t.Helper()
	all := check.Must(boards.All())(t)
	c := check.Must(boards.Find(all, "hx8k/self-loop"))(t)
	info := c.Info()
	path := filepath.Join(t.TempDir(), "one two.bin")
	check.Fatal(t, os.WriteFile(path, bitstreamtest.Pack(t, device, info.Comment(), nil), 0o666))
	return path
}

// TestLoopVirtual flashes and checks a virtual board.
func TestLoopVirtual(t *testing.T) {
	image := loopImage(t, "8k")
	code, out, errs := lmmcHere(t, fakes(), "loop", "vboard:hx8k", "--image", image, "--run", "buffer/sizes", "--json")
	var r loopReport
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitOK {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out, errs)
	}
	if len(r.Steps) != 2 || r.Steps[0].Name != "flash" || r.Steps[1].Name != "conform" || r.Board != "hx8k/self-loop" {
		t.Errorf("%+v", r)
	}
	if r.Conform.Count(conformance.Pass) != 1 || r.Conform.Identity.Links != 1 || r.Conform.Identity.Frames != 4 || r.Build != nil || r.Flash != nil {
		t.Errorf("%+v", r.Conform)
	}
	check.Equal(t, "what is kept", string(check.Must(os.ReadFile("build/results/loop.json"))(t)), out)
}

// TestLoopFails has bitstreams that the board does not take.
func TestLoopFails(t *testing.T) {
	for _, test := range []struct{ target, image, want string }{
		{"vboard:hx8k", loopImage(t, "5k"), "hx8k"},
		{"vboard:icebreaker", loopImage(t, "8k"), "is for board hx8k, this is icebreaker"},
	} {
		code, out, errs := lmmcHere(t, fakes(), "loop", test.target, "--image", test.image, "--run", "buffer/sizes", "--json")
		var r loopReport
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitFailed {
			t.Errorf("%s: exit code %d, %v: %s%s", test.target, code, err, out, errs)
			continue
		}
		if len(r.Steps) != 1 || r.Steps[0].Error == "" {
			t.Errorf("%s: %+v", test.target, r.Steps)
		}
		if !strings.Contains(errs, test.want) {
			t.Errorf("%s: %s, want %s", test.target, errs, test.want)
		}
	}
}

// TestLoopReal flashes a board that is plugged in, by a stand-in for iceprog. What is checked then is a simulation, or a port at which
// nobody listens.
func TestLoopReal(t *testing.T) {
	program := check.Must(os.Executable())(t)
	b := check.Must(flashtest.New(filepath.Join(t.TempDir(), "bench"), program))(t)
	device := plugged.Device{Port: "1-2", Bus: 1, Address: 5, Vendor: 0x0403, Product: 0x6010, Serial: "HX1", Channels: []plugged.Channel{{}, {}}}
	check.Fatal(t, pluggedtest.Plug(b.Machine(), device))
	check.Fatal(t, b.Fill(device, nil))
	t.Setenv(flashtest.Variable, b.Dir)
	t.Setenv("PATH", b.Bin()+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	image := loopImage(t, "8k")
	for _, note := range []string{"has it and runs it", "had it already"} {
		code, out, errs := lmmcHere(t, fakes(), "loop", "model:?links=1", "--image", image, "--run", "buffer/sizes", "--serial", "HX1")
		if code != exitOK || !strings.Contains(out, note) || !strings.Contains(out, "1 passed, 0 failed") {
			t.Errorf("exit code %d: %s%s", code, out, errs)
		}
	}
	l := check.Must(net.Listen("tcp", "localhost:0"))(t)
	check.Fatal(t, l.Close())
	code, out, errs := lmmcHere(t, fakes(), "loop", "tcp:"+l.Addr().String(), "--image", image, "--serial", "HX1")
	if code != exitFailed || !strings.Contains(out, "conform      0.0  it failed") || !strings.Contains(errs, "refused") {
		t.Errorf("nobody listens: exit code %d: %s%s", code, out, errs)
	}
	code, out, errs = lmmcHere(t, fakes(), "loop", "model:?links=1", "--image", image, "--serial", "HX2")
	if code != exitFailed || !strings.Contains(errs, "not plugged in") || strings.Contains(out, "conform") {
		t.Errorf("without the board: exit code %d: %s%s", code, out, errs)
	}
}

func TestLoopUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"vboard:hx8k", "usb:"}, {"hx8k"}, {"vboard:hx9k"}, {"vboard:hx8k", "--board", "hx8k/none"}, {"vboard:hx8k", "--seeds", "0"},
		{"vboard:hx8k?image=x.bin"}, {"vboard://localhost:1/1-1"}, {"vboard:hx8k", "--run", "("},
	} {
		if code, out, errs := lmmcHere(t, fakes(), append([]string{"loop"}, args...)...); code != exitUsage {
			t.Errorf("%v: exit code %d: %s%s", args, code, out, errs)
		}
	}
}

func TestWithOption(t *testing.T) {
	for target, want := range map[string]string{
		"usb:0403:6010":           "usb:0403:6010?baud=12000000",
		"usb:?serial=X":           "usb:?serial=X&baud=12000000",
		"serial:/dev/ttyUSB1":     "serial:/dev/ttyUSB1?baud=12000000",
		"usb:0403:6010?baud=9600": "usb:0403:6010?baud=9600",
		"tcp:localhost:1":         "tcp:localhost:1",
	} {
		check.Equal(t, target+" with options", withOption(target, "baud", "12000000", "serial", "usb"), want)
	}
}
