package ice40_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/bitstream/bitstreamtest"
	"github.com/stafflink/lmmc/boards/virtual/ice40"
	"github.com/stafflink/lmmc/boards/virtual/spiflash"
	"github.com/stafflink/lmmc/internal/check"
)

// fpga is a port with a flash, and its last image.
type fpga struct {
	*testing.T
	*ice40.Port
	flash *spiflash.Flash
	runs  *ice40.Image
	news  int // times that Changed was called
}

func build(t *testing.T, flash []byte) *fpga {
	f := &fpga{T: t, flash: spiflash.New(spiflash.W25Q128JV, 1)}
	copy(f.flash.Content(), flash)
	f.Port = ice40.New(ice40.Config{
		Device: "1k", Flash: f.flash,
		Changed: func(i *ice40.Image) { f.runs, f.news = i, f.news+1 },
		After:   func(time.Duration) {}, // Done looks what time it is
	})
	return f
}

// send configures the port as slave.
func (f *fpga) send(data []byte) {
	f.Pins(true, true, false, false)
	f.Pins(false, true, false, false)
	time.Sleep(2 * time.Millisecond)
	f.bytes(data)
}

func (f *fpga) bytes(data []byte) {
	for _, b := range data {
		for bit := 7; bit >= 0; bit-- {
			f.Pins(false, true, false, b>>bit&1 != 0)
			f.Pins(false, true, true, b>>bit&1 != 0)
		}
	}
}

func (f *fpga) want(done bool, why error) {
	f.Helper()
	if f.Done() != done || !errors.Is(f.Err(), why) || (f.runs != nil) != done {
		f.Errorf("CDONE %v, %v, runs %v; want %v, %v", f.Done(), f.Err(), f.runs != nil, done, why)
	}
}

func image(t *testing.T, device bitstream.Device, flags ...string) []byte {
	info := bitstream.Info{Board: "b", Hash: 7, Params: map[string]string{"links": "1"}}
	return bitstreamtest.Pack(t, device, info.Comment(), []string{".extra_bit 0 9 9"}, flags...)
}

func TestSlave(t *testing.T) {
	good := image(t, "1k")
	synctest.Test(t, func(t *testing.T) {
		f := build(t, nil)
		f.want(false, nil)
		f.send(good[:len(good)-1])
		f.want(true, nil)
		if f.runs.Info == nil || f.runs.Info.Hash != 7 || f.runs.Device != "1k" {
			t.Errorf("%+v", f.runs.File)
		}
		f.bytes(good) // more is nothing
		check.Equal(t, "times configured", f.news, 1)
		f.Pins(true, true, false, false)
		f.want(false, nil)
		f.send(slices.Concat([]byte("noise, which is no comment"), good))
		f.want(true, nil)
		if f.runs.Info != nil {
			t.Error("reads what is no comment")
		}
	})
}

// TestTooSoon sends before the FPGA's memory is clear.
func TestTooSoon(t *testing.T) {
	good := image(t, "1k")
	synctest.Test(t, func(t *testing.T) {
		f := build(t, nil)
		f.Pins(false, true, false, false)
		f.bytes(good[:100])
		time.Sleep(2 * time.Millisecond)
		f.bytes(good[100:])
		f.want(false, nil)
	})
}

func TestMaster(t *testing.T) {
	good := image(t, "1k")
	synctest.Test(t, func(t *testing.T) {
		f := build(t, good)
		f.spi(0xB9) // the flash is asleep; the FPGA wakes it
		start := time.Now()
		f.Pins(false, false, true, true)
		f.want(false, nil)
		for !f.Done() {
			time.Sleep(time.Millisecond)
		}
		f.want(true, nil)
		if long := time.Since(start); long < 30*time.Millisecond || long > 50*time.Millisecond {
			t.Errorf("loading %d bytes took %v", len(good), long)
		}
		f.Pins(true, false, true, true)
		f.want(false, nil)
		f.Pins(false, false, true, true)
		time.Sleep(10 * time.Millisecond)
		f.Pins(true, false, true, true) // too early
		time.Sleep(time.Second)
		f.want(false, nil)
	})
}

// TestBad loads wrong images, as slave and as master.
func TestBad(t *testing.T) {
	good, other := image(t, "1k"), image(t, "8k")
	damaged, short := bytes.Clone(good), bytes.Clone(good[:len(good)/2])
	damaged[len(good)/2] ^= 1
	for _, c := range []struct {
		name          string
		data          []byte
		slave, master error
	}{
		{"device", other, ice40.ErrDevice, ice40.ErrDevice},
		{"crc", damaged, bitstream.ErrCRC, bitstream.ErrCRC},
		{"half", short, nil, ice40.ErrNone},
		{"nothing", nil, nil, ice40.ErrNone},
		{"zeros", make([]byte, 300<<10), ice40.ErrNone, ice40.ErrNone},
		{"ends", bytes.Repeat([]byte{1, 6}, 150<<10), ice40.ErrNone, ice40.ErrNone},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := build(t, c.data)
				f.send(c.data)
				f.want(false, c.slave)
				f.Pins(true, false, true, true)
				f.Pins(false, false, true, true)
				time.Sleep(time.Second)
				f.want(false, c.master)
				f.send(good)
				f.want(true, nil)
			})
		})
	}
}

// spi sends a command to the flash by its pins, and returns the last byte that comes back.
func (f *fpga) spi(out ...byte) (in byte) {
	for i := range 8 * len(out) {
		bit := out[i/8]>>(7-i%8)&1 != 0
		high, driven := f.flash.Pins(true, false, bit)
		in <<= 1
		if high || !driven {
			in |= 1
		}
		f.flash.Pins(true, true, bit)
	}
	f.flash.Pins(false, false, false)
	return in
}

// asks reads the flash's manufacturer ID; 0xFF if the flash sleeps.
func (f *fpga) asks() (maker byte) { return f.spi(0x9F, 0) }

// TestSleep checks that the FPGA puts the flash to sleep after reading, unless the image forbids it.
func TestSleep(t *testing.T) {
	for _, c := range []struct {
		image []byte
		maker byte
	}{{image(t, "1k"), 0xFF}, {image(t, "1k", "-s"), 0xEF}} {
		synctest.Test(t, func(t *testing.T) {
			f := build(t, c.image)
			if maker := f.asks(); maker != 0xEF {
				t.Fatalf("the flash is made by %02x", maker)
			}
			f.Pins(false, false, true, true)
			time.Sleep(time.Second)
			f.want(true, nil)
			if maker := f.asks(); maker != c.maker || f.runs.Awake != (maker == 0xEF) {
				t.Errorf("the flash says %02x, want %02x", maker, c.maker)
			}
			f.Pins(true, false, true, true)
			f.Pins(false, false, true, true)
			time.Sleep(time.Second)
			f.want(true, nil) // it wakes it up again
		})
	}
}
