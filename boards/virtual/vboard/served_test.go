package vboard_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/bitstream/bitstreamtest"
	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/boards/virtual/ice40"
	"github.com/stafflink/lmmc/boards/virtual/usbip"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/conformance"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/rtlsim"
)

// served runs and exports boards, as 1-1 and so on, until the test ends. It returns the server's address.
func served(t *testing.T, boards ...virtual.Config) string {
	t.Helper()
	var exports []usbip.Export
	for i, c := range boards {
		b := check.Must(virtual.New(c))(t)
		check.Background(t, b.Run)
		exports = append(exports, usbip.Export{BusID: "1-" + string(rune('1'+i)), Device: b.Device()})
	}
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	check.Background(t, func(ctx context.Context) error { return usbip.Serve(ctx, l, exports, nil) })
	return l.Addr().String()
}

// TestServed opens an exported board repeatedly: it can be opened again at once after closing.
func TestServed(t *testing.T) {
	fpga := check.Must(hostdrv.Dial(t.Context(), "rtl:?links=2"))(t)
	address := served(t, virtual.Config{Kind: "hx8k", FPGA: fpga})
	const cases = "identity/fields|registers/frame-table|buffer/sizes|ports/many"
	if r := conforms(t, "vboard://"+address+"/1-1", "^("+cases+")$"); r.Count(conformance.Pass) != strings.Count(cases, "|")+1 {
		t.Errorf("%d cases passed", r.Count(conformance.Pass))
	}
	for path, want := range map[string]error{"": hostdrv.ErrTarget, "/": hostdrv.ErrTarget, "/1-2": usbip.ErrRefused, "/1-1?links=2": hostdrv.ErrTarget, "/1-1?baud=1": hostdrv.ErrTarget} {
		check.Fails(t, "vboard://"+address+path, check.Err(hostdrv.Dial(t.Context(), "vboard://"+address+path)), want)
	}
}

// TestWired joins two boards link to link, one of them configured from its flash. Each has a host of its own by USB/IP; they send to each
// other, also after one of them has read nothing for so long that its bridge has dropped data.
func TestWired(t *testing.T) {
	compiled := check.Must(hostdrv.Dial(t.Context(), "rtl:?links=2&uart=7"))(t) // what the image configures: that may take longer than the host's timeout
	check.Fatal(t, compiled.Close())
	rack := check.Must(rtlsim.NewRack(2, []ni.Cable{{LinkA: 1, B: 1, LinkB: 2}}))(t)
	t.Cleanup(func() { // after the boards
		check.Error(t, rack.Close())
	})
	fpga := check.Must(rack.Dial(t.Context(), 0, "rtl:?links=2"))(t)
	info := bitstream.Info{Board: "hx8k", Device: "hx8k", Hash: rtl.Hash(), Params: map[string]string{"mhz": "84", "baud": "12000000", "links": "2"}}
	address := served(t,
		virtual.Config{Kind: "hx8k", Serial: "V1", FPGA: fpga, Overrun: time.Millisecond},
		virtual.Config{
			Kind: "hx8k", Serial: "V2", Flash: bitstreamtest.Pack(t, "8k", info.Comment(), nil), Overrun: time.Millisecond,
			Design: func(ctx context.Context, image *ice40.Image) (hostdrv.Transport, error) {
				return virtual.RTLBy(ctx, image, func(ctx context.Context, target string) (hostdrv.Transport, error) { return rack.Dial(ctx, 1, target) })
			},
		})
	open := func(path string) *hostdrv.NI {
		return check.Must(hostdrv.Open(t.Context(), "vboard://"+address+path, hostdrv.Options{Hash: rtl.Hash()}))(t)
	}
	first, second := open("/1-1"), open("/1-2?baud=12000000")
	sends := func(from *hostdrv.NI, by int, to *hostdrv.NI, at int, text string) {
		t.Helper()
		have := make([]byte, len(text))
		if err := errors.Join(to.SetFrame(t.Context(), 1, hostdrv.FrameEntry{Link: at}), from.Write(t.Context(), by, 1024, []byte(text)), from.Sync(t.Context(), by),
			to.ReadBuffer(t.Context(), have, 1024)); err != nil || string(have) != text {
			t.Errorf("%q for %q: %v", have, text, err)
		}
	}
	sends(first, 1, second, 2, "there")
	sends(second, 2, first, 1, "and back")
	check.Fatal(t, errors.Join(second.SetNotify(t.Context(), true), second.Close()))
	for range 1024 { // each raises a NOTIFY
		check.Fatal(t, first.Write(t.Context(), 1, 1024, []byte("nobody reads this")))
	}
	check.Fatal(t, first.Sync(t.Context(), 1))
	second = open("/1-2?baud=12000000")
	sends(first, 1, second, 2, "again")
	check.Error(t, errors.Join(first.Close(), second.Close()))
}
