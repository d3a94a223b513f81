package link_test

import (
	"encoding/binary"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

type params = moduletest.Params

// packet returns a good packet of n bytes, whose content follows from its serial number; from 5 bytes on it tells the number.
func packet(serial, n int) []byte {
	p := []byte{byte(linkproto.TypeWrite), byte(n - linkproto.HeaderBytes), byte((n - linkproto.HeaderBytes) >> 8)}
	p = binary.LittleEndian.AppendUint16(p, uint16(serial))
	for len(p) < n {
		p = append(p, byte(serial*31+len(p)*(serial>>3|1)))
	}
	return p[:n]
}

// eventsSeen adds up the pulses of link_endpoint's port events.
type eventsSeen [linkproto.NumCounters]int

func (e *eventsSeen) add(events uint16) {
	for i := range e {
		e[i] += int(events >> i & 1)
	}
}
