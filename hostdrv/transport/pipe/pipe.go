// Package pipe is the transport over a stream of bytes, such as a UART or a TCP connection: symbols escape-stuffed as package linkproto
// has it, and wall-clock time.
package pipe

import (
	"io"
	"sync"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/linkproto"
)

// Pipe is a transport.
type Pipe struct {
	stream io.ReadWriteCloser
	timing hostdrv.Timing
	work   sync.WaitGroup
	event  chan struct{} // something below has changed
	taken  sync.Cond     // in has been taken, or stop is set
	orders chan []byte   // what is to be written
	closed error         // of stream.Close
	once   sync.Once

	mu    sync.Mutex
	in    []linkproto.Symbol
	err   error
	busy  bool // the writer has something to write
	woken bool
	stop  bool

	// of the caller of Exchange
	given []linkproto.Symbol
	bytes []byte
	last  time.Time
	rest  float64 // of a tick
}

// readAhead is how many symbols are held for Exchange before the stream is left to wait.
const readAhead = 1 << 16

// AckCoalesce is a Timing.AckCoalesce for a stream in which a byte costs about as much as a thousand, such as one over USB: short beside the time after
// which the board would send again what is not acknowledged, and long enough for a caller that wants the next thing when it has got one.
const AckCoalesce = linkproto.DefaultRetry / 16

// New makes a transport of a stream, whose Close must make a Read or Write in progress return. timing.VirtualTime is ignored.
func New(stream io.ReadWriteCloser, timing hostdrv.Timing) *Pipe {
	timing.VirtualTime = false
	p := &Pipe{stream: stream, timing: timing, event: make(chan struct{}, 1), orders: make(chan []byte, 1), last: time.Now()}
	p.taken.L = &p.mu
	p.work.Go(p.read)
	p.work.Go(p.write)
	return p
}

func (p *Pipe) signal() {
	select {
	case p.event <- struct{}{}:
	default:
	}
}

func (p *Pipe) read() {
	var stuff linkproto.Unstuffer
	bytes := make([]byte, 1<<14)
	for {
		n, err := p.stream.Read(bytes)
		p.mu.Lock()
		p.in = stuff.Append(p.in, bytes[:n])
		if err != nil && p.err == nil {
			p.err = err
		}
		for len(p.in) > readAhead && !p.stop {
			p.taken.Wait()
		}
		stop := p.stop || p.err != nil
		p.mu.Unlock()
		p.signal()
		if stop {
			return
		}
	}
}

func (p *Pipe) write() {
	for bytes := range p.orders {
		_, err := p.stream.Write(bytes)
		p.mu.Lock()
		p.busy = false
		if err != nil && p.err == nil {
			p.err = err
		}
		p.mu.Unlock()
		p.signal()
	}
}

// Exchange is as Transport has it. It returns at once when it has taken x.Out.
func (p *Pipe) Exchange(x *hostdrv.Exchange) error {
	if p.stream == nil {
		return io.ErrClosedPipe
	}
	var timer *time.Timer
	var late <-chan time.Time
	for {
		if ready, err := p.try(x); ready || err != nil {
			x.Ticks = p.ticks(x.Wait)
			return err
		}
		if timer == nil {
			timer = time.NewTimer(time.Duration(float64(x.Wait) / p.timing.TicksPerSecond * float64(time.Second)))
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-p.event:
		case <-late:
			x.Ticks = p.ticks(x.Wait)
			return nil
		}
	}
}

// try does what can be done without waiting.
func (p *Pipe) try(x *hostdrv.Exchange) (ready bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.in) > 0 {
		x.In, p.in, p.given = p.in, p.given[:0], p.in
		p.taken.Signal()
	} else if p.err != nil {
		return true, p.err
	}
	if len(x.Out) > 0 && !p.busy && !p.stop {
		p.bytes = linkproto.AppendStuffed(p.bytes[:0], x.Out)
		p.busy, x.Taken = true, true
		p.orders <- p.bytes // has room: the writer was not busy
	}
	ready = len(x.In) > 0 || x.Taken || p.woken
	p.woken = false
	return ready, nil
}

// ticks is how many have passed since it was called last, of which wait were waited for: no more than half a WORD_TIMER or 20 ms beside. A program
// that had no processor for longer has not listened either, so that is no silence of the other end's.
func (p *Pipe) ticks(wait int) int {
	now := time.Now()
	p.rest += now.Sub(p.last).Seconds() * p.timing.TicksPerSecond
	p.last = now
	most := float64(wait) + max(linkproto.DefaultWordTimer/2, p.timing.TicksPerSecond/50)
	n := int(min(p.rest, most))
	p.rest = min(p.rest, most) - float64(n)
	return n
}

// Wake is as Transport has it.
func (p *Pipe) Wake() {
	p.mu.Lock()
	p.woken = true
	p.mu.Unlock()
	p.signal()
}

// Timing is what New was given.
func (p *Pipe) Timing() hostdrv.Timing { return p.timing }

// Close closes the stream.
func (p *Pipe) Close() error {
	if p.stream == nil {
		return io.ErrClosedPipe
	}
	p.once.Do(func() {
		p.mu.Lock()
		p.stop = true
		if p.err == nil {
			p.err = io.ErrClosedPipe
		}
		close(p.orders)
		p.taken.Signal()
		p.mu.Unlock()
		p.signal()
		p.closed = p.stream.Close()
		p.work.Wait()
	})
	return p.closed
}
