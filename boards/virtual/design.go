package virtual

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/virtual/ice40"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/rtl"
)

// ErrUnknown means that the program does not know the sources of an image.
var ErrUnknown = errors.New("virtual: cannot simulate this image")

// RTL is a Config.Design: of a project's own design (boards.Design) it simulates the bits, as Exact does; else it simulates the RTL that an image was built from, if that is the RTL in this program, with the image's parameters.
// The program must import package rtlsim for targets "rtl:"; links are cabled as there.
func RTL(ctx context.Context, image *ice40.Image) (hostdrv.Transport, error) {
	return RTLBy(ctx, image, hostdrv.Dial)
}

// RTLBy is RTL with another dialer for the target "rtl:", such as rtlsim.Rack.Dial for boards that are wired to each other.
func RTLBy(ctx context.Context, image *ice40.Image, dial func(context.Context, string) (hostdrv.Transport, error)) (hostdrv.Transport, error) {
	if image.Info.Own() {
		return Exact(ctx, image)
	}
	target, err := Target(image.Info)
	if err != nil {
		return nil, err
	}
	return dial(ctx, target)
}

// Exact is a Config.Design: it simulates the logic in the bits of an image, whatever they were built from, as a target "bits:" does. The program
// must import package boards/sim. Compiling the logic takes minutes unless it is in the cache.
func Exact(ctx context.Context, image *ice40.Image) (_ hostdrv.Transport, err error) {
	dir, err := os.MkdirTemp("", "lmmc-image-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	name := filepath.Join(dir, "image.bin")
	if err := os.WriteFile(name, image.Data, 0o666); err != nil {
		return nil, err
	}
	return hostdrv.Dial(ctx, (&url.URL{Scheme: "bits", Path: name}).String())
}

// Target returns the target that simulates the sources of an image. Errors wrap ErrUnknown.
func Target(info *bitstream.Info) (string, error) {
	if info == nil {
		return "", fmt.Errorf("%w: it does not name its RTL, as images of lmmc build do", ErrUnknown)
	}
	if info.Hash != rtl.Hash() {
		return "", fmt.Errorf("%w: built from RTL %016x, this program has %016x: build it again", ErrUnknown, info.Hash, rtl.Hash())
	}
	options := url.Values{}
	for _, name := range []string{"links", "frames", "page", "replay", "rx"} {
		if v, given := info.Params[name]; given {
			options.Set(name, v)
		}
	}
	mhz, errMHz := strconv.ParseFloat(info.Params["mhz"], 64)
	baud, errBaud := strconv.ParseFloat(info.Params["baud"], 64)
	if errMHz != nil || errBaud != nil || baud <= 0 || !(mhz > 0) {
		return "", fmt.Errorf("%w: its clock is mhz=%q and its UART has baud=%q", ErrUnknown, info.Params["mhz"], info.Params["baud"])
	}
	options.Set("uart", strconv.Itoa(int(math.Round(mhz*1e6/baud))))
	return "rtl:?" + options.Encode(), nil
}
