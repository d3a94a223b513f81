package usbdev

import (
	"encoding/binary"
	"slices"
)

// Setup is the setup packet of a control transfer.
type Setup struct {
	Type, Request        byte
	Value, Index, Length uint16
}

// ParseSetup decodes a setup packet from the bus.
func ParseSetup(b [8]byte) Setup {
	le := binary.LittleEndian
	return Setup{b[0], b[1], le.Uint16(b[2:]), le.Uint16(b[4:]), le.Uint16(b[6:])}
}

// Bytes encodes it for the bus.
func (s Setup) Bytes() (b [8]byte) {
	le := binary.LittleEndian
	b[0], b[1] = s.Type, s.Request
	le.PutUint16(b[2:], s.Value)
	le.PutUint16(b[4:], s.Index)
	le.PutUint16(b[6:], s.Length)
	return b
}

// Parts of Setup.Type.
const (
	kindMask      = 0x60
	recipientMask = 0x1F
	toDevice      = 0
	toInterface   = 1
	toEndpoint    = 2

	// Vendor is the type of vendor-specific requests.
	Vendor = 0x40
)

// Standard requests.
const (
	getStatus        = 0
	clearFeature     = 1
	setFeature       = 3
	setAddress       = 5
	getDescriptor    = 6
	getConfiguration = 8
	setConfiguration = 9
	getInterface     = 10
	setInterface     = 11
)

// Features.
const (
	endpointHalt = 0
	remoteWakeup = 1
)

// request carries out a control transfer.
func (d *Device) request(t *Transfer) Status {
	s := t.Setup
	toHost := s.Type&In != 0
	var answer []byte
	ok := toHost || len(t.Data) == int(s.Length) // the data stage is as long as the setup has said
	if ok && s.Type&kindMask == 0 {
		answer, ok = d.standard(s)
	} else if ok {
		answer, ok = d.function.Control(s, t.Data)
		for _, e := range d.endpoints { // a request may have made room
			d.serve(e)
		}
	}
	if !ok {
		return Stalled
	}
	if toHost {
		t.Data = slices.Clone(answer[:min(len(answer), int(s.Length), t.Room)])
	}
	t.Actual = len(t.Data)
	return OK
}

// standard answers the requests of USB 2.0, 9.4.
func (d *Device) standard(s Setup) (answer []byte, ok bool) {
	type key struct{ request, recipient byte }
	switch (key{s.Request, s.Type & recipientMask}) {
	case key{getDescriptor, toDevice}:
		answer = d.descriptors.get(byte(s.Value>>8), byte(s.Value))
		return answer, answer != nil
	case key{setAddress, toDevice}:
		return nil, s.Value < 128
	case key{getConfiguration, toDevice}:
		if d.configured {
			return []byte{d.descriptors.Config[5]}, true
		}
		return []byte{0}, true
	case key{setConfiguration, toDevice}:
		return nil, d.configure(byte(s.Value))
	case key{getInterface, toInterface}:
		return []byte{0}, d.hasInterface(s.Index)
	case key{setInterface, toInterface}:
		ok = d.hasInterface(s.Index) && s.Value == 0
		for _, e := range d.endpoints {
			if ok && e.owner == byte(s.Index) {
				e.halted = false
			}
		}
		return nil, ok
	case key{getStatus, toDevice}:
		return []byte{d.descriptors.Config[7]>>6&1 | flag(d.remoteWakeup)<<1, 0}, true
	case key{getStatus, toInterface}:
		return []byte{0, 0}, d.hasInterface(s.Index)
	case key{getStatus, toEndpoint}:
		e := d.endpoint(byte(s.Index))
		if e == nil {
			return nil, false
		}
		return []byte{flag(e.halted), 0}, true
	case key{setFeature, toDevice}, key{clearFeature, toDevice}:
		if s.Value != remoteWakeup || d.descriptors.Config[7]&0x20 == 0 {
			return nil, false
		}
		d.remoteWakeup = s.Request == setFeature
		return nil, true
	case key{setFeature, toEndpoint}, key{clearFeature, toEndpoint}:
		e := d.endpoint(byte(s.Index))
		if e == nil || s.Value != endpointHalt {
			return nil, false
		}
		if e != &d.control { // which the next request unhalts
			e.halted = s.Request == setFeature
			d.serve(e)
		}
		return nil, true
	}
	return nil, false
}

// configure is SET_CONFIGURATION.
func (d *Device) configure(value byte) bool {
	if value != 0 && value != d.descriptors.Config[5] {
		return false
	}
	d.configured = value != 0
	for _, e := range d.endpoints {
		e.halted = false
		if !d.configured {
			d.drop(e, Absent)
			e.back = nil
		}
	}
	return true
}

func (d *Device) hasInterface(index uint16) bool {
	return d.configured && index < uint16(d.descriptors.Config[4])
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}
