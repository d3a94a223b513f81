package vboard

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/boards/virtual/usbip"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/usb"
)

// servedPace is how many symbol times a second a driver counts: about what a simulation of RTL with a UART makes at least.
const servedPace = 1e4

// openServed opens a target "vboard://HOST:PORT/BUSID".
func openServed(ctx context.Context, target *url.URL) (hostdrv.Transport, error) {
	bad := func(format string, args ...any) (hostdrv.Transport, error) {
		return nil, fmt.Errorf("%w: %s", hostdrv.ErrTarget, fmt.Sprintf(format, args...))
	}
	id := strings.TrimPrefix(target.Path, "/")
	if id == "" {
		return bad("no bus id, as in vboard://%s/1-1; lmmc vboard serve prints it", target.Host)
	}
	options, err := url.ParseQuery(target.RawQuery)
	if err != nil {
		return bad("%v", err)
	}
	baud, err := rate(options)
	if err != nil {
		return nil, err
	}
	if options.Del("baud"); len(options) > 0 {
		return bad("option %s: a board that is served has baud only", options.Encode())
	}
	address := target.Host
	if target.Port() == "" {
		address = net.JoinHostPort(target.Hostname(), strconv.Itoa(usbip.DefaultPort))
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w: run lmmc vboard serve BOARD there", err)
	}
	info, err := usbip.Import(ctx, conn, id)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	d := &device{usbip.NewClient(conn, info), info.Vendor, info.Product, info.Release, &clock{}, func() error { return nil }}
	if err := d.configure(ctx); err != nil {
		return nil, err
	}
	return usb.Open(ctx, d, cmp.Or(baud, usb.DefaultBaud), servedPace)
}
