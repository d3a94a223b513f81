package hostdrv_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/drivertest"
	"github.com/stafflink/lmmc/testbench/model"
	"github.com/stafflink/lmmc/testbench/modelsim"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/rtlsim"
	"github.com/stafflink/lmmc/verilator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small is the NI of most tests here: one compilation serves them all.
var small = rtl.Params{Links: 2, Frames: 8, PageBytes: 128, ReplayBytes: 512, RxBytes: 512}

// network is a simulation of small NIs: models, or the RTL.
type network struct {
	*lockstep.World
	reset func(ni int) error
	share bool              // the nodes are those of clients
	opens uint64            // by drive
	wires []*verilator.Link // of the RTL: its cables
}

// plan says how the NIs of a network are cabled.
type plan struct {
	nis     int
	cables  []modelsim.Cable
	latency int     // of the cables, of the RTL: clocks
	errors  float64 // in each bit on the cables, of the RTL
	trace   int     // records of the trace buffer, of the RTL
	frames  int     // of models, if not those of small
}

// loop is one NI with its links cabled to each other.
var loop = plan{nis: 1, cables: []modelsim.Cable{{LinkA: 1, LinkB: 2}}}

// cabled is two NIs, joined by their first links.
var cabled = plan{nis: 2, cables: []modelsim.Cable{{LinkA: 1, B: 1, LinkB: 1}}}

// crossed is two NIs, joined by both links crosswise.
var crossed = plan{nis: 2, cables: []modelsim.Cable{{LinkA: 1, B: 1, LinkB: 2}, {LinkA: 2, B: 1, LinkB: 1}}}

// onEach runs a test with models and with the RTL.
func onEach(t *testing.T, run func(t *testing.T, open func(*testing.T, plan) *network)) {
	t.Run("model", func(t *testing.T) { run(t, models) })
	t.Run("rtl", func(t *testing.T) { run(t, simulated) })
}

// onEachShared is onEach, and the same with nodes that are those of other programs, as it seems to them.
func onEachShared(t *testing.T, run func(t *testing.T, open func(*testing.T, plan) *network)) {
	onEach(t, run)
	t.Run("shared", func(t *testing.T) {
		run(t, func(t *testing.T, p plan) *network {
			w := models(t, p)
			w.share = true
			return w
		})
	})
}

// share serves a node until the test ends, and returns a client's.
func share(t *testing.T, node *hostdrv.Node) *hostdrv.Node {
	t.Helper()
	l := check.Must(serve.Listen(drivertest.Socket(t), ""))(t)
	check.Background(t, func(ctx context.Context) error {
		err := serve.Serve(ctx, node, l, serve.Options{})
		if errors.Is(err, context.Canceled) || errors.Is(err, hostdrv.ErrClosed) || errors.Is(err, hostdrv.ErrGone) {
			return nil
		}
		return err
	})
	shared := check.Must(hostdrv.OpenNode(t.Context(), "unix:"+l.Path(), hostdrv.Options{}, hostdrv.NodeOptions{}))(t)
	t.Cleanup(func() {
		check.Error(t, shared.Close())
	})
	return shared
}

func models(t *testing.T, p plan) *network {
	t.Helper()
	frames := small.Frames
	if p.frames > 0 {
		frames = p.frames
	}
	w := check.Must(modelsim.New(modelsim.Config{NIs: p.nis, Cables: p.cables, NI: model.Config{
		Links: small.Links, Frames: frames, PageBytes: small.PageBytes, ReplayBytes: small.ReplayBytes, RxBytes: 2048}}))(t)
	t.Cleanup(func() { w.Close() })
	return &network{World: w.World, reset: w.Reset}
}

func simulated(t *testing.T, p plan) *network {
	t.Helper()
	c := rtlsim.Config{Params: small, NIs: p.nis}
	c.Params.Trace = p.trace
	for _, x := range p.cables {
		c.Cables = append(c.Cables, ni.Cable{A: x.A, LinkA: x.LinkA, B: x.B, LinkB: x.LinkB, Latency: p.latency, BitErrorRate: p.errors})
	}
	w := check.Must(rtlsim.New(t.Context(), c))(t)
	t.Cleanup(func() {
		check.Error(t, w.Close())
	})
	return &network{World: w.World, reset: w.Reset, wires: w.Wires}
}

// plug plugs cables of the RTL in, or pulls them.
func (w *network) plug(t check.TB, in bool, wires ...*verilator.Link) {
	t.Helper()
	check.Fatal(t, w.Between(func() (err error) {
		for _, wire := range wires {
			if in {
				err = errors.Join(err, wire.Plug())
			} else {
				err = errors.Join(err, wire.Unplug(0))
			}
		}
		return err
	}))
}

// forever is what a Wait waits for that ends with the port.
func forever([]byte) bool { return false }

// shows reports a page that is not as wanted within so much of a node's time.
func shows(t testing.TB, what string, node *hostdrv.Node, limit time.Duration, w *hostdrv.Window, want []byte) {
	t.Helper()
	ctx, cancel := node.WithTimeout(t.Context(), limit)
	defer cancel()
	var have []byte
	if err := w.Wait(ctx, func(page []byte) bool { have = bytes.Clone(page); return bytes.Equal(page, want) }); err != nil {
		t.Errorf("%s: %v: holds\n% x, want\n% x", what, err, have, want)
	}
}

// drive opens an NI of a world behind a cable until the test ends.
func drive(t *testing.T, w *network, index int, c *drivertest.Cable) *hostdrv.NI {
	t.Helper()
	host := check.Must(w.Host(index))(t)
	c.Transport = host
	w.opens++ // no two have one seed: the second would have the first one's epoch or nonce
	n := check.Must(hostdrv.New(t.Context(), c, hostdrv.Options{Seed: 6 + w.opens}))(t)
	t.Cleanup(func() { n.Close() })
	return n
}

// awaitUp waits until a link is up, which it is some time after the NIs at both its ends were opened.
func awaitUp(t *testing.T, n *hostdrv.NI, link int) {
	t.Helper()
	ctx, cancel := n.WithTimeout(t.Context(), 1e6) // 1 ms
	defer cancel()
	for !check.Must(n.LinkStatus(ctx, link))(t).Up {
	}
}

// fake is an NI whose host port speaks the link layer rightly and above it says what answer wants.
type fake struct {
	link   *flowctl.Endpoint
	regs   map[linkproto.Reg]uint32
	count  uint32
	answer func(f *fake, p linkproto.Packet) (handled bool)
	routed func(f *fake, r linkproto.Route) // gets ROUTEs
	bytes  []byte                           // of the ROUTE that routed gets
	line   []linkproto.Symbol
}

func newFake(t testing.TB, answer func(*fake, linkproto.Packet) bool) *fake {
	link := check.Must(flowctl.New(flowctl.Config{MaxPacket: linkproto.MaxPacket(linkproto.MaxPageBytes), Epoch: 9}))(t)
	return &fake{link: link, answer: answer, regs: map[linkproto.Reg]uint32{
		linkproto.RegMagic: linkproto.Magic, linkproto.RegVersion: linkproto.Version, linkproto.RegLinks: 2, linkproto.RegFrames: 4,
		linkproto.RegPageBytes: 128, linkproto.RegReplayBytes: 512, linkproto.RegWindow: 128,
	}}
}

func (f *fake) send(p linkproto.Packet) {
	raw, err := p.Append(nil)
	if err != nil {
		panic(err)
	}
	f.raw(raw)
}

func (f *fake) raw(packet []byte) {
	if err := f.link.Send(packet); err != nil {
		panic(err)
	}
}

// Turn is for lockstep.New.
func (f *fake) Turn(n int, lines []lockstep.Line) (int, error) {
	f.link.Feed(lines[0].Out)
	f.link.Tick(n)
	for {
		raw, ok := f.link.Receive()
		if !ok {
			break
		}
		f.count++
		var r linkproto.Route
		if f.routed != nil && r.Open(raw) == nil && (r.State != linkproto.RouteDatagram || linkproto.CheckRoute(raw, 0) == nil) {
			f.bytes = raw
			f.routed(f, r)
			continue
		}
		var p linkproto.Packet
		if err := p.Decode(raw); err != nil {
			return n, err
		}
		if f.answer != nil && f.answer(f, p) {
			continue
		}
		switch p.Type {
		case linkproto.TypeRegRead:
			v := f.regs[p.Reg]
			if p.Reg == linkproto.CounterReg(0, linkproto.CntRxPackets) {
				v = f.count
			}
			f.send(linkproto.Packet{Type: linkproto.TypeRegData, Tag: p.Tag, Reg: p.Reg, Value: v})
		case linkproto.TypeBufRead:
			f.send(linkproto.Packet{Type: linkproto.TypeBufData, Tag: p.Tag, Addr: p.Addr, Data: make([]byte, p.Count)})
		case linkproto.TypeRegWrite, linkproto.TypeBufWrite, linkproto.TypeResume:
			f.send(linkproto.Packet{Type: linkproto.TypeDone, Tag: p.Tag})
		}
	}
	if f.line == nil {
		f.line = make([]linkproto.Symbol, n)
	}
	lines[0].In = f.line[:f.link.Emit(f.line)]
	return n, nil
}

// Close is for lockstep.New.
func (f *fake) Close() error { return nil }

// openFake opens a fake NI until the test ends.
func openFake(ctx context.Context, t *testing.T, f *fake, o hostdrv.Options) (*hostdrv.NI, error) {
	host := check.Must(lockstep.New(f, 1, 64, 64, 1e6).Sole())(t)
	n, err := hostdrv.New(ctx, host, o)
	if err == nil {
		t.Cleanup(func() { n.Close() })
	}
	return n, err
}
