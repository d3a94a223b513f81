package vboard_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/boards/virtual/usbip"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/conformance"
)

// served runs boards, the first of which is 1-1, and serves them until the test ends, at the address that it returns.
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

// TestServed uses a board of another process, again and again: who has closed it can open it at once.
func TestServed(t *testing.T) {
	fpga := check.Must(hostdrv.Dial(t.Context(), "rtl:?links=2"))(t)
	address := served(t, virtual.Config{Kind: "hx8k", FPGA: fpga})
	const cases = "identity/fields|registers/frame-table|buffer/sizes|ports/many"
	if r := conforms(t, "vboard://"+address+"/1-1", "^("+cases+")$"); r.Count(conformance.Pass) != strings.Count(cases, "|")+1 {
		t.Errorf("%d cases passed", r.Count(conformance.Pass))
	}
	for path, want := range map[string]error{"": hostdrv.ErrTarget, "/": hostdrv.ErrTarget, "/1-2": usbip.ErrRefused, "/1-1?links=2": hostdrv.ErrTarget, "/1-1?baud=1": hostdrv.ErrTarget} {
		if _, err := hostdrv.Dial(t.Context(), "vboard://"+address+path); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}
