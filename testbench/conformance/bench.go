package conformance

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// bench is a target with a driver, on which a case runs.
type bench struct {
	line   *line
	ni     *hostdrv.NI // nil if other processes serve the nodes
	target interface { // the network interface, whoever drives it
		ReadRegister(ctx context.Context, r linkproto.Reg) (uint32, error)
		WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
	}
	id     hostdrv.Identity
	seed   uint64
	rng    *rand.Rand
	links  []Link
	lost   error // why they are not known, or nil
	effort int
	opened uint64 // drivers so far
	bad    uint32 // bad packets that the host port had counted before

	measured   []Measurement
	transcript string // the file of it, if one was kept
}

// newBench is a bench that is not for a case.
func newBench(l *line, seed uint64) *bench {
	return &bench{line: l, seed: seed, rng: rand.New(rand.NewPCG(seed, 0)), effort: 1}
}

// Times in ticks, the time of a symbol on the host's cable.
const (
	caseTicks  = 1 << 25 // of a whole case, in a simulation; a board has caseTime or boardTicks, whichever is longer
	boardTicks = 1 << 22
	caseTime   = time.Minute
	patience   = 10 * time.Second // with a board that does not answer, at least
	soonTicks  = 1 << 18          // for what the target does by itself, a retry of a link included, in a simulation; a board has soonTime if that is longer
	soonTime   = 30 * time.Second // what looks like a board may be a simulation on a busy machine
)

// open opens a driver, and brings the NI into the state that a case begins with.
func (b *bench) open(ctx context.Context) {
	if p := b.line.pair; p != nil {
		b.id, b.target = p.nodes[0].Identity(), p.nodes[0]
		return
	}
	try.OK(b.drive(ctx, hostdrv.Options{}))
	b.id = b.ni.Identity()
	b.tidy(ctx)
	b.bad = b.counter(ctx, 0, linkproto.CntBadPacket)
}

// drive opens a driver on the line.
func (b *bench) drive(ctx context.Context, o hostdrv.Options) (err error) {
	b.opened++
	o.Seed = b.seed<<8 + b.opened
	if t := b.line.timing(); !t.VirtualTime { // longer than its link takes to start again, and than a busy machine to go on
		o.LinkTimeout = max(patience, time.Duration(8*linkproto.DefaultRetry*linkproto.DefaultRetryLimit/t.TicksPerSecond*float64(time.Second)))
	}
	b.ni, err = hostdrv.New(ctx, &end{line: b.line}, o)
	b.target = b.ni
	return err
}

// reopen closes the driver and opens another one. Its peer in a network goes on.
func (b *bench) reopen(ctx context.Context) {
	try.OK(b.ni.Close(), b.drive(ctx, hostdrv.Options{}))
}

func (b *bench) close() (err error) {
	if b.line.network != nil { // which would wait for this one
		err = b.line.network.leave()
	}
	if b.ni != nil {
		err = errors.Join(err, b.ni.Close())
	}
	return errors.Join(err, b.line.close())
}

// tidy closes all frames and lets go on what an earlier program has left trapped.
func (b *bench) tidy(ctx context.Context) {
	limit, cancel := b.soon(ctx, 16)
	defer cancel()
	batch := b.ni.Batch()
	batch.WriteRegister(linkproto.RegControl, 0)
	for frame := range b.id.Frames {
		batch.SetFrame(frame, hostdrv.FrameEntry{})
	}
	try.OK(batch.Run(limit))
	for link := 1; link <= b.id.Links; link++ {
		// What waits behind a trap may trap again, some time after RESUME.
		for calm := 0; calm < 4; calm++ {
			s := try.Get(b.ni.LinkStatus(limit, link))
			if s.Trapped {
				try.OK(b.ni.Resume(limit, link))
				calm = -1
			}
		}
	}
}

// within limits ctx to ticks of the target's time.
func (b *bench) within(ctx context.Context, ticks int) (context.Context, context.CancelFunc) {
	return b.target.WithTimeout(ctx, b.duration(ticks))
}

// soon limits ctx to what the target takes for so many things that it does by itself.
func (b *bench) soon(ctx context.Context, things int) (context.Context, context.CancelFunc) {
	ticks := soonTicks
	if t := b.line.timing(); !t.VirtualTime {
		ticks = max(ticks, int(soonTime.Seconds()*t.TicksPerSecond))
	}
	return b.within(ctx, things*ticks)
}

// limit limits ctx to what a case may take.
func (b *bench) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	t := b.line.timing()
	if t.VirtualTime {
		return b.within(ctx, caseTicks)
	}
	return b.within(ctx, max(boardTicks, int(caseTime.Seconds()*t.TicksPerSecond)))
}

func (b *bench) duration(ticks int) time.Duration {
	return time.Duration(float64(ticks) / b.line.timing().TicksPerSecond * float64(time.Second))
}

// now is the target's time.
func (b *bench) now(ctx context.Context) time.Duration {
	if b.line.pair != nil {
		return try.Get(b.line.pair.nodes[0].Report(ctx)).Now
	}
	return b.ni.Now()
}

// ticks is how long d is in ticks.
func (b *bench) ticks(d time.Duration) float64 {
	return d.Seconds() * b.line.timing().TicksPerSecond
}

// slow reports whether each symbol takes long: on a board, and in a simulation that runs many clocks for it, as by the pins of a UART.
func (b *bench) slow() bool {
	t := b.line.timing()
	return !t.VirtualTime || t.TicksPerSecond < 25e6
}

// simulated is by how much the simulation of an NI is slower than it, about.
const simulated = 128

// symbols is about how many symbols a case should send over the host's cable: what a simulation does in a second or so, and on a board
// what the cable carries in one.
func (b *bench) symbols() int {
	t := b.line.timing()
	second := t.TicksPerSecond
	if t.VirtualTime {
		second /= simulated
	}
	if n := b.line.network; n != nil {
		second /= float64(n.hops + 1)
	}
	return min(1<<19, int(second)) * b.effort
}

func (b *bench) measure(name string, value float64, unit string) {
	b.measured = append(b.measured, Measurement{name, value, unit})
}

// grant lets a link write frames, and no other write them.
func (b *bench) grant(ctx context.Context, link int, frames ...int) {
	batch := b.ni.Batch()
	for _, f := range frames {
		batch.SetFrame(f, hostdrv.FrameEntry{Link: link})
	}
	try.OK(batch.Run(ctx))
}

// spare is the frame that arrived uses; cases keep off it.
func (b *bench) spare() int { return b.id.Frames - 1 }

// frames is how many frames a case may use that reads and writes them all some times: not more than it has time for.
func (b *bench) frames() int {
	if b.id.Frames < 2 {
		skipf("needs two frames, there is one")
	}
	return max(1, min(b.id.Frames-1, b.symbols()/16/b.id.PageBytes))
}

// arrived waits until the NI has carried out all that was sent over a loop before. It may not be trapped.
func (b *bench) arrived(ctx context.Context, l loop) error {
	return b.token(ctx, l, b.spare()*b.id.PageBytes)
}

// tokenBytes is what token writes.
const tokenBytes = 8

// token sends a word over a loop to an address in the spare frame, and waits for it.
func (b *bench) token(ctx context.Context, l loop, at int) error {
	limit, cancel := b.soon(ctx, 1)
	defer cancel()
	token := binary.LittleEndian.AppendUint64(make([]byte, 0, tokenBytes), b.rng.Uint64())
	return try.Run(func() {
		try.OK(b.ni.Sync(limit, l.via))
		b.grant(limit, l.at, b.spare())
		try.OK(b.ni.WriteBuffer(limit, make([]byte, len(token)), at), b.ni.Write(limit, l.via, at, token))
		try.OK(b.appears(limit, at, token))
	})
}

// appears waits until the buffer holds bytes at an address.
func (b *bench) appears(ctx context.Context, addr int, want []byte) error {
	have := make([]byte, len(want))
	for {
		err := b.ni.ReadBuffer(ctx, have, addr)
		if err != nil {
			return fmt.Errorf("what was sent does not arrive at %#x: %w; there %w", addr, err, differ(have, want))
		}
		if string(have) == string(want) {
			return nil
		}
	}
}

// holds compares the buffer with what it must hold.
func (b *bench) holds(ctx context.Context, addr int, want []byte) error {
	have := make([]byte, len(want))
	if err := b.ni.ReadBuffer(ctx, have, addr); err != nil {
		return err
	}
	if err := differ(have, want); err != nil {
		return fmt.Errorf("at %#x %w", addr, err)
	}
	return nil
}

// differ tells the first difference.
func differ(have, want []byte) error {
	for i := range want {
		if have[i] != want[i] {
			from, to := max(i-4, 0), min(i+12, len(want))
			return fmt.Errorf("byte %d is %#02x, want %#02x; bytes %d to %d are % x, want % x", i, have[i], want[i], from, to-1, have[from:to], want[from:to])
		}
	}
	return nil
}

// write is a remote write of one packet, where NI.Write may make several.
func write(addr int, data []byte) linkproto.Packet {
	return linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(addr), Data: data}
}

// noise returns random bytes.
func (b *bench) noise(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(b.rng.Uint32())
	}
	return p
}

// counter reads a link's counter, 0 being the host port's. With a router it is the sum of its ports' for the link into the network: the NI sends there too.
func (b *bench) counter(ctx context.Context, link int, c linkproto.Counter) (sum uint32) {
	if nw := b.line.network; nw != nil && link == nw.via && b.id.Has(linkproto.FeatureRouter) {
		for i := range nw.node(0).Ports {
			sum += try.Get(b.ni.ReadRegister(ctx, linkproto.PortCounterReg(i+1, c)))
		}
		return sum
	}
	return try.Get(b.target.ReadRegister(ctx, linkproto.CounterReg(link, c)))
}

// growth begins to watch a counter: what it returns tells by how much that has grown.
func (b *bench) growth(ctx context.Context, link int, c linkproto.Counter) func() uint32 {
	before := b.counter(ctx, link, c)
	return func() uint32 { return b.counter(ctx, link, c) - before }
}

// registers reads registers together.
func (b *bench) registers(ctx context.Context, regs ...linkproto.Reg) []uint32 {
	values := make([]uint32, len(regs))
	batch := b.ni.Batch()
	for i, r := range regs {
		batch.ReadRegister(r, &values[i])
	}
	try.OK(batch.Run(ctx))
	return values
}

// reads checks what a register holds; why says what that follows from.
func (b *bench) reads(ctx context.Context, r linkproto.Reg, want uint32, why string) {
	if have := try.Get(b.ni.ReadRegister(ctx, r)); have != want {
		try.Failf("register %v reads %#x, want %#x, %s", r, have, want, why)
	}
}

// refused checks that a request was refused with a status.
func refused(err error, want linkproto.Status) error {
	var r *hostdrv.RefusedError
	switch {
	case err == nil:
		return fmt.Errorf("it was carried out, want it refused with %v", want)
	case !errors.As(err, &r):
		return err
	case r.Status != want:
		return fmt.Errorf("%w, want %v", err, want)
	}
	return nil
}

// wraps checks that an error is of a kind.
func wraps(err, want error) error {
	switch {
	case err == nil:
		return fmt.Errorf("no error, want %q", want)
	case !errors.Is(err, want):
		return fmt.Errorf("%w, want %q", err, want)
	}
	return nil
}
