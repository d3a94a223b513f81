// Package ni puts network interfaces into a simulation: it compiles them, wires their links, and gives each a host in Go that
// speaks the link layer of flowctl on the host port.
package ni

import (
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
}

// WithDefaults returns p with its zero members replaced.
func (p Params) WithDefaults() Params {
	for _, d := range []struct {
		member *int
		value  int
	}{
		{&p.Links, 1}, {&p.Frames, 4}, {&p.PageBytes, 1024}, {&p.ReplayBytes, 4096}, {&p.RxBytes, 4096}, {&p.Headroom, 256},
		{&p.AckDelay, linkproto.DefaultAckDelay}, {&p.WordTimer, linkproto.DefaultWordTimer},
		{&p.Retry, linkproto.DefaultRetry}, {&p.RetryLimit, linkproto.DefaultRetryLimit},
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

// Design is module ni_direct, the network interface with the direct PHY on every port, with these parameters.
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
	return d, nil
}
