// Package ni puts network interfaces into a simulation: it compiles them, wires their links, and gives each a host in Go that
// speaks the link layer of flowctl on the host port.
package ni

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/verilator"
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

	Trace  int  // records of the trace buffer; 0: none
	Inject bool // an error injector at each port

	HostPHY     PHY // Direct or UART
	LinkPHY     PHY // of all links
	Oversample  int // clocks a bit on a serial link; 5
	HostDivisor int // clocks a bit on a host port that is a UART; 4
	LinkDivisor int // the same for links
}

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
		{&p.Retry, linkproto.DefaultRetry}, {&p.RetryLimit, linkproto.DefaultRetryLimit},
		{&p.Oversample, 5}, {&p.HostDivisor, 4}, {&p.LinkDivisor, 4},
	} {
		if *d.member == 0 {
			*d.member = d.value
		}
	}
	return p
}

// MaxPacket is the longest packet of such a network interface, in bytes.
func (p Params) MaxPacket() int { return linkproto.MaxPacket(p.WithDefaults().PageBytes) }

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

// plain says that the network interface is module ni_direct, which is older than ni_lines and known to more tools.
func (p Params) plain() bool { return p.HostPHY == Direct && p.LinkPHY == Direct }

// Lines returns the names of the ports of a line: of the host port (0) or of a link.
func (p Params) Lines(port int) (rx, tx string) {
	bits := func(i, width int) string { return fmt.Sprintf("[%d:%d]", width*(i+1)-1, width*i) }
	switch {
	case p.plain():
		return "line_rx" + bits(port, 9), "line_tx" + bits(port, 9)
	case port == 0:
		return "host_rx", "host_tx"
	case p.LinkPHY == Direct:
		return "link_rx" + bits(port-1, 9), "link_tx" + bits(port-1, 9)
	}
	return "link_rx" + bits(port-1, 1), "link_tx" + bits(port-1, 1)
}

// Idle is what a line of a link reads as while nothing is sent.
func (p Params) Idle() uint64 {
	return [...]uint64{Direct: uint64(linkproto.SymIdle), Serial: 0, UART: 1}[p.LinkPHY]
}

// Quiet sets what module ni_lines needs at its inputs while nothing is attached to them.
func (p Params) Quiet(m *verilator.Model) error {
	if p.plain() {
		return nil
	}
	err := errors.Join(m.Poke("host_divisor", uint64(p.HostDivisor)), m.Poke("link_divisor", uint64(p.LinkDivisor)))
	if p.LinkPHY == UART {
		err = errors.Join(err, m.Poke("link_rx", 1<<p.Links-1))
	}
	return err
}

// Design is the network interface with these parameters and its PHYs: module ni_direct, or ni_lines with any other than the direct PHY.
func (p Params) Design() verilator.Design {
	d, err := p.DesignFrom(rtl.FS)
	if err != nil {
		panic(err) // rtl.FS is part of the program
	}
	return d
}

// DesignFrom is Design made of another tree of modules, laid out like rtl.FS.
func (p Params) DesignFrom(tree fs.FS) (verilator.Design, error) {
	p = p.WithDefaults()
	if p.HostPHY != Direct && p.HostPHY != UART || p.LinkPHY < Direct || p.LinkPHY > UART {
		return verilator.Design{}, fmt.Errorf("ni: no network interface with PHY %d on the host port and %d on the links: want 0 (direct) or 2 (UART), and 0 to 2",
			p.HostPHY, p.LinkPHY)
	}
	sources, err := rtl.SourcesIn(tree)
	if err != nil {
		return verilator.Design{}, err
	}
	hash, err := rtl.HashOf(tree)
	if err != nil {
		return verilator.Design{}, err
	}
	d := verilator.Design{
		Top: "ni_direct", Sources: sources, FS: tree, IncludeDirs: rtl.IncludeDirs,
		Params: map[string]string{"SOURCE_HASH": fmt.Sprintf("64'h%016x", hash)},
	}
	for name, v := range map[string]int{
		"LINKS": p.Links, "FRAMES": p.Frames, "PAGE_BYTES": p.PageBytes, "REPLAY_BYTES": p.ReplayBytes, "RX_BYTES": p.RxBytes,
		"HEADROOM": p.Headroom, "ACK_DELAY": p.AckDelay, "WORD_TIMER": p.WordTimer, "RETRY": p.Retry, "RETRY_LIMIT": p.RetryLimit,
	} {
		d.Params[name] = strconv.Itoa(v)
	}
	if p.Trace != 0 {
		d.Params["TRACE"] = strconv.Itoa(p.Trace)
	}
	if p.Inject {
		d.Params["INJECT"] = "1"
	}
	if !p.plain() {
		d.Top = "ni_lines"
		d.Params["HOST_PHY"], d.Params["LINK_PHY"] = strconv.Itoa(int(p.HostPHY)), strconv.Itoa(int(p.LinkPHY))
		d.Params["OVERSAMPLE"] = strconv.Itoa(p.Oversample)
	}
	return d, nil
}
