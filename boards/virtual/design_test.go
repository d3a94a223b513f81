package virtual_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/bitstream/bitstreamtest"
	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/boards/virtual/ice40"
	"github.com/stafflink/lmmc/boards/virtual/usbdev"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	_ "github.com/stafflink/lmmc/testbench/rtlsim"
)

func TestTarget(t *testing.T) {
	info := bitstream.Info{Board: "hx8k", Hash: rtl.Hash(), Params: map[string]string{"mhz": "84", "baud": "12000000", "links": "2", "page": "512", "loop": "false"}}
	check.Equal(t, "target of an image", check.Must(virtual.Target(&info))(t), "rtl:?links=2&page=512&uart=7")
	for _, change := range []func(*bitstream.Info){
		func(i *bitstream.Info) { i.Hash++ },
		func(i *bitstream.Info) { i.Params = nil },
		func(i *bitstream.Info) { i.Params = map[string]string{"mhz": "NaN", "baud": "1"} },
		func(i *bitstream.Info) { i.Params = map[string]string{"mhz": "12", "baud": "0"} },
	} {
		other := info
		change(&other)
		check.Fails(t, fmt.Sprintf("%+v", other), check.Err(virtual.Target(&other)), virtual.ErrUnknown)
	}
	check.Fails(t, "no description", check.Err(virtual.Target(nil)), virtual.ErrUnknown)
}

// compile fills the cache with the model that a board will simulate: compiling it may take longer than the host's timeout.
func compile(t *testing.T, target string) {
	t.Helper()
	n := check.Must(hostdrv.Open(t.Context(), target, hostdrv.Options{}))(t)
	check.Fatal(t, n.Close())
}

// TestImpossibleBaud: an image whose UART has a rate that there is not leaves the board alive.
func TestImpossibleBaud(t *testing.T) {
	for _, baud := range []string{"Inf", "1e300", "NaN", "-1", "fast"} {
		info := bitstream.Info{Board: "hx8k", Params: map[string]string{"mhz": "84", "baud": baud}}
		b := check.Must(virtual.New(virtual.Config{Kind: "hx8k", Flash: bitstreamtest.Pack(t, "8k", info.Comment(), nil)}))(t)
		for !b.Status().Done {
			time.Sleep(time.Millisecond)
		}
		check.Equal(t, "rate with baud="+baud, b.Status().Baud, 0.0)
	}
}

// TestDesignOnce runs a design that was loaded before Run is called; it starts only once.
func TestDesignOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := 0
		b, err := virtual.New(virtual.Config{
			Kind: "hx8k", Flash: bitstreamtest.Pack(t, "8k", nil, nil),
			Design: func(context.Context, *ice40.Image) (hostdrv.Transport, error) {
				made++
				return nil, virtual.ErrUnknown
			},
		})
		check.Fatal(t, err)
		time.Sleep(time.Second)
		if s := b.Status(); !s.Done {
			t.Fatalf("not configured: %+v", s)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- b.Run(ctx) }()
		synctest.Wait()
		check.Equal(t, "designs made", made, 1)
		cancel()
		check.Error(t, <-ended)
	})
}

// TestRTL plugs in a board with an image in its flash; it simulates the RTL that the image was built from.
func TestRTL(t *testing.T) {
	info := bitstream.Info{Board: "hx8k", Device: "hx8k", Hash: rtl.Hash(), Params: map[string]string{"mhz": "84", "baud": "12000000", "links": "2"}}
	compile(t, "rtl:?links=2&uart=7")
	b := run(t, virtual.Config{Kind: "hx8k", Flash: bitstreamtest.Pack(t, "8k", info.Comment(), nil), Design: virtual.RTL})
	p := plugIn(t, b)
	defer p.bus.Close()
	check.Equal(t, "links", p.links(), 2)
}

// exactly gets the file that the stand-in for targets "bits:" has read.
var exactly = make(chan string, 8)

func init() {
	hostdrv.Register("bits", func(ctx context.Context, target *url.URL) (hostdrv.Transport, error) {
		have, err := os.ReadFile(target.Path)
		if err != nil {
			return nil, err
		}
		file, err := bitstream.Read(have)
		if err != nil {
			return nil, err
		}
		exactly <- target.Path
		return hostdrv.Dial(ctx, "rtl:?links="+file.Info.Params["links"])
	})
}

// TestExact replaces icebox's logic of an image by a model with the image's parameters.
func TestExact(t *testing.T) {
	info := bitstream.Info{Board: "hx8k", Device: "hx8k", Hash: 1, Params: map[string]string{"mhz": "84", "baud": "12000000", "links": "3"}}
	data := bitstreamtest.Pack(t, "8k", info.Comment(), nil)
	compile(t, "rtl:?links=3")
	b := run(t, virtual.Config{Kind: "hx8k", Flash: data, Design: virtual.Exact})
	p := plugIn(t, b)
	defer p.bus.Close()
	check.Equal(t, "links", p.links(), 3)
	check.Fails(t, "the file of the image afterwards", check.Err(os.Stat(<-exactly)), os.ErrNotExist)
}

// TestSentBeforeDesign: what the host sends while this machine still makes the simulation, or has not begun to run it, reaches the design, which a board has
// as soon as it is configured.
func TestSentBeforeDesign(t *testing.T) {
	for name, image := range map[string]bool{"image": true, "preset": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fpga := check.Must(hostdrv.Dial(t.Context(), "model:"))(t)
				c := virtual.Config{Kind: "hx8k", FPGA: fpga}
				sent := make(chan struct{})
				if image {
					c = virtual.Config{Kind: "hx8k", Flash: bitstreamtest.Pack(t, "8k", nil, nil), Design: func(context.Context, *ice40.Image) (hostdrv.Transport, error) {
						<-sent
						return fpga, nil
					}}
				}
				b := check.Must(virtual.New(c))(t)
				if image {
					check.Background(t, b.Run)
					time.Sleep(time.Second) // configured; the design is being made
				}
				host := check.Must(b.Device().Attach())(t)
				defer host.Close()
				for _, x := range []*usbdev.Transfer{{Setup: usbdev.Setup{Request: 9, Value: 1}}, {Endpoint: 0x04, Data: []byte{1, 2, 3}}} {
					check.Fatal(t, usbdev.Carry(t.Context(), host, x))
				}
				close(sent)
				if !image {
					check.Background(t, b.Run)
				}
				time.Sleep(time.Second)
				check.Equal(t, "bytes at the design", b.Status().Line.FromHost, 3)
			})
		})
	}
}
