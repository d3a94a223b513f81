package boards

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
)

// Config is a network interface for a board.
type Config struct {
	Name  string `toml:"-"`
	Board *Board `toml:"-"`

	About      string  // what it is for
	MHz        float64 // the clock of the network interface, which the PLL makes and place and route must reach
	Baud       int     // of the host's UART
	Links      int
	Loop       bool // the links are joined to themselves inside the chip, and go by no pins
	Routes     bool // ROUTE packets are taken, so that a link may lead into a network
	Oversample int  // clocks a bit on a serial link; 0: 5
	Frames     int
	Page       int  // bytes of a page
	Replay     int  // bytes of each port's replay buffer
	Rx         int  // bytes of each port's receive buffer
	Small      bool // synthesise for few cells instead of a fast clock
}

// Top is the module that wrappers define.
const Top = "top"

// String is BOARD/CONFIG.
func (c *Config) String() string { return c.Board.Name + "/" + c.Name }

// Params are those of the network interface.
func (c *Config) Params() rtl.Params {
	p := rtl.Params{Links: c.Links, Frames: c.Frames, PageBytes: c.Page, ReplayBytes: c.Replay, RxBytes: c.Rx,
		Routes: c.Routes, HostPHY: rtl.UART, HostDivisor: c.Divisor(), LinkPHY: rtl.Serial, Oversample: c.Oversample}
	if c.Loop {
		p.LinkPHY = rtl.Direct
	}
	return p.WithDefaults()
}

// Divisor is the clocks that a bit takes on the host's UART.
func (c *Config) Divisor() int { return int(math.Round(c.MHz * 1e6 / float64(c.Baud))) }

// Verilog returns the sources by path, those to be read first to last, and the folder of the header that they include.
func (c *Config) Verilog() (files map[string][]byte, order []string, include string, err error) {
	files = maps.Clone(c.Board.verilog)
	order = slices.Sorted(maps.Keys(files))
	if d := c.Board.Design; d != nil {
		return files, slices.DeleteFunc(order, func(name string) bool { return !strings.HasSuffix(name, ".v") }), d.Include, nil
	}
	for _, name := range append([]string{"linkproto.vh"}, rtl.Sources()...) {
		if files["rtl/"+name], err = fs.ReadFile(rtl.FS, name); err != nil {
			return nil, nil, "", fmt.Errorf("boards: %w", err)
		}
		if strings.HasSuffix(name, ".v") {
			order = append(order, "rtl/"+name)
		}
	}
	return files, order, "rtl", nil
}

// Parameters are those of the top module, as Verilog has them.
func (c *Config) Parameters() (map[string]string, error) {
	pll, err := c.Board.pll(c.MHz)
	if err != nil {
		return nil, err
	}
	if c.Board.Design != nil {
		return c.ownParameters(pll), nil
	}
	p, loop, routes := c.Params(), 0, 0
	if c.Loop {
		loop = 1
	}
	if c.Routes {
		routes = 1
	}
	values := map[string]string{"SOURCE_HASH": fmt.Sprintf("64'h%016x", rtl.Hash())}
	for name, v := range map[string]int{
		"LINKS": p.Links, "FRAMES": p.Frames, "PAGE_BYTES": p.PageBytes, "REPLAY_BYTES": p.ReplayBytes, "RX_BYTES": p.RxBytes,
		"HOST_DIVISOR": p.HostDivisor, "OVERSAMPLE": p.Oversample, "LOOP": loop, "ROUTES": routes,
	} {
		values[name] = strconv.Itoa(v)
	}
	for name, v := range pll {
		values[name] = strconv.Itoa(v)
	}
	return values, nil
}

// Info is the description in the configuration's bitstream.
func (c *Config) Info() bitstream.Info {
	if c.Board.Design != nil {
		return c.ownInfo()
	}
	params := map[string]string{"mhz": strconv.FormatFloat(c.MHz, 'g', -1, 64), "loop": strconv.FormatBool(c.Loop)}
	if c.Routes {
		params["routes"] = "true"
	}
	p := c.Params()
	for name, v := range map[string]int{"baud": c.Baud, "links": p.Links, "frames": p.Frames, "page": p.PageBytes, "replay": p.ReplayBytes,
		"rx": p.RxBytes, "oversample": p.Oversample, bitstream.Protocol: linkproto.Version} {
		params[name] = strconv.Itoa(v)
	}
	return bitstream.Info{Board: c.Board.Name, Config: c.Name, Device: c.Board.FPGA.Device, Hash: rtl.Hash(), Params: params}
}

// Pins returns the balls of each port of the top module.
func (c *Config) Pins() map[string]Balls {
	pins := maps.Clone(c.Board.Pins)
	if c.Board.Design != nil {
		return pins
	}
	for _, port := range []string{portLinkTx, portLinkRx} {
		if balls, ok := pins[port]; ok {
			pins[port] = balls[:c.Links]
		}
	}
	return pins
}

// Wiring returns the ball of each bit of each port of the top module: "clk", or "led[0]" where there are several.
func (c *Config) Wiring() map[string]string {
	wiring := map[string]string{}
	for port, balls := range c.Pins() {
		for i, ball := range balls {
			if len(balls) == 1 {
				wiring[port] = ball
			} else {
				wiring[fmt.Sprintf("%s[%d]", port, i)] = ball
			}
		}
	}
	return wiring
}
