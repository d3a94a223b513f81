package engine

import (
	"fmt"
	"strconv"

	"github.com/stafflink/lmmc/linkproto"
)

// Identity describes an NI; it is read from its first registers.
type Identity struct {
	Magic       uint32 `json:"magic"`
	Version     uint32 `json:"version"`
	Hash        uint64 `json:"hash"` // of the RTL it was built from
	Links       int    `json:"links"`
	Frames      int    `json:"frames"`
	PageBytes   int    `json:"page_bytes"`
	ReplayBytes int    `json:"replay_bytes"` // of each link's transmit queue
	RxBytes     int    `json:"rx_bytes"`
	Window      int    `json:"window"` // packets of each link's transmit queue
	Features    uint32 `json:"features"`
}

// MaxPacket is the longest packet of the NI, in bytes.
func (id Identity) MaxPacket() int { return linkproto.MaxPacket(id.PageBytes) }

// BufferBytes is the size of the receive buffer.
func (id Identity) BufferBytes() int { return id.Frames * id.PageBytes }

// Has reports whether the NI has a feature, such as linkproto.FeaturePaging.
func (id Identity) Has(feature linkproto.Bits) bool { return feature.Of(id.Features) != 0 }

// IdentityRegs are the registers read for an Identity, in order.
var IdentityRegs = [...]linkproto.Reg{
	linkproto.RegMagic, linkproto.RegVersion, linkproto.RegHashLo, linkproto.RegHashHi, linkproto.RegLinks, linkproto.RegFrames,
	linkproto.RegPageBytes, linkproto.RegReplayBytes, linkproto.RegRxBytes, linkproto.RegWindow, linkproto.RegFeatures,
}

func NewIdentity(v [len(IdentityRegs)]uint32) Identity {
	clamp := func(v uint32) int { return int(min(v, 1<<31-1)) }
	return Identity{
		Magic: v[0], Version: v[1], Hash: uint64(v[3])<<32 | uint64(v[2]), Links: clamp(v[4]), Frames: clamp(v[5]),
		PageBytes: clamp(v[6]), ReplayBytes: clamp(v[7]), RxBytes: clamp(v[8]), Window: clamp(v[9]), Features: v[10],
	}
}

// maxFrames is how many frames the register map has room for.
const maxFrames = 1<<16 - int(linkproto.RegFrameTable)

// check compares the identity with what this package can drive and, unless 0, the hash of the sources wanted.
func (id Identity) Check(hash uint64) error {
	var wrong []Mismatch
	hex := func(name string, have, want uint64) {
		if have != want {
			wrong = append(wrong, Mismatch{name, fmt.Sprintf("%#x", have), fmt.Sprintf("%#x", want)})
		}
	}
	within := func(name string, have, low, high int) {
		if have < low || have > high {
			wrong = append(wrong, Mismatch{name, strconv.Itoa(have), fmt.Sprintf("%d to %d", low, high)})
		}
	}
	hex("MAGIC", uint64(id.Magic), linkproto.Magic)
	hex("VERSION", uint64(id.Version), linkproto.Version)
	if len(wrong) > 0 { // the other registers mean something else
		return &IdentityError{Mismatches: wrong}
	}
	if hash != 0 {
		hex("HASH", id.Hash, hash)
	}
	within("LINKS", id.Links, 1, linkproto.MaxLinks-1)
	within("FRAMES", id.Frames, 1, maxFrames)
	within("PAGE_BYTES", id.PageBytes, linkproto.MinPageBytes, linkproto.MaxPageBytes)
	if id.PageBytes&(id.PageBytes-1) != 0 {
		wrong = append(wrong, Mismatch{"PAGE_BYTES", strconv.Itoa(id.PageBytes), "a power of two"})
	}
	within("REPLAY_BYTES", id.ReplayBytes, id.MaxPacket(), 1<<16)
	within("WINDOW", id.Window, 1, linkproto.MaxWindow)
	if len(wrong) > 0 {
		return &IdentityError{Mismatches: wrong}
	}
	return nil
}

// same is an error if the identity is not the one of before.
func (id Identity) same(before Identity) error {
	e := &IdentityError{Replaced: true}
	for _, f := range []struct {
		name, format string
		have, want   any
	}{
		{"MAGIC", "%#x", id.Magic, before.Magic},
		{"VERSION", "%#x", id.Version, before.Version},
		{"HASH", "%#x", id.Hash, before.Hash},
		{"LINKS", "%d", id.Links, before.Links},
		{"FRAMES", "%d", id.Frames, before.Frames},
		{"PAGE_BYTES", "%d", id.PageBytes, before.PageBytes},
		{"REPLAY_BYTES", "%d", id.ReplayBytes, before.ReplayBytes},
		{"RX_BYTES", "%d", id.RxBytes, before.RxBytes},
		{"WINDOW", "%d", id.Window, before.Window},
		{"FEATURES", "%#x", id.Features, before.Features},
	} {
		if f.have != f.want {
			e.Mismatches = append(e.Mismatches, Mismatch{f.name, fmt.Sprintf(f.format, f.have), fmt.Sprintf(f.format, f.want)})
		}
	}
	if len(e.Mismatches) == 0 {
		return nil
	}
	return e
}
