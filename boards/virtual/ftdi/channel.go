package ftdi

import (
	"bytes"
	"time"

	"github.com/stafflink/lmmc/boards/virtual/usbdev"
)

// buffer is how many bytes a channel holds for each direction.
const buffer = 4096

// Status that every packet to the host begins with: the modem's lines, and the serial port's.
const (
	statusBytes = 2
	highSpeed   = 0x02 // in the first byte
	lineEmpty   = 0x60 // in the second: nothing left to be sent
)

// Modes of a channel, of requestBitMode.
const (
	modeSerial  = 0x00
	modeBitBang = 0x01
	modeMPSSE   = 0x02
)

const defaultLatency = 16 // ms

// channel is one of the chip's two. The device's lock protects it.
type channel struct {
	device *usbdev.Device
	line   *UART

	toHost   []byte // what came from the line, to be read
	fromHost []byte // to be sent
	sent     []byte // the status that the host knows
	due      time.Time
	timer    *time.Timer // wakes the device when the latency timer runs out

	latency   byte
	mode      byte
	modem     byte // DTR and RTS
	flow      byte
	xon, xoff byte
	format    uint16
	event     uint16
	rate      float64
	flush     bool // send what there is without waiting for the timer
}

func newChannel(d *usbdev.Device) *channel {
	c := &channel{device: d}
	c.line = newUART(c)
	c.powerUp()
	return c
}

// powerUp is the state after a reset of the bus.
func (c *channel) powerUp() {
	c.reset()
	c.latency, c.mode, c.format, c.rate = defaultLatency, modeSerial, 8, rate(0x4138, 0) // 9600 bits a second
}

// reset leaves rate and format alone.
func (c *channel) reset() {
	c.toHost = nil
	c.purgeOutput()
	c.modem, c.flow, c.event = 0, 0, '\r'
}

func (c *channel) purgeOutput() {
	c.fromHost = nil
}

func (c *channel) setMode(mode, _ byte) bool {
	c.mode = mode
	return mode == modeSerial
}

// status is what the host is told of the lines.
func (c *channel) status() []byte {
	line := byte(0)
	if len(c.fromHost) == 0 {
		line = lineEmpty
	}
	return []byte{highSpeed, line}
}

// packet is for the host: when it is full, when the latency timer has run out, when something is not to wait, or a line of the modem has
// changed.
func (c *channel) packet(max int) ([]byte, bool) {
	n := min(len(c.toHost), max-statusBytes)
	status := c.status()
	now := time.Now()
	if n < max-statusBytes && !c.flush && now.Before(c.due) && (c.sent == nil || c.sent[0] == status[0]) {
		c.wakeAt(c.due.Sub(now))
		return nil, false
	}
	c.flush = false
	c.due = now.Add(time.Duration(c.latency) * time.Millisecond)
	c.sent = status
	packet := append(status[:statusBytes:statusBytes], c.toHost[:n]...)
	c.toHost = c.toHost[n:]
	c.line.signal(c.line.room)
	return packet, true
}

// wakeAt makes the device look again.
func (c *channel) wakeAt(wait time.Duration) {
	if c.timer == nil {
		c.timer = time.AfterFunc(wait, func() { c.device.Do(func() {}) })
	} else {
		c.timer.Reset(wait)
	}
}

// take is from the host.
func (c *channel) take(packet []byte) bool {
	if len(c.fromHost)+len(packet) > buffer {
		return false
	}
	c.fromHost = append(c.fromHost, packet...)
	c.line.signal(c.line.input)
	return true
}

// arrive takes what fits of what comes from the line.
func (c *channel) arrive(b []byte) int {
	n := min(len(b), buffer-len(c.toHost))
	c.toHost = append(c.toHost, b[:n]...)
	if c.event&eventEnabled != 0 && bytes.IndexByte(b[:n], byte(c.event)) >= 0 {
		c.flush = true
	}
	return n
}
