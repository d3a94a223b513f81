package usbbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/boards/virtual/ftdi"
	"github.com/stafflink/lmmc/boards/virtual/orders"
	"github.com/stafflink/lmmc/boards/virtual/usbdev"
	"github.com/stafflink/lmmc/boards/virtual/vhci"
	"github.com/stafflink/lmmc/hostdrv"
	_ "github.com/stafflink/lmmc/testbench/modelsim" // what is behind the board's serial line
)

// serial is the number of what is plugged in.
const serial = "V1"

// Orders to the chip's process.
const (
	orderBoard  = "plug a board in"
	orderEcho   = "plug a chip in that hears itself"
	orderUnplug = "unplug"
	orderCount  = "count" // answers with counts
)

// counts are the ends of bulk transfers at channel B.
type counts struct{ Out, In, Idle int }

// bench is the chip's process.
type bench struct {
	ctx     context.Context
	device  *usbdev.Device // that is plugged in
	carried <-chan error
	counts  counts // changed by the device, under its lock
}

// serve is the process's work.
func serve(in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	target, err := hostdrv.Dial(ctx, "model:?links=2&frames=8")
	if err != nil {
		return err
	}
	board, err := virtual.New(virtual.Config{Kind: "hx8k", Serial: serial, FPGA: target})
	if err != nil {
		return errors.Join(err, target.Close())
	}
	ran := make(chan error, 1)
	go func() { ran <- board.Run(ctx) }()
	echo, err := echoing(ctx)
	if err == nil {
		b := bench{ctx: ctx}
		err = orders.Serve(in, out, func(order string) (string, error) {
			switch order {
			case orderBoard:
				return "", b.plug(board.Device())
			case orderEcho:
				return "", b.plug(echo)
			case orderUnplug:
				b.device.Unplug()
				return "", <-b.carried
			case orderCount:
				return b.count()
			}
			return "", errors.New("there is no such order")
		})
	}
	cancel()
	return errors.Join(err, <-ran)
}

// echoing is a chip at whose second channel what it sends comes back, at any rate.
func echoing(ctx context.Context) (*usbdev.Device, error) {
	eeprom, err := ftdi.NewEEPROM(usbdev.Identity{Vendor: ftdi.Vendor, Product: ftdi.Product, MilliAmps: 100, Strings: [3]string{"LMMC", "echo", serial}})
	if err != nil {
		return nil, err
	}
	chip := ftdi.New(eeprom)
	line := chip.UART(ftdi.B, 0)
	context.AfterFunc(ctx, func() { line.Close() })
	go io.Copy(line, line) // ends with the line
	return chip.Device(), nil
}

func (b *bench) plug(d *usbdev.Device) (err error) {
	b.device = d
	d.Observe(b.see)
	_, b.carried, err = vhci.Plug(b.ctx, vhci.Sysfs, d)
	return err
}

// Endpoints of channel B.
const (
	endpointIn  = usbdev.In | 3
	endpointOut = 4
)

// see counts a transfer that has ended. Of each packet in the first two bytes are the chip's status.
func (b *bench) see(t *usbdev.Transfer) {
	const packet, status = 512, 2
	if t.Status != usbdev.OK {
		return
	}
	switch packets := (t.Actual + packet - 1) / packet; {
	case t.Endpoint == endpointOut:
		b.counts.Out++
	case t.Endpoint == endpointIn && t.Actual > status*packets:
		b.counts.In++
	case t.Endpoint == endpointIn:
		b.counts.Idle++
	}
}

func (b *bench) count() (string, error) {
	var now counts
	b.device.Do(func() { now = b.counts })
	text, err := json.Marshal(now)
	return string(text), err
}

// plugged is a chip's process, seen from its user.
type plugged struct{ *orders.Process }

func start(order string) (p plugged, err error) {
	if p.Process, err = orders.Start(roleVariable + "=" + roleBoard); err != nil {
		return p, err
	}
	if _, err = p.Do(order); err != nil {
		return p, errors.Join(err, p.Process.Close())
	}
	return p, nil
}

func (p plugged) count() (c counts, err error) {
	text, err := p.Do(orderCount)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return c, fmt.Errorf("counts %q: %w", text, err)
	}
	return c, nil
}

func (p plugged) close() error {
	_, err := p.Do(orderUnplug)
	return errors.Join(err, p.Process.Close())
}
