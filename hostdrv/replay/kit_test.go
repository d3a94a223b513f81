package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
	_ "github.com/stafflink/lmmc/testbench/modelsim"
	_ "github.com/stafflink/lmmc/testbench/rtlsim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small says how large the network interfaces of these tests are: one compilation serves them all.
const small = "?links=2&frames=8&page=128&replay=512&rx="

func model() string { return "model:" + small + "2048" }
func rtl() string   { return "rtl:" + small + "512" }

// recorded is the session of a program on a target.
func recorded(t *testing.T, target string, wrap func(string, hostdrv.Transport) hostdrv.Transport, program func(*testing.T, *hostdrv.NI)) *record.Session {
	t.Helper()
	var file bytes.Buffer
	recorder := record.New(&file)
	n := check.Must(hostdrv.Open(t.Context(), target, recorder.Options(hostdrv.Options{Seed: 5, Wrap: wrap})))(t)
	program(t, n)
	check.Fatal(t, errors.Join(n.Close(), recorder.Close()))
	sessions := check.Must(record.Read(&file))(t)
	return sessions[0]
}

// pages lets a node that is cabled to itself write and read more ports than there are frames.
func pages(seed uint64) func(*testing.T, *hostdrv.NI) {
	return func(t *testing.T, n *hostdrv.NI) {
		t.Helper()
		ctx, rng := t.Context(), rand.New(rand.NewPCG(seed, 3))
		node := check.Must(hostdrv.Start(ctx, n, hostdrv.NodeOptions{Seed: seed + 1}))(t)
		const ports = 12
		var send, receive [ports]*hostdrv.Window
		for i := range ports {
			send[i], receive[i] = drivertest.Channel(t, node, node, 1+i%2, fmt.Sprint(i))
		}
		var want [ports][128]byte
		write := func(port, at, size int) { // the whole page if something was lost, until it is on its way
			t.Helper()
			err := send[port].WritePage(ctx, want[port][at:at+size], at)
			for drivertest.IsLoss(err) {
				err = send[port].WritePage(ctx, want[port][:], 0)
			}
			check.Fatal(t, err)
		}
		for range 150 {
			port, at := rng.IntN(ports), rng.IntN(128)
			size := 1 + rng.IntN(128-at)
			drivertest.Random(rng, want[port][at:at+size])
			write(port, at, size)
		}
		for i := range send {
			err := send[i].Sync(ctx)
			for ; drivertest.IsLoss(err); err = send[i].Sync(ctx) {
				write(i, 0, 128)
			}
			check.Fatal(t, err)
		}
		for i, w := range receive {
			check.Fatal(t, w.Wait(ctx, func(page []byte) bool { return bytes.Equal(page, want[i][:]) }))
		}
	}
}

// requests writes and reads at the lowest level, links included, many things at once.
func requests(seed uint64) func(*testing.T, *hostdrv.NI) {
	return func(t *testing.T, n *hostdrv.NI) {
		t.Helper()
		ctx, rng := t.Context(), rand.New(rand.NewPCG(seed, 5))
		goOn := func(err error) {
			t.Helper()
			if !drivertest.IsLoss(err) {
				check.Fatal(t, drivertest.NoRestart(err))
			}
		}
		goOn(n.WriteBuffer(ctx, make([]byte, 8*128), 0))
		for range 120 {
			data := drivertest.Random(rng, make([]byte, 1+rng.IntN(200)))
			switch at := rng.IntN(8*128 - len(data)); rng.IntN(7) {
			case 0:
				goOn(n.SetFrame(ctx, rng.IntN(8), hostdrv.FrameEntry{Link: rng.IntN(3)}))
			case 1:
				goOn(n.WriteBuffer(ctx, data, at))
			case 2:
				b := n.Batch()
				b.WriteRegister(linkproto.RegScratch, rng.Uint32())
				b.ReadBuffer(data, at)
				var v uint32
				b.ReadRegister(linkproto.RegScratch, &v)
				goOn(b.Run(ctx))
			case 3:
				goOn(n.Sync(ctx, 1+rng.IntN(2)))
			case 4:
				goOn(check.Err(n.LinkStatus(ctx, rng.IntN(3))))
			default:
				goOn(n.Write(ctx, 1+rng.IntN(2), at, data))
			}
		}
	}
}

// between stands between a driver and its target, with a link to each, and may change the packets. So a network interface can be
// made to do what none may.
type between struct {
	hostdrv.Transport
	near, far *flowctl.Endpoint
	change    func(toNI bool, p *linkproto.Packet) (keep bool)
	line, out []linkproto.Symbol
}

func newBetween(t hostdrv.Transport, change func(bool, *linkproto.Packet) bool) *between {
	b := &between{Transport: t, change: change, line: make([]linkproto.Symbol, t.Timing().Burst)}
	for _, end := range []**flowctl.Endpoint{&b.near, &b.far} {
		e, err := flowctl.New(flowctl.Config{
			MaxPacket: linkproto.MaxPacket(linkproto.MaxPageBytes), PeerPacket: linkproto.MaxPacket(linkproto.MinPageBytes), Silence: -1, Epoch: 77, ReplayBytes: 1 << 18,
		})
		if err != nil {
			panic(err)
		}
		*end = e
	}
	return b
}

func (b *between) Exchange(x *hostdrv.Exchange) error {
	b.near.Feed(x.Out)
	b.pass(b.near, b.far, true)
	if len(b.out) == 0 {
		b.out = b.line[:b.far.Emit(b.line)]
	}
	inner := hostdrv.Exchange{Out: b.out, Wait: min(x.Wait, 64), Idle: x.Idle}
	if err := b.Transport.Exchange(&inner); err != nil {
		return err
	}
	if inner.Taken {
		b.out = nil
	}
	b.far.Feed(inner.In)
	b.pass(b.far, b.near, false)
	b.near.Tick(inner.Ticks)
	b.far.Tick(inner.Ticks)
	x.Taken, x.Ticks = true, inner.Ticks
	in := make([]linkproto.Symbol, x.Ticks+1)
	x.In = in[:b.near.Emit(in)]
	return nil
}

func (b *between) pass(from, to *flowctl.Endpoint, toNI bool) {
	for raw, ok := from.Receive(); ok; raw, ok = from.Receive() {
		var p linkproto.Packet
		if err := p.Decode(raw); err != nil {
			panic(err)
		}
		if !b.change(toNI, &p) {
			continue
		}
		changed, err := p.Append(nil)
		if err == nil {
			err = to.Send(changed)
		}
		if err != nil {
			panic(err)
		}
	}
}

// broken opens a target that does something wrong.
func broken(t *testing.T, target string, change func(toNI bool, p *linkproto.Packet) bool) hostdrv.Transport {
	t.Helper()
	inner := check.Must(hostdrv.Dial(t.Context(), target))(t)
	t.Cleanup(func() { inner.Close() })
	return newBetween(inner, change)
}
