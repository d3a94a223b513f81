package rtl

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/stafflink/lmmc/linkproto"
)

// Params are the parameters of the RTL; zero means the default named here.
type Params struct {
	Links       int // 1
	Frames      int // 4
	PageBytes   int // 1024
	ReplayBytes int // 4096
	RxBytes     int // 4096
	Headroom    int // 256
	AckDelay    int // linkproto.DefaultAckDelay
	WordTimer   int // linkproto.DefaultWordTimer
	Retry       int // linkproto.DefaultRetry
	RetryLimit  int // linkproto.DefaultRetryLimit

	Width     int // bytes of packets a clock: 1, 4 or 8; 1
	Lanes     int // of each link; 1
	HostLanes int // of the host's port, where that has the direct PHY; 1

	Routes   bool // ROUTE packets are taken
	Router   int  // links of a router, behind which there is the network, link 1; 0: none
	Barriers bool // the router carries out barriers
	Patience int  // clocks that ROUTEs for this node wait for room before they are dropped; 1<<20

	Virtual  int // logarithm to base 2 of the number of virtual links that it carries out, with a router; 0: none
	VLSlots  int // packets of theirs that it holds for sending; 64
	VLWindow int // and of one of them; 16
	VLRetry  int // clocks after which they send again; linkproto.DefaultVLRetry
	Contexts int // logarithm to base 2 of the number of contexts of messages that it carries out by these; 0: none

	Trace  int  // records of the trace buffer; 0: none
	Inject bool // an error injector at each port

	HostPHY     PHY // Direct or UART
	LinkPHY     PHY // of all links
	Oversample  int // clocks a bit on a serial link; 5
	HostDivisor int // clocks a bit on a host port that is a UART; 4
	LinkDivisor int // the same for links
}

// Widths are the values that Width may have.
var Widths = []int{1, 4, 8}

// PHY is what a port speaks on its line.
type PHY int

// The PHYs, as parameters HOST_PHY and LINK_PHY of module ni_lines know them.
const (
	Direct PHY = iota // a symbol a clock, in parallel
	Serial            // 8b/10b
	UART              // escape-stuffed bytes
)

// WithDefaults returns p with its zero members replaced.
func (p Params) WithDefaults() Params {
	for _, d := range []struct {
		member *int
		value  int
	}{
		{&p.Links, 1}, {&p.Frames, 4}, {&p.PageBytes, 1024}, {&p.ReplayBytes, 4096}, {&p.RxBytes, 4096}, {&p.Headroom, 256},
		{&p.AckDelay, linkproto.DefaultAckDelay}, {&p.WordTimer, linkproto.DefaultWordTimer},
		{&p.Retry, linkproto.DefaultRetry}, {&p.RetryLimit, linkproto.DefaultRetryLimit}, {&p.Patience, 1 << 20},
		{&p.VLSlots, 64}, {&p.VLWindow, 16}, {&p.VLRetry, linkproto.DefaultVLRetry}, {&p.Width, 1}, {&p.Lanes, 1}, {&p.HostLanes, 1}, {&p.Oversample, 5}, {&p.HostDivisor, 4}, {&p.LinkDivisor, 4},
	} {
		if *d.member == 0 {
			*d.member = d.value
		}
	}
	return p
}

// TakesRoutes reports whether ROUTE packets are taken, as with Routes or a router.
func (p Params) TakesRoutes() bool { return p.Routes || p.Router > 0 }

// Cables is how many lines there are for links: those of the router, if there is one.
func (p Params) Cables() int {
	if p.Router > 0 {
		return p.Router
	}
	return p.WithDefaults().Links
}

// MaxPacket is the longest packet of such a network interface, in bytes.
func (p Params) MaxPacket() int {
	if p.TakesRoutes() {
		return linkproto.MaxRoute(p.WithDefaults().PageBytes)
	}
	return linkproto.MaxPacket(p.WithDefaults().PageBytes)
}

// BufferBytes is the size of its receive buffer.
func (p Params) BufferBytes() int {
	p = p.WithDefaults()
	return p.Frames * p.PageBytes
}

// SymbolClocks is how many clocks a symbol takes on a line of the host port and of a link; on a UART, a symbol of one byte.
func (p Params) SymbolClocks() (host, link int) {
	p = p.WithDefaults()
	of := func(phy PHY, divisor int) int {
		return [...]int{Direct: 1, Serial: 10 * p.Oversample, UART: 10 * divisor}[phy]
	}
	return of(p.HostPHY, p.HostDivisor), of(p.LinkPHY, p.LinkDivisor)
}

// plain reports whether the network interface is module ni_direct.
func (p Params) plain() bool { return p.HostPHY == Direct && p.LinkPHY == Direct }

// Top is the module with these PHYs: ni_direct, or ni_lines with any other than the direct PHY.
func (p Params) Top() string {
	if p.plain() {
		return "ni_direct"
	}
	return "ni_lines"
}

// Verilog returns the parameters of module Top, as Verilog has them.
func (p Params) Verilog() (map[string]string, error) {
	p = p.WithDefaults()
	if p.HostPHY != Direct && p.HostPHY != UART || p.LinkPHY < Direct || p.LinkPHY > UART {
		return nil, fmt.Errorf("rtl: no network interface with PHY %d on the host port and %d on the links: want 0 (direct) or 2 (UART), and 0 to 2",
			p.HostPHY, p.LinkPHY)
	}
	if !slices.Contains(Widths, p.Width) {
		return nil, fmt.Errorf("rtl: no network interface of WIDTH %d: want 1, 4 or 8 bytes a clock", p.Width)
	}
	if min(p.Lanes, p.HostLanes) < 1 || max(p.Lanes, p.HostLanes) > linkproto.MaxLanes {
		return nil, fmt.Errorf("rtl: no network interface with links of %d lanes and a host port of %d: want 1 to %d", p.Lanes, p.HostLanes, linkproto.MaxLanes)
	}
	values := map[string]int{
		"LINKS": p.Links, "FRAMES": p.Frames, "PAGE_BYTES": p.PageBytes, "REPLAY_BYTES": p.ReplayBytes, "RX_BYTES": p.RxBytes,
		"HEADROOM": p.Headroom, "ACK_DELAY": p.AckDelay, "WORD_TIMER": p.WordTimer, "RETRY": p.Retry, "RETRY_LIMIT": p.RetryLimit,
		"WIDTH": p.Width,
	}
	if p.Router > 0 {
		if p.Links != 1 || p.Router > linkproto.MaxPorts {
			return nil, fmt.Errorf("rtl: no network interface with %d links and a router of %d: want one link, the network, and 1 to %d links of the router",
				p.Links, p.Router, linkproto.MaxPorts)
		}
		values["ROUTER"] = p.Router
	}
	if p.Barriers {
		if p.Router == 0 || !p.plain() {
			return nil, fmt.Errorf("rtl: no network interface with barriers, a router of %d links, and other PHYs than the direct one: want a router, and direct PHYs", p.Router)
		}
		values["BARRIER"] = 1
	}
	if p.Router > 0 || p.Routes {
		values["PATIENCE"] = p.Patience
	}
	if p.Virtual != 0 {
		values["VIRTUAL"], values["VL_SLOTS"], values["VL_WINDOW"] = p.Virtual, p.VLSlots, p.VLWindow
		if p.plain() {
			values["VL_RETRY"] = p.VLRetry
		}
	}
	if p.Contexts != 0 {
		if p.Virtual == 0 {
			return nil, fmt.Errorf("rtl: no network interface with contexts of messages and no virtual links, by which these go: want both, or neither")
		}
		if rings := linkproto.RingsOf(1); p.BufferBytes() <= rings {
			return nil, fmt.Errorf("rtl: no network interface with contexts of messages and a receive buffer of %d bytes: want more than %d, which the smallest rings take",
				p.BufferBytes(), rings)
		}
		values["CONTEXTS"] = p.Contexts
	}
	if p.Trace != 0 {
		values["TRACE"] = p.Trace
	}
	if p.Inject {
		if max(p.Lanes, p.HostLanes) > 1 || p.Router > 0 {
			return nil, fmt.Errorf("rtl: no network interface with error injectors, links of %d lanes, a host port of %d and a router of %d: want one lane and no router; "+
				"cables of a simulation damage symbols of any", p.Lanes, p.HostLanes, p.Router)
		}
		values["INJECT"] = 1
	}
	if p.Routes {
		values["ROUTES"] = 1
	}
	if p.Lanes != 1 {
		values["LANES"] = p.Lanes
	}
	if p.HostLanes != 1 {
		values["HOST_LANES"] = p.HostLanes
	}
	if !p.plain() {
		values["HOST_PHY"], values["LINK_PHY"], values["OVERSAMPLE"] = int(p.HostPHY), int(p.LinkPHY), p.Oversample
	}
	params := make(map[string]string, len(values))
	for name, v := range values {
		params[name] = strconv.Itoa(v)
	}
	return params, nil
}

// Lines returns the names of the ports of a line: of the host port (0) or of a link, one of the router if there is one; of its first lane.
func (p Params) Lines(port int) (rx, tx string) { return p.Lane(port, 0) }

// Lane returns the names of the ports of a lane of the host port (0) or of a link.
func (p Params) Lane(port, lane int) (rx, tx string) {
	p = p.WithDefaults()
	bits := func(i, width int) string { return fmt.Sprintf("[%d:%d]", width*(i+1)-1, width*i) }
	line := lane
	if port > 0 {
		line += (port - 1) * p.Lanes
	}
	switch {
	case p.plain() && port > 0:
		line += p.HostLanes
		fallthrough
	case p.plain():
		return "line_rx" + bits(line, 9), "line_tx" + bits(line, 9)
	case port == 0:
		return "host_rx", "host_tx"
	case p.LinkPHY == Direct:
		return "link_rx" + bits(line, 9), "link_tx" + bits(line, 9)
	}
	return "link_rx" + bits(line, 1), "link_tx" + bits(line, 1)
}

// LanesOf is how many lanes the host port (0) or a link has.
func (p Params) LanesOf(port int) int {
	p = p.WithDefaults()
	if port == 0 {
		return p.HostLanes
	}
	return p.Lanes
}

// Idle is what a line of a link reads as while nothing is sent.
func (p Params) Idle() uint64 {
	return [...]uint64{Direct: uint64(linkproto.SymIdle), Serial: 0, UART: 1}[p.LinkPHY]
}

// Eye is by how much of a bit the edges on a serial link may be off either way, by the clocks that the link takes for a bit, while the clocks
// of its ends differ by EyePPM. It is what phy_serial is held to: TestSerialJitter of rtl/phy.
var Eye = map[int]float64{3: 0.15, 4: 0.15, 5: 0.25, 8: 0.25}

// EyePPM is the difference of clocks at which Eye is measured, in parts per million: ten times what crystals differ by.
const EyePPM = 1000
