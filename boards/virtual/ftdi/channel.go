package ftdi

import (
	"time"

	"github.com/stafflink/lmmc/boards/virtual/usbdev"
)

// buffer is how many bytes a channel holds for each direction.
const buffer = 4096

// Status bytes at the start of every packet to the host: modem lines, and line status.
const (
	statusBytes = 2
	highSpeed   = 0x02 // in the first byte
	lineEmpty   = 0x60 // in the second: transmitter empty
)

// Modes of a channel, of requestBitMode.
const (
	modeSerial      = 0x00
	modeBitBang     = 0x01
	modeMPSSE       = 0x02
	modeBitBangSync = 0x04
	modeMCU         = 0x08
)

const defaultLatency = 16 // ms

// channel is one of the chip's two. The device's lock protects it.
type channel struct {
	device *usbdev.Device
	line   *UART // nil while the serial line is open
	noise  noise
	counts LineCounts
	engine engine
	pins   pins
	other  *channel // whose pins go with these in modeMCU; nil if there is no such mode

	toHost   []byte // what came from the line, to be read
	fromHost []byte // to be sent
	sent     []byte // the status that the host knows
	due      time.Time
	timer    alarm         // for latency
	overrun  time.Duration // how long toHost is full before bytes are lost; 0: they wait
	filled   time.Time     // when something was first left over; zero if nothing is
	full     bool          // the host waits for room
	freed    alarm         // there is room again

	latency byte
	flow    flow
	format  uint16
	event   uint16
	rate    float64
	flush   bool // send at once, without waiting for the timer
	errors  byte // of bytes for the next packet

	input chan struct{} // there may be something for the line
	room  chan struct{} // there may be room for what comes from it
}

// engine is the mode of a channel that is not a serial port. work processes what the host has sent, as far as it can.
type engine interface{ work() }

// alarm calls a function some time later, if a host is attached then, and has the device retry its transfers.
type alarm struct {
	ring  func()
	timer *time.Timer
}

func newChannel(d *usbdev.Device) *channel {
	c := &channel{device: d, pins: pins{wired: open{}}, input: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	c.freed.ring = c.work // an engine may have waited for the same
	c.powerUp()
	return c
}

// powerUp sets the state after a bus reset.
func (c *channel) powerUp() {
	c.reset()
	c.setMode(modeSerial, 0)
	c.latency, c.format, c.rate = defaultLatency, 8, rate(0x4138, 0) // 9600 bits a second
}

// reset leaves rate and format alone.
func (c *channel) reset() {
	c.toHost, c.errors = nil, 0
	c.purgeOutput()
	c.flow, c.event = flow{lines: c.flow.lines}, '\r'
}

func (c *channel) purgeOutput() {
	c.fromHost = nil
}

// setMode makes it a serial port or one of the engines; it refuses other modes.
func (c *channel) setMode(mode, outputs byte) bool {
	c.pins.release()
	if _, both := c.engine.(*busHost); both {
		c.other.pins.release()
	}
	c.engine = nil
	switch mode {
	case modeSerial:
	case modeMPSSE: // its commands set which pins are outputs
		c.engine = newMPSSE(c)
	case modeBitBang, modeBitBangSync:
		c.engine = newBitBang(c, outputs, mode == modeBitBangSync)
	case modeMCU:
		if c.other == nil || c.other.engine != nil {
			return false
		}
		c.engine = newBusHost(c)
	default:
		return false
	}
	return true
}

// work runs the engine, and drops what is sent to an open line.
func (c *channel) work() {
	switch {
	case c.engine != nil:
		c.engine.work()
	case c.line == nil && c.flow.maySend():
		c.fromHost = nil
	}
}

// status returns the status bytes for the host.
func (c *channel) status() []byte {
	line := c.errors
	if len(c.fromHost) == 0 {
		line |= lineEmpty
	}
	return []byte{highSpeed | c.flow.lines.status(), line}
}

// packet returns a packet for the host: when it is full, when the latency timer expires, on a flush, or when a modem line has
// changed.
func (c *channel) packet(max int) ([]byte, bool) {
	c.work()
	n := min(len(c.toHost), max-statusBytes)
	status := c.status()
	now := time.Now()
	if n < max-statusBytes && !c.flush && now.Before(c.due) && (c.sent == nil || c.sent[0] == status[0]) {
		c.timer.in(c.device, c.due.Sub(now))
		return nil, false
	}
	c.flush, c.errors = false, 0
	c.due = now.Add(time.Duration(c.latency) * time.Millisecond)
	c.sent = status
	packet := append(status[:statusBytes:statusBytes], c.toHost[:n]...)
	c.toHost = c.toHost[n:]
	c.flow.setFill(len(c.toHost), c.input)
	signal(c.room)
	if c.full {
		c.freed.in(c.device, 0)
	}
	return packet, true
}

// in sets the alarm, or sets it again.
func (a *alarm) in(d *usbdev.Device, wait time.Duration) {
	if a.timer != nil {
		a.timer.Reset(wait)
		return
	}
	a.timer = time.AfterFunc(wait, func() {
		if !d.Attached() {
			return
		}
		d.Do(func() {
			if a.ring != nil {
				a.ring()
			}
		})
	})
}

// take accepts a packet from the host.
func (c *channel) take(packet []byte) bool {
	c.full = len(c.fromHost)+len(packet) > buffer
	if c.full {
		return false
	}
	c.fromHost = append(c.fromHost, packet...)
	c.work()
	signal(c.input)
	return true
}

// arrive buffers what fits of the data from the line; an engine ignores it.
func (c *channel) arrive(received []character) int {
	if c.engine != nil {
		return len(received)
	}
	n := 0
	for _, r := range received {
		if c.flow.consume(r, c.input) {
			n++
			continue
		}
		if len(c.toHost) == buffer {
			break
		}
		n++
		c.toHost = append(c.toHost, r.b)
		c.flush = c.flush || c.event&(eventEnabled|0xFF) == eventEnabled|uint16(r.b)
		if r.errors == 0 {
			continue
		}
		c.errors |= r.errors
		if r.errors&errFraming != 0 {
			c.counts.Framing++
		}
		if r.errors&errParity != 0 {
			c.counts.Parity++
		}
	}
	c.flow.setFill(len(c.toHost), c.input)
	return n
}
