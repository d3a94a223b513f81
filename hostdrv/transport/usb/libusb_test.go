//go:build usb && cgo && linux

package usb

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/gousb"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/pipe"
	"github.com/stafflink/lmmc/internal/check"
)

// TestLibusb runs TestOnUsbfs in a process that sees two chips plugged in: with the real libusb, and a kernel made here.
func TestLibusb(t *testing.T) {
	run, err := exec.LookPath("umockdev-run")
	if err != nil {
		t.Skip("there is no umockdev-run; scripts/deps test installs it")
	}
	first, _ := plug(0x0700, "1-1")
	second, _ := plug(0x0700, "1-4")
	second.address++
	file := filepath.Join(t.TempDir(), "chips.umockdev")
	check.Fatal(t, os.WriteFile(file, []byte(describeChip(first)+describeChip(second)), 0o600))
	self := check.Must(os.Executable())(t)
	out, err := exec.CommandContext(t.Context(), run, "--device", file, "--", self, "-test.run=^TestOnUsbfs$", "-test.v").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestOnUsbfs") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestOnUsbfs(t *testing.T) {
	dir := os.Getenv("UMOCKDEV_DIR")
	if dir == "" {
		t.Skip("run by TestLibusb")
	}
	kernel := func(t *testing.T) (k [2]*usbfs, board hostdrv.Transport) { // of the second
		for i, port := range []string{"1-1", "1-4"} {
			d, line := plug(0x0700, port)
			d.number = fmt.Sprintf("FT%d", i+1)
			d.address += i
			k[i] = &usbfs{t: t, chip: d}
			k[i].plugIn(dir)
			end := pipe.New(line, hostdrv.Timing{TicksPerSecond: DefaultBaud / 10, Burst: 6000})
			t.Cleanup(func() { end.Close() })
			board = end
		}
		return k, board
	}
	t.Run("list", func(t *testing.T) {
		kernel(t)
		check.Fails(t, "Dial", check.Err(hostdrv.Dial(t.Context(), "usb:0403:6010")), ErrSeveral, "port 1-4, serial number FT2")
		check.Fails(t, "Dial", check.Err(hostdrv.Dial(t.Context(), "usb:?serial=FT3")), ErrNoDevice)
	})
	t.Run("carry", func(t *testing.T) {
		k, board := kernel(t)
		host := check.Must(hostdrv.Dial(t.Context(), "usb:?serial=FT2&interface=B"))(t)
		bothWays(t, host, board)
		k[1].mu.Lock() // what libusb waits for is nothing that the race detector sees
		defer k[1].mu.Unlock()
		if want := []uint32{1}; !slices.Equal(k[1].claimed, want) || !slices.Equal(k[1].connected, want) {
			t.Errorf("claimed %v, given back %v", k[1].claimed, k[1].connected)
		}
		check.Equal(t, "control requests", len(k[1].chip.requests), 8)
	})
	t.Run("unplug", func(t *testing.T) {
		k, _ := kernel(t)
		host, err := hostdrv.Dial(t.Context(), "usb:?port=1-4")
		check.Fatal(t, err)
		k[1].chip.unplug()
		for err == nil {
			err = host.Exchange(&hostdrv.Exchange{Wait: 1000})
		}
		check.Fails(t, "read", err, gousb.TransferNoDevice)
		check.Error(t, host.Close())
	})
	t.Run("stall", func(t *testing.T) {
		k, _ := kernel(t)
		k[0].mu.Lock()
		k[0].chip.isStalling, k[0].chip.stalled = true, requestLatency
		k[0].mu.Unlock()
		check.Fails(t, "Dial", check.Err(hostdrv.Dial(t.Context(), "usb:?port=1-1")), gousb.ErrorPipe)
	})
	t.Run("busy", func(t *testing.T) {
		k, _ := kernel(t)
		k[0].mu.Lock()
		k[0].taken = syscall.EBUSY
		k[0].mu.Unlock()
		check.Fails(t, "Dial", check.Err(hostdrv.Dial(t.Context(), "usb:?port=1-1")), ErrBusy)
	})
}

func TestDescribe(t *testing.T) {
	d := describe(&gousb.DeviceDesc{Bus: 3, Path: []int{2, 4}, Address: 17, Vendor: 0x15BA, Product: 0x2B, Device: 0x0700})
	check.Equal(t, "description", d, (described{0x15BA, 0x2B, 0x0700, "3-2.4", 17}))
}

func TestTranslate(t *testing.T) {
	for err, want := range map[error]error{
		gousb.ErrorAccess: ErrPermission,
		gousb.ErrorBusy:   ErrBusy,
		fmt.Errorf("failed to claim: %v", gousb.ErrorBusy): ErrBusy,
		gousb.ErrorIO: gousb.ErrorIO,
	} {
		check.Fails(t, err.Error(), translate(err), want)
	}
	check.Error(t, translate(nil))
}
