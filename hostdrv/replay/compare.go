package replay

import (
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// differs says how the answers to a request differ, "" if they agree. unsure: bytes differ that a remote write was changing.
func (j *judge) differs(s *step, have *linkproto.Packet) (what string, unsure bool) {
	want := &s.answer.packet
	switch {
	case want.Type != have.Type:
		return fmt.Sprintf("the answer was %v, and is %v", want.Type, have.Type), false
	case want.Tag != have.Tag:
		return fmt.Sprintf("the tag of the answer was %d, and is %d", want.Tag, have.Tag), false
	}
	switch want.Type {
	case linkproto.TypeDone:
		if want.Status != have.Status {
			return fmt.Sprintf("the status of the answer was %v, and is %v", want.Status, have.Status), false
		}
	case linkproto.TypeRegData:
		switch {
		case want.Reg != have.Reg:
			return fmt.Sprintf("the answer was about register %v, and is about %v", want.Reg, have.Reg), false
		case !sameValue(want.Reg, want.Value, have.Value):
			return fmt.Sprintf("register %s was %#x, and is %#x", want.Reg, want.Value, have.Value), false
		}
	case linkproto.TypeBufData:
		switch {
		case want.Addr != have.Addr:
			return fmt.Sprintf("the answer was about address %#x, and is about %#x", want.Addr, have.Addr), false
		case len(want.Data) != len(have.Data):
			return fmt.Sprintf("the answer had %d bytes, and has %d", len(want.Data), len(have.Data)), false
		}
		for i := range want.Data {
			addr, w, h := want.Addr+uint32(i), want.Data[i], have.Data[i]
			if w == h {
				j.races.agreed(addr, w)
			} else {
				if !j.races.excuse(addr, w, h) {
					return fmt.Sprintf("byte %#x of the receive buffer was %#02x, and is %#02x", addr, w, h), unsure
				}
				unsure = true
			}
		}
	}
	return "", unsure
}

// sameValue compares the values of a register as far as they can be compared.
func sameValue(r linkproto.Reg, want, have uint32) bool {
	row := r.Info()
	if row == nil {
		return want == have
	}
	switch row.Reg {
	case linkproto.RegHashLo, linkproto.RegHashHi, linkproto.RegFeatures, linkproto.RegRxBytes, linkproto.RegLinkStatus, linkproto.RegCounters,
		linkproto.RegTrace, linkproto.RegTraceRing, linkproto.RegInject:
		return true
	case linkproto.RegReplayBytes, linkproto.RegWindow:
		return have >= want
	}
	return want == have
}
