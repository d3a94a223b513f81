package plugged_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stafflink/lmmc/boards/plugged"
	"github.com/stafflink/lmmc/boards/plugged/pluggedtest"
	"github.com/stafflink/lmmc/internal/check"
)

func machine(t *testing.T, devices ...plugged.Device) plugged.System {
	t.Helper()
	s, err := pluggedtest.New(t.TempDir())
	for _, d := range devices {
		err = errors.Join(err, pluggedtest.Plug(s, d))
	}
	check.Fatal(t, err)
	return s
}

var (
	breakout = plugged.Device{Port: "1-10", Bus: 1, Address: 7, Vendor: 0x0403, Product: 0x6010, Maker: "Lattice", Name: "Dual RS232-HS"}
	icy      = plugged.Device{Port: "1-2.3", Bus: 1, Address: 130, Vendor: 0x0403, Product: 0x6010, Maker: "1BitSquared", Name: "iCEBreaker V1.0e", Serial: "ib9"}
	modem    = plugged.Device{Port: "2-1", Bus: 2, Address: 4, Vendor: 0x1209, Product: 0x0001, Channels: []plugged.Channel{{Name: "A"}}}
)

func TestDevices(t *testing.T) {
	s := machine(t, modem)
	first, second := breakout, icy
	first.Channels = []plugged.Channel{
		{Name: "A", Driver: "ftdi_sio", Port: filepath.Join(s.Dev, "ttyUSB0")},
		{Name: "B", Driver: "ftdi_sio", Port: filepath.Join(s.Dev, "ttyUSB1")},
	}
	second.Channels = []plugged.Channel{{Name: "A", Driver: plugged.Taken}, {Name: "B"}}
	for _, d := range []plugged.Device{first, second} {
		check.Fatal(t, pluggedtest.Plug(s, d))
	}
	leaving := filepath.Join(s.Sys, "bus", "usb", "devices", "1-3") // its files have gone already
	check.Fatal(t, os.Mkdir(leaving, 0o755))
	got, err := s.Devices()
	check.Fatal(t, err)
	if diff := cmp.Diff([]plugged.Device{second, first, modem}, got); diff != "" {
		t.Error(diff)
	}
	if text := got[0].String(); text != "1BitSquared iCEBreaker V1.0e, 0403:6010 at port 1-2.3, serial number ib9" {
		t.Error(text)
	}
	check.Fatal(t, pluggedtest.Unplug(s, first))
	if got, err = s.Devices(); err != nil || len(got) != 2 {
		t.Errorf("after one is unplugged: %v, %v", got, err)
	}
}

// TestSerialPortOfModem has the other place where the kernel shows a serial port.
func TestSerialPortOfModem(t *testing.T) {
	s := machine(t, modem)
	check.Fatal(t, os.MkdirAll(filepath.Join(s.Sys, "bus", "usb", "devices", "2-1:1.0", "tty", "ttyACM3"), 0o755))
	got, err := s.Devices()
	if err != nil || len(got) != 1 || got[0].Channels[0].Port != filepath.Join(s.Dev, "ttyACM3") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestNoUSB(t *testing.T) {
	if _, err := (plugged.System{Sys: t.TempDir()}).Devices(); !errors.Is(err, plugged.ErrNoUSB) {
		t.Error(err)
	}
}

// TestPermission asks as a user who is not root, in another process.
func TestPermission(t *testing.T) {
	if dir := os.Getenv("LOOK_IN"); dir != "" {
		fmt.Println("permission:", plugged.System{Dev: dir}.Permission(breakout))
		return
	}
	s := machine(t, breakout)
	check.Error(t, s.Permission(breakout))
	if err := s.Permission(icy); err == nil || errors.Is(err, plugged.ErrPermission) {
		t.Errorf("of a device that is not there: %v", err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	for mode, want := range map[os.FileMode]string{0o664: "no permission to use the board", 0o666: "permission: <nil>"} {
		check.Fatal(t, os.Chmod(pluggedtest.Node(s, breakout), mode))
		open := filepath.Dir(filepath.Dir(s.Dev)) // made for this user alone
		check.Fatal(t, errors.Join(os.Chmod(open, 0o755), os.Chmod(filepath.Dir(s.Dev), 0o755)))
		// The test binary is where only root may go: it is opened before the user changes.
		self := check.Must(os.Open("/proc/self/exe"))(t)
		defer self.Close()
		cmd := exec.Command("/proc/self/fd/3", "-test.run=^TestPermission$", "-test.v")
		cmd.ExtraFiles = []*os.File{self}
		cmd.Dir = "/"
		cmd.Env = []string{"LOOK_IN=" + s.Dev}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("mode %o: %v: want %q:\n%s", mode, err, want, out)
		}
		if mode == 0o664 && !strings.Contains(string(out), "sudo lmmc udev") {
			t.Errorf("it does not say what helps: %s", out)
		}
	}
}

func TestBoards(t *testing.T) {
	kinds := []plugged.Kind{
		{Board: "hx8k", Vendor: 0x0403, Product: 0x6010},
		{Board: "icebreaker", Vendor: 0x0403, Product: 0x6010, Name: "icebreaker"},
		{Board: "other", Vendor: 0x0403, Product: 0x6010},
		{Board: "ulx3s", Vendor: 0x0403, Product: 0x6015},
	}
	for _, test := range []struct {
		device plugged.Device
		want   string
	}{{breakout, "[hx8k other]"}, {icy, "[icebreaker]"}, {modem, "[]"}} {
		if got := fmt.Sprint(plugged.Boards(test.device, kinds)); got != test.want {
			t.Errorf("%v may be %s, want %s", test.device, got, test.want)
		}
	}
}
