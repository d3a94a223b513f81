package vboard_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/bitstream/bitstreamtest"
	_ "github.com/stafflink/lmmc/boards/virtual/vboard"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/conformance"
	_ "github.com/stafflink/lmmc/testbench/rtlsim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// conforms runs cases on a target.
func conforms(t *testing.T, target, cases string) *conformance.Report {
	t.Helper()
	report := check.Must(conformance.Execute(t.Context(), target, conformance.Options{Filter: cases}))(t)
	for _, r := range report.Results {
		if r.Verdict == conformance.Fail {
			t.Errorf("%s: %s\nagain: %s", r.Name, r.Reason, r.Again)
		}
	}
	return report
}

// TestConform runs cases that need the USB path, resets and unplugging. lmmc conform vboard:hx8k runs all cases.
func TestConform(t *testing.T) {
	report := conforms(t, "vboard:hx8k?links=2", "^(buffer/sizes|ports/.*|restart/.*|unplug/.*)$")
	if n := report.Count(conformance.Skip); n > 0 {
		t.Errorf("%d cases were skipped", n)
	}
}

// TestConformFaults runs cases with bit errors on the serial line, delayed USB transfers and NAKs.
func TestConformFaults(t *testing.T) {
	conforms(t, "vboard:icebreaker?links=2&fault=flips=1e-5&fault=delay=200us&fault=nak=3ms@every:40ms", "^(buffer/.*|ports/many)$")
}

// TestImage opens a board with an image in its flash, whose UART works only at the image's rate.
func TestImage(t *testing.T) {
	info := bitstream.Info{Board: "hx8k", Device: "hx8k", Hash: rtl.Hash(), Params: map[string]string{"mhz": "84", "baud": "12000000", "links": "2"}}
	path := filepath.Join(t.TempDir(), "top.bin")
	check.Fatal(t, os.WriteFile(path, bitstreamtest.Pack(t, "8k", info.Comment(), nil), 0o666))
	target := "vboard:hx8k?image=" + url.QueryEscape(path)
	n := check.Must(hostdrv.Open(t.Context(), target, hostdrv.Options{}))(t)
	check.Equal(t, "links", n.Identity().Links, 2)
	check.Error(t, n.Close())
	if n, err := hostdrv.Open(t.Context(), target+"&baud=3000000", hostdrv.Options{LinkTimeout: 20 * time.Millisecond}); !errors.Is(err, hostdrv.ErrSilent) {
		t.Errorf("at another rate: %v", err)
		if err == nil {
			n.Close()
		}
	}
	check.Fatal(t, os.WriteFile(path, bitstreamtest.Pack(t, "5k", info.Comment(), nil), 0o666))
	check.Fails(t, "an image for another device", check.Err(hostdrv.Dial(t.Context(), target)), nil)
	check.Fatal(t, os.WriteFile(path, bitstreamtest.Pack(t, "8k", nil, nil), 0o666))
	check.Fails(t, "an image without a description", check.Err(hostdrv.Dial(t.Context(), target)), nil)
}

func TestErrors(t *testing.T) {
	for _, target := range []string{
		"vboard:", "vboard:unknown", "vboard:hx8k?baud=1", "vboard:hx8k?baud=fast", "vboard:hx8k?image=x&links=2", "vboard:hx8k?links=", "vboard:hx8k?exact=1", "vboard:hx8k?image=x&exact=very", "vboard:hx8k?size=4",
		"vboard:hx8k?fault=unknown", "vboard:hx8k?fault=nak",
	} {
		check.Fails(t, target, check.Err(hostdrv.Dial(t.Context(), target)), hostdrv.ErrTarget)
	}
	check.Fails(t, "an image that does not exist", check.Err(hostdrv.Dial(t.Context(), "vboard:hx8k?image=nowhere")), os.ErrNotExist)
}

// TestTime compares the driver's time with the NI's: it excludes USB transfers and time in which the driver does not wait.
func TestTime(t *testing.T) {
	n := check.Must(hostdrv.Open(t.Context(), "vboard:hx8k?frames=1&fault=delay=5ms", hostdrv.Options{Seed: 1}))(t)
	defer n.Close()
	if !n.VirtualTime() {
		t.Error("the time of a simulation does not stand still")
	}
	const turn = 32 * time.Second / 125e6 // of the simulation
	for range 10 {
		limit, cancel := n.WithTimeout(t.Context(), 300*turn) // 77 us, of which USB takes 5 ms each way
		check.Must(n.LinkStatus(limit, 1))(t)
		cancel()
	}
	start := n.Now()
	time.Sleep(50 * time.Millisecond)
	if passed := n.Now() - start; passed > 0 {
		t.Errorf("%v passed while nobody waited", passed)
	}
	events := check.Must(n.Events())(t)
	const most = 1000 * turn
	limit, cancel := n.WithTimeout(t.Context(), most)
	defer cancel()
	start = n.Now()
	check.Fails(t, "a wait without an event", check.Err(events.Next(limit)), context.DeadlineExceeded)
	if passed := n.Now() - start; passed < most || passed > most+300*turn {
		t.Errorf("a wait of %v took %v", most, passed)
	}
}
