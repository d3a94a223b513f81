// Package usbbench measures how the driver uses USB: over the real libusb, under a kernel in a guest (package guest), on a virtual
// chip. A program that calls it is started again for that, inside the guest and there once more as the chip, and has to call Init first.
package usbbench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/stafflink/lmmc/hostdrv/transport/usb"
	"github.com/stafflink/lmmc/hostdrv/transport/usb/bare"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/guest"
)

// roleVariable says in a process of the guest what it is.
const roleVariable = "LMMC_USB_BENCH"

// Roles: the chip's process, and those that use it.
const (
	roleBoard = "board"
	roleReads = "reads"
	roleRates = "rates"
)

// Call Init first in main, right after guest.Init: in a process that this package has started it plays that process's role and does not return.
func Init() {
	role := os.Getenv(roleVariable)
	if role == "" {
		return
	}
	var err error
	switch role {
	case roleBoard:
		err = serve(os.Stdin, os.Stdout)
	case roleReads:
		err = try.Run(func() { print(reads()) })
	case roleRates:
		err = try.Run(func() { print(rates()) })
	default:
		err = fmt.Errorf("usbbench: %s=%s", roleVariable, role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func print(result any) { try.OK(json.NewEncoder(os.Stdout).Encode(result)) }

// Reads is what the bus carries for reads of 8 bytes, one after the other.
type Reads struct {
	PerRead []int   `json:"per_read"` // USB request blocks of the channel with data, of each read
	Idle    int     `json:"idle"`     // request blocks with nothing but the chip's status, of all reads
	Seconds float64 `json:"seconds"`  // of all reads
}

// MeasureReads has two registers read over and over by one call each time.
func MeasureReads(ctx context.Context) (r Reads, err error) {
	err = inGuest(ctx, roleReads, true, &r)
	return r, err
}

// Rates are bytes a second that go there and as many back, over and over.
type Rates struct {
	Bytes  int       `json:"bytes"`  // each time
	Driver []float64 `json:"driver"` // by the driver's transport
	Bare   []float64 `json:"bare"`   // by package bare, with transfers of the driver's sizes
}

// MeasureRates has the driver and package bare take turns. In a steady guest, on one processor whose clock counts instructions, they are the same on a busy
// machine, and it does not count that QEMU forgets all addresses whenever the kernel turns from one process to another.
func MeasureRates(ctx context.Context, steady bool) (r Rates, err error) {
	err = inGuest(ctx, roleRates, steady, &r)
	return r, err
}

// Shares are what the driver reached each time of what package bare did.
func (r Rates) Shares() []float64 {
	shares := make([]float64, len(r.Driver))
	for i, driver := range r.Driver {
		shares[i] = driver / r.Bare[i]
	}
	return shares
}

// inGuest runs this program in a guest, and decodes what it prints.
func inGuest(ctx context.Context, role string, steady bool, result any) error {
	if !bare.Built {
		return usb.ErrNotBuilt
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var stdout, stderr bytes.Buffer
	err = guest.Run(ctx, guest.Config{
		Command: []string{self}, Env: []string{roleVariable + "=" + role}, Dir: "/", Steady: steady, Modules: []string{"vhci-hcd", "ftdi_sio"},
		Stdout: &stdout, Stderr: &stderr,
	})
	if text := strings.TrimSpace(stderr.String()); err != nil && text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(stdout.Bytes(), result)
}
