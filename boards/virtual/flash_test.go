package virtual_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/bitstream/bitstreamtest"
	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/boards/virtual/ice40"
	"github.com/stafflink/lmmc/boards/virtual/usbdev"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
)

// programmer is a host that writes the flash over the first channel, with the commands that iceprog and openFPGALoader send.
type programmer struct {
	testing.TB
	*virtual.Board
	bus *usbdev.Host
}

// Pins, of which those that the host drives are low.
const (
	cs    = 0x10
	done  = 0x40
	reset = 0x80
)

func plugIn(t testing.TB, b *virtual.Board) *programmer {
	t.Helper()
	bus := check.Must(b.Device().Attach())(t)
	p := &programmer{TB: t, Board: b, bus: bus}
	for _, s := range []usbdev.Setup{{Request: 9, Value: 1}, {Type: 0x40, Request: 9, Value: 1, Index: 1}, {Type: 0x40, Request: 11, Value: 0x02FF, Index: 1}} {
		p.carry(&usbdev.Transfer{Setup: s})
	}
	p.send(0x8B, 0x86, 0, 0)
	return p
}

func (p *programmer) carry(x *usbdev.Transfer) *usbdev.Transfer {
	p.Helper()
	if err := usbdev.Carry(p.Context(), p.bus, x); err != nil || x.Status != usbdev.OK {
		p.Fatal(err, x.Status)
	}
	return x
}

func (p *programmer) send(b ...byte) { p.carry(&usbdev.Transfer{Endpoint: 0x02, Data: b}) }

func (p *programmer) receive(n int) (have []byte) {
	for len(have) < n {
		data := p.carry(&usbdev.Transfer{Endpoint: 0x81, Room: 512}).Data
		have = append(have, data[2:]...)
	}
	return have
}

// pins drives some low, and leaves the others alone.
func (p *programmer) pins(low byte) { p.send(0x80, 0, 0x03|low) }

func (p *programmer) cdone() bool {
	p.send(0x81, 0x87)
	return p.receive(1)[0]&done != 0
}

// spi carries bytes both ways while the flash is selected and the FPGA in reset.
func (p *programmer) spi(b ...byte) []byte {
	p.pins(cs | reset)
	p.send(append([]byte{0x31, byte(len(b) - 1), byte((len(b) - 1) >> 8)}, b...)...)
	have := p.receive(len(b))
	p.pins(reset)
	return have
}

func (p *programmer) wait() {
	for p.spi(0x05, 0)[1]&1 != 0 {
		time.Sleep(time.Millisecond)
	}
}

// flash writes from address 0, and reads back.
func (p *programmer) flash(data []byte) {
	p.pins(reset)
	p.spi(0xAB)
	for at := 0; at < len(data); at += 4 << 10 {
		p.spi(0x06)
		p.spi(0x20, byte(at>>16), byte(at>>8), 0)
		p.wait()
	}
	for at := 0; at < len(data); at += 256 {
		p.spi(0x06)
		p.spi(append([]byte{0x02, byte(at >> 16), byte(at >> 8), 0}, data[at:min(at+256, len(data))]...)...)
		p.wait()
	}
	for at := 0; at < len(data); at += 2048 {
		want := data[at:min(at+2048, len(data))]
		if have := p.spi(append([]byte{0x03, byte(at >> 16), byte(at >> 8), 0}, make([]byte, len(want))...)...)[4:]; !bytes.Equal(have, want) {
			p.Fatalf("other bytes than written in the 2048 from %#x", at)
		}
	}
	p.spi(0xB9)
}

// load configures the FPGA directly.
func (p *programmer) load(data []byte) {
	p.pins(cs | reset)
	p.pins(cs)
	time.Sleep(2 * time.Millisecond)
	for at := 0; at < len(data); at += 4096 {
		part := data[at:min(at+4096, len(data))]
		p.send(append([]byte{0x11, byte(len(part) - 1), byte((len(part) - 1) >> 8)}, part...)...)
	}
	p.send(0x8F, 5, 0, 0x8E, 0)
}

// links asks the network interface behind the other channel for the number of its links.
func (p *programmer) links() int {
	p.Helper()
	n := check.Must(open(p.Context(), unclosed{p.bus}))(p)
	links := n.Identity().Links
	check.Error(p, n.Close())
	return links
}

// unclosed is a bus whose Close does nothing.
type unclosed struct{ usbdev.Bus }

func (unclosed) Close() {}

// lines receives the lines of a log.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}

// starts returns the image that a board opens a design of next.
func starts(t *testing.T, made <-chan *ice40.Image) *ice40.Image {
	t.Helper()
	select {
	case i := <-made:
		return i
	case <-t.Context().Done():
		return nil
	}
}

// TestConfigure configures a board by its flash and directly, also with an image for another device.
func TestConfigure(t *testing.T) {
	made, log := make(chan *ice40.Image, 9), make(lines, 9)
	info := bitstream.Info{Board: "icebreaker", Device: "up5k", Hash: 1, Params: map[string]string{"links": "3"}}
	good := bitstreamtest.Pack(t, "5k", info.Comment(), nil)
	other := bitstreamtest.Pack(t, "8k", nil, nil)
	b := run(t, virtual.Config{
		Kind: "icebreaker", Serial: "V2", Flash: other, Log: slog.New(slog.NewTextHandler(log, nil)),
		Design: func(ctx context.Context, i *ice40.Image) (hostdrv.Transport, error) {
			made <- i
			if i.Info == nil {
				return nil, errors.New("unknown")
			}
			return hostdrv.Dial(ctx, "model:?links="+i.Info.Params["links"])
		},
	})
	p := plugIn(t, b)
	defer p.bus.Close()
	if s := b.Status(); s.Done || !errors.Is(s.Err, ice40.ErrDevice) {
		t.Errorf("%+v", s)
	}
	if line := <-log; !strings.Contains(line, "for another device: a 8k, and this is a 5k") {
		t.Errorf("log: %s", line)
	}
	check.Equal(t, "flash ID", p.spi(0x9F, 0, 0, 0)[1:], []byte{0xEF, 0x40, 0x18})
	p.flash(good)
	if p.cdone() {
		t.Error("CDONE is high in reset")
	}
	p.pins(0)
	for !p.cdone() {
		time.Sleep(time.Millisecond)
	}
	if i := starts(t, made); i.Info.Board != "icebreaker" || !bytes.Equal(i.Data, good[:len(i.Data)]) {
		t.Errorf("%+v", i.File)
	}
	check.Equal(t, "links", p.links(), 3)
	p.load(other)
	if s := b.Status(); p.cdone() || !errors.Is(s.Err, ice40.ErrDevice) {
		t.Errorf("an image for another device: %+v", s)
	}
	p.load(good)
	if s := b.Status(); !p.cdone() || s.Image == nil || s.Image.Info.Hash != 1 {
		t.Errorf("%+v", s)
	}
	starts(t, made)
	plain := bitstreamtest.Pack(t, "5k", nil, nil)
	p.load(plain)
	if starts(t, made).Info != nil || !p.cdone() {
		t.Error("an image of somebody else configures the FPGA too")
	}
}

// TestPowerCycle cuts the power while the flash is being erased: the FPGA finds no image until the host loads one.
func TestPowerCycle(t *testing.T) {
	good := bitstreamtest.Pack(t, "8k", nil, nil)
	b := run(t, virtual.Config{Kind: "hx8k", Flash: good})
	p := plugIn(t, b)
	for !b.Status().Done {
		time.Sleep(time.Millisecond)
	}
	p.pins(reset)
	p.spi(0x06)
	p.spi(0xD8, 0, 0, 0)
	time.Sleep(time.Millisecond) // of 700
	b.PowerCycle()
	<-p.bus.Gone()
	if f := b.Flash(); bytes.Equal(f[:1<<16], good[:1<<16]) || !bytes.Equal(f[1<<16:][:1<<15], good[1<<16:][:1<<15]) {
		t.Error("not what half an erasure leaves")
	}
	p = plugIn(t, b)
	defer p.bus.Close()
	if p.cdone() {
		t.Error("CDONE is high with half an image")
	}
	p.pins(reset)
	p.spi(0x9F, 0, 0, 0)
	p.load(good)
	if !p.cdone() {
		t.Error("cannot be configured after that")
	}
}
