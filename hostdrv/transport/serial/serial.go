// Package serial is the transport to a board on a serial port. Importing it makes targets such as
// "serial:/dev/ttyUSB1?baud=3000000" known to hostdrv.Open.
package serial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.bug.st/serial"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/pipe"
	"github.com/stafflink/lmmc/hostdrv/udev"
)

func init() { hostdrv.Register("serial", open) }

// Errors of opening a port.
var (
	ErrNoDevice   = errors.New("serial: no such port")
	ErrBusy       = errors.New("serial: the port is in use by another program")
	ErrPermission = errors.New("serial: no permission to use the port")
	ErrBaud       = errors.New("serial: rate not supported by the port")
)

// Rates that a port can be asked for, in bits a second.
const (
	DefaultBaud = 3_000_000
	MinBaud     = 1200
	MaxBaud     = 12_000_000
)

// open opens targets "serial:PATH", with the option baud.
func open(_ context.Context, target *url.URL) (hostdrv.Transport, error) {
	baud := DefaultBaud
	if err := hostdrv.Ints(target, map[string]*int{"baud": &baud}); err != nil {
		return nil, err
	}
	path := target.Opaque + target.Path
	if path == "" {
		return nil, fmt.Errorf("%w: want serial:PATH, as in serial:/dev/ttyUSB1?baud=%d", hostdrv.ErrTarget, DefaultBaud)
	}
	if baud < MinBaud || baud > MaxBaud {
		return nil, fmt.Errorf("%w: baud=%d, want %d to %d", hostdrv.ErrTarget, baud, MinBaud, MaxBaud)
	}
	p, err := openPort(path, baud)
	if err != nil {
		return nil, err
	}
	rate := baud / 10 // start bit, eight, stop bit
	return pipe.New(p, hostdrv.Timing{TicksPerSecond: float64(rate), Burst: p.chunk, LinkTimeout: max(2*rate, 1<<16), AckCoalesce: pipe.AckCoalesce}), nil
}

func openPort(path string, baud int) (*port, error) {
	l, err := claim(path)
	if err != nil {
		return nil, explain(err, path)
	}
	p, err := serial.Open(path, &serial.Mode{BaudRate: baud})
	if err != nil {
		return nil, errors.Join(explain(err, path), l.release())
	}
	quicken(path)
	s := &port{port: p, claim: l, chunk: max(16, baud/10/50)} // 20 ms
	err = errors.Join(p.SetReadTimeout(readTimeout), p.ResetInputBuffer())
	if have, known := l.baud(); err == nil && known && (have < baud-baud/50 || have > baud+baud/50) {
		err = fmt.Errorf("%w: %s: want %d, found %d", ErrBaud, path, baud, have)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// explain makes a port's errors those of this package.
func explain(err error, path string) error {
	var code serial.PortErrorCode = -1
	var portError *serial.PortError
	if errors.As(err, &portError) {
		code = portError.Code()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), code == serial.PortNotFound, code == serial.InvalidSerialPort:
		return fmt.Errorf("%w: %s: is the board plugged in?", ErrNoDevice, path)
	case errors.Is(err, fs.ErrPermission), code == serial.PermissionDenied:
		return fmt.Errorf("%w: %s: %s", ErrPermission, path, udev.Advice(udev.FTDI))
	case errors.Is(err, ErrBusy), code == serial.PortBusy:
		return fmt.Errorf("%w: %s", ErrBusy, path)
	case code == serial.InvalidSpeed:
		return fmt.Errorf("%w: %s: %w", ErrBaud, path, err)
	}
	return fmt.Errorf("serial: %s: %w", path, err)
}

// quicken makes a bridge chip of FTDI pass on what it has after 1 ms and not 16. Where that is not allowed the port is slow and works.
func quicken(path string) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		_ = os.WriteFile(filepath.Join("/sys/class/tty", filepath.Base(real), "device/latency_timer"), []byte("1"), 0)
	}
}

// readTimeout is how long a Read may keep Close waiting.
const readTimeout = 50 * time.Millisecond
