package virtual_test

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/boards/virtual/usbdev"
	"github.com/stafflink/lmmc/internal/check"
)

func faults(t *testing.T, texts ...string) (all []virtual.Fault) {
	t.Helper()
	for _, text := range texts {
		f := check.Must(virtual.ParseFault(text))(t)
		all = append(all, f)
	}
	return all
}

// faulty returns a board with injected faults, and its host, which reads the second channel.
func faulty(t *testing.T, flash []byte, texts ...string) (*virtual.Board, *programmer) {
	b := check.Must(virtual.New(virtual.Config{Kind: "hx8k", Flash: flash}))(t)
	p := plugIn(t, b)
	p.carry(&usbdev.Transfer{Endpoint: 0x83, Room: 512}) // the first packet comes at once, the next ones after 16 ms
	go b.InjectFaults(t.Context(), faults(t, texts...))
	synctest.Wait()
	return b, p
}

// next returns the status of the next transfer from the second channel, and its duration.
func (p *programmer) next() (usbdev.Status, time.Duration) {
	start := time.Now()
	x := &usbdev.Transfer{Endpoint: 0x83, Room: 512}
	check.Fatal(p, usbdev.Carry(p.Context(), p.bus, x))
	return x.Status, time.Since(start)
}

func TestFaults(t *testing.T) {
	const usual = 16 * time.Millisecond
	for _, c := range []struct {
		fault  string
		status usbdev.Status
		long   []time.Duration // of one transfer after the other
	}{
		{"delay=30ms", usbdev.OK, []time.Duration{30 * time.Millisecond, 30 * time.Millisecond}},
		{"nak=1s", usbdev.OK, []time.Duration{time.Second, usual}},
		{"nak=1s@every:1015ms", usbdev.OK, []time.Duration{usual, usual}},
		{"stall", usbdev.Stalled, []time.Duration{0, 0}},
		{"unplug=1s@5ms", usbdev.Gone, []time.Duration{5 * time.Millisecond, 0}},
		{"power@7ms", usbdev.Gone, []time.Duration{7 * time.Millisecond, 0}},
		{"flips=1", usbdev.OK, []time.Duration{usual, usual}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, p := faulty(t, nil, c.fault)
				for _, want := range c.long {
					if status, long := p.next(); status != c.status || long != want {
						t.Errorf("%v after %v, want %v after %v", status, long, c.status, want)
					}
				}
				synctest.Wait() // for power to come back
				if _, err := b.Device().Attach(); c.fault[0] == 'u' != errors.Is(err, usbdev.ErrUnplugged) {
					t.Error(err)
				}
				time.Sleep(time.Second)
				b.Device().Unplug()
				b.Device().Plug()
				if host, err := b.Device().Attach(); err != nil {
					t.Error(err)
				} else {
					host.Close()
				}
			})
		})
	}
}

// TestFaultNAKs repeats a NAK fault: each time transfers wait for its end.
func TestFaultNAKs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p := faulty(t, nil, "nak=100ms@every:150ms")
		defer p.bus.Close()
		late := 0
		for range 40 {
			if _, long := p.next(); long > 50*time.Millisecond {
				late++
			}
		}
		if late < 8 {
			t.Errorf("%d of 40 transfers were late", late)
		}
	})
}

// TestFaultPower loses power as soon as something is written to the flash.
func TestFaultPower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := bytes.Repeat([]byte{0x5A}, 1<<16)
		b, p := faulty(t, old, "power@write")
		p.pins(reset)
		p.spi(0xAB)
		synctest.Wait()
		select {
		case <-p.bus.Gone():
			t.Error("gone before anything was written")
		default:
		}
		p.spi(0x06)
		p.pins(cs | reset)
		p.send(0x11, 3, 0, 0xD8, 0, 0, 0)
		start := &usbdev.Transfer{Endpoint: 0x02, Data: []byte{0x80, 0, 0x03 | reset}}
		check.Fatal(t, usbdev.Carry(t.Context(), p.bus, start))
		<-p.bus.Gone()
		if have := b.Flash()[:1<<16]; !bytes.Equal(have[1<<12:], old[1<<12:]) || bytes.Equal(have, old) {
			t.Error("not an erasure that was broken off at its beginning")
		}
	})
}

func TestParseFault(t *testing.T) {
	for _, text := range []string{
		"", "unknown", "flips", "flips=2", "flips=NaN", "delay", "delay=5", "delay=-5ms", "nak=-1s", "stall=1s", "power=1", "unplug=x", "power@", "power@soon", "power@every:", "power@every:0s",
	} {
		check.Fails(t, text, check.Err(virtual.ParseFault(text)), virtual.ErrFault)
	}
	check.Equal(t, "a fault as text", faults(t, "nak=5ms@every:1s")[0].String(), "nak=5ms@every:1s")
}
