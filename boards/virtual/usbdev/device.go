// Package usbdev is the device side of USB: a device with its descriptors, the standard requests, and transfers that
// wait for it at any number of endpoints at a time.
//
// A Device has a Function, which is what the device does, and at most one Host. Nothing waits in here: a Function that has nothing for
// the host, or no room, says so (NAK), and the transfer stays until the function has changed (Device.Do), the host takes it back, or the
// plug is pulled. No endpoint holds another up. The rules are those of the USB 2.0 specification, chapters 5, 8 and 9.
package usbdev

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// In is set in the number of an endpoint that sends to the host.
const In = 0x80

// Function is what a device does. Its methods are called one at a time and must not wait, nor call the Device.
type Function interface {
	// Describe returns the descriptors; it is called at first, on plugging in, and after each reset. They must be well-formed and have the same endpoints
	// each time.
	Describe() Descriptors
	// Reset is a bus reset, which precedes everything a host does.
	Reset()
	// Control answers a request that is not one of the standard ones. data is what came with it; the answer is cut to the request's
	// Length. Not ok stalls the request.
	Control(request Setup, data []byte) (answer []byte, ok bool)
	// Packet returns the next packet, of at most max bytes, from an endpoint to the host. Not ok means that it has none yet.
	Packet(endpoint byte, max int) (packet []byte, ok bool)
	// Take takes a packet from the host. Not ok means that there is no room yet; the same packet comes again.
	Take(endpoint byte, packet []byte) (ok bool)
}

// Errors of attaching.
var (
	ErrBusy      = errors.New("usbdev: the device is in use by another host")
	ErrUnplugged = errors.New("usbdev: the device is unplugged")
)

// Device is a device. All methods may be called from any goroutine.
type Device struct {
	function Function

	mu          sync.Mutex
	descriptors Descriptors
	unplugged   bool
	host        *Host
	configured,
	remoteWakeup bool
	control   endpoint
	endpoints []*endpoint // of the only configuration
	delay     time.Duration
	counts    Counts
	observer  func(*Transfer)
}

// endpoint is one with what waits at it.
type endpoint struct {
	address byte
	owner   byte // interface
	size    int  // of a packet
	queue   []*Transfer
	halted  bool
	quiet   time.Time // until then the endpoint answers NAK
	again   *time.Timer
	back    [][]byte // packets of cancelled transfers
}

// Counts are a device's counters.
type Counts struct {
	Transfers, Stalls, Unlinked, NAKs uint64 // NAKs: times that a transfer had to wait for the function
	ToHost, FromHost                  uint64 // bytes of bulk transfers
	Plugs, Attached                   uint64
}

// New returns a device that is plugged in. It panics if the function's descriptors are malformed, which is a programming error.
func New(function Function) *Device {
	d := &Device{descriptors: function.Describe(), function: function}
	d.control = endpoint{size: int(d.descriptors.Device[7])}
	d.endpoints = d.descriptors.endpoints()
	return d
}

// Descriptors returns the current descriptors.
func (d *Device) Descriptors() Descriptors {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.descriptors
}

// Do calls change, which may give the function data or room, and then moves what can be moved. While it runs the
// function is not called.
func (d *Device) Do(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
	for _, e := range d.endpoints {
		d.serve(e)
	}
}

// Counts returns the counters.
func (d *Device) Counts() Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts
}

// Observe calls see with every transfer that ends, before the host's Done. see must neither wait nor call the device; nil ends that.
func (d *Device) Observe(see func(*Transfer)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.observer = see
}

// Host is the host that has a device.
type Host struct {
	device *Device
	gone   chan struct{}
}

// Attach returns the device's host and resets the device. Errors are ErrBusy and ErrUnplugged.
func (d *Device) Attach() (*Host, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.unplugged:
		return nil, ErrUnplugged
	case d.host != nil:
		return nil, ErrBusy
	}
	d.host = &Host{device: d, gone: make(chan struct{})}
	d.counts.Attached++
	d.configured, d.remoteWakeup = false, false
	for _, e := range d.endpoints {
		e.halted, e.back = false, nil
	}
	d.function.Reset()
	d.descriptors = d.function.Describe()
	return d.host, nil
}

// Attached reports whether the device has a host.
func (d *Device) Attached() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.host != nil
}

// Gone is closed when the plug has been pulled, or the host closed.
func (h *Host) Gone() <-chan struct{} { return h.gone }

// Device returns the device that the host has.
func (h *Host) Device() *Device { return h.device }

// Close releases the device. Pending transfers end with Gone.
func (h *Host) Close() { h.device.detach(h, false) }

// Unplug pulls the plug: transfers end with Gone, and so does the host.
func (d *Device) Unplug() { d.detach(nil, true) }

// Plug puts the plug in again.
func (d *Device) Plug() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unplugged {
		d.unplugged = false
		d.counts.Plugs++
		d.descriptors = d.function.Describe()
	}
}

// Plugged reports whether the plug is in.
func (d *Device) Plugged() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.unplugged
}

// detach ends the host h, or with nil whichever there is.
func (d *Device) detach(h *Host, unplug bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unplugged = d.unplugged || unplug
	if d.host == nil || h != nil && h != d.host {
		return
	}
	for _, e := range append([]*endpoint{&d.control}, d.endpoints...) {
		d.drop(e, Gone)
		if e.again != nil {
			e.again.Stop()
		}
	}
	close(d.host.gone)
	d.host = nil
}

// drop ends the transfers that wait at an endpoint.
func (d *Device) drop(e *endpoint, s Status) {
	waiting := e.queue
	e.queue = nil
	for _, t := range waiting {
		d.end(t, s)
	}
}

// SetDelay makes every transfer that is submitted from now on wait so long before the device sees it.
func (d *Device) SetDelay(delay time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.delay = delay
}

// AnswerNAK makes all bulk endpoints answer NAK for a time, whatever the function has.
func (d *Device) AnswerNAK(long time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.endpoints {
		e.quiet = time.Now().Add(long)
	}
}

// Halt stalls an endpoint until the host clears that.
func (d *Device) Halt(address byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.endpoint(address); e != nil {
		e.halted = true
		d.serve(e)
	}
}

// Endpoints lists the addresses of all endpoints but the one for control.
func (d *Device) Endpoints() (addresses []byte) {
	for _, e := range d.endpoints {
		addresses = append(addresses, e.address)
	}
	return addresses
}

func (d *Device) endpoint(address byte) *endpoint {
	if address&^In == 0 {
		return &d.control
	}
	i := slices.IndexFunc(d.endpoints, func(e *endpoint) bool { return e.address == address })
	if i < 0 || !d.configured {
		return nil
	}
	return d.endpoints[i]
}
