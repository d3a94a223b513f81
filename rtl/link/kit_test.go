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

// frameKey is what frames of the tests of receiver and sender are sealed with.
const frameKey = linkproto.Key(0x3A5CF017)

// framed returns a frame with that key.
func framed(seq int, payload []byte) []linkproto.Symbol {
	return linkproto.AppendFrame(nil, frameKey, uint8(seq), payload)
}

// frames returns a deframer of frames with that key.
func frames() *linkproto.Deframer {
	d := linkproto.NewDeframer(maxPacket)
	d.SetKey(frameKey)
	return d
}

// eventsSeen adds up the pulses of link_endpoint's port events.
type eventsSeen [linkproto.NumCounters]int

func (e *eventsSeen) add(events uint16) {
	for i := range e {
		e[i] += int(events >> i & 1)
	}
}
