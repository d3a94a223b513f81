// Package vboard opens the virtual board in this process: a host without a kernel and libusb, which does everything else that package usb does.
//
// Importing it makes targets such as "vboard:hx8k" and "vboard:hx8k?image=top.bin" known to hostdrv.Open. With the option image the board begins with that
// bitstream in its flash, and its FPGA runs the RTL that it was built from, or with exact=true what its bits are (virtual.Exact). Without, it runs what a target "rtl:" with the other options would be, as
// in "vboard:hx8k?links=2&frames=8". An option fault, of which there may be several, is as virtual.ParseFault has it. The option baud is the rate of the serial line; the default is the FPGA's own, or 3,000,000. The program has to know
// targets "rtl:" (package rtlsim). The target's time is the FPGA's, whatever that of USB.
//
// A target "vboard://HOST:PORT/1-1" is a board that another process serves by USB/IP, whose host this process becomes without a kernel. It has the option
// baud, and wall-clock time.
package vboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/boards/virtual/ice40"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/usb"
	"github.com/stafflink/lmmc/internal/nearest"
)

func init() { hostdrv.Register("vboard", open) }

// wanted is a parsed target.
type wanted struct {
	kind  string
	image string // a file; "" for none
	baud  int    // 0 for what the FPGA has
	fpga  string // a target
	exact bool   // the image's bits are run

	faults []virtual.Fault
}

func parse(target *url.URL) (wanted, error) {
	w := wanted{kind: target.Opaque}
	bad := func(format string, args ...any) (wanted, error) {
		return w, fmt.Errorf("%w: %s", hostdrv.ErrTarget, fmt.Sprintf(format, args...))
	}
	if !virtual.IsKind(w.kind) {
		return bad("no board %q%s; there are %s", w.kind, nearest.Hint(w.kind, virtual.Kinds()), strings.Join(virtual.Kinds(), ", "))
	}
	options, err := url.ParseQuery(target.RawQuery)
	if err != nil {
		return bad("%v", err)
	}
	for _, text := range options["fault"] {
		f, err := virtual.ParseFault(text)
		if err != nil {
			return bad("%v", err)
		}
		w.faults = append(w.faults, f)
	}
	options.Del("fault")
	for name, given := range options {
		if len(given) > 1 || given[0] == "" {
			return bad("option %s=%s: want one value", name, strings.Join(given, ","))
		}
	}
	if w.baud, err = rate(options); err != nil {
		return w, err
	}
	w.image = options.Get("image")
	if text := options.Get("exact"); text != "" {
		if w.exact, err = strconv.ParseBool(text); err != nil || w.exact && w.image == "" {
			return bad("option exact=%s: want true or false, and an image", text)
		}
	}
	options.Del("exact")
	options.Del("baud")
	options.Del("image")
	if w.image != "" && len(options) > 0 {
		return bad("option %s: the image says what the FPGA is", options.Encode())
	}
	w.fpga = "rtl:?" + options.Encode()
	return w, nil
}

// rate is the option baud; 0 if it is not given.
func rate(options url.Values) (int, error) {
	text := options.Get("baud")
	if text == "" {
		return 0, nil
	}
	baud, err := strconv.Atoi(text)
	if err != nil || baud < usb.MinBaud || baud > usb.MaxBaud {
		return 0, fmt.Errorf("%w: option baud=%s: want %d to %d", hostdrv.ErrTarget, text, usb.MinBaud, usb.MaxBaud)
	}
	return baud, nil
}

func open(ctx context.Context, target *url.URL) (hostdrv.Transport, error) {
	if target.Host != "" {
		return openServed(ctx, target)
	}
	w, err := parse(target)
	if err != nil {
		return nil, err
	}
	config := virtual.Config{Kind: w.kind}
	if w.image == "" {
		if config.FPGA, err = hostdrv.Dial(ctx, w.fpga); err != nil {
			return nil, err
		}
	} else if config.Flash, err = os.ReadFile(w.image); err != nil {
		return nil, err
	}
	return w.start(ctx, config)
}

// start makes a board, waits until its FPGA is configured, and opens it.
func (w wanted) start(ctx context.Context, c virtual.Config) (hostdrv.Transport, error) {
	loaded, design, time := make(chan error, 1), virtual.RTL, &clock{}
	if w.exact {
		design = virtual.Exact
	}
	if c.FPGA != nil {
		c.FPGA = time.keep(c.FPGA)
	}
	c.Design = func(ctx context.Context, image *ice40.Image) (hostdrv.Transport, error) {
		t, err := design(ctx, image)
		if err != nil && ctx.Err() != nil { // another image is being loaded
			return nil, err
		}
		if err == nil {
			t = time.keep(t)
		} else {
			time.fail(err)
		}
		select {
		case loaded <- err:
		default:
		}
		return t, err
	}
	b, err := virtual.New(c)
	if err != nil {
		if c.FPGA != nil {
			err = errors.Join(err, c.FPGA.Close())
		}
		return nil, err
	}
	time.held = b.Held
	r := run(b, w.faults)
	if c.FPGA == nil {
		err = b.Status().Err
		if err == nil {
			select {
			case err = <-loaded:
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
	}
	d, err := plugIn(ctx, b.Device(), time, r.close)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	t, err := usb.Open(ctx, d, cmp.Or(w.baud, int(b.Status().Baud), usb.DefaultBaud), 0)
	if err != nil {
		return nil, err
	}
	return newTransport(t, b, time), nil
}

// running is a board that runs until it is closed.
type running struct {
	cancel context.CancelFunc
	work   sync.WaitGroup
	failed error // of Run, when work is done
}

func run(b *virtual.Board, faults []virtual.Fault) *running {
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{cancel: cancel}
	r.work.Go(func() { r.failed = b.Run(ctx) })
	r.work.Go(func() { b.InjectFaults(ctx, faults) })
	return r
}

func (r *running) close() error {
	r.cancel()
	r.work.Wait()
	return r.failed
}
