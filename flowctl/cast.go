package flowctl

import (
	"encoding/binary"
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// CastKind is what a CastWord is.
type CastKind uint8

const (
	CastData  CastKind = iota // of the sender: a packet goes with it, and Number is its own
	CastJoin                  // of the sender: a member is to take part, and may keep an acknowledgement for Number ticks
	CastState                 // of a member: Number is that of the packet that it takes next
	CastEnd                   // of either: it takes part no more; of a member, Number is as in CastState
	castKinds
)

// CastWord is what the sender of a reliable multicast and a member tell each other. It is absolute: said twice it does no harm.
type CastWord struct {
	Kind  CastKind
	Group uint16         // number of the multicast group
	Life  linkproto.Life // of the sender's stream of packets
	// Own, in all but CastData, is the life of the member's end: what it said last, in a CastJoin to it alone; 0: nothing yet.
	Own    linkproto.Life
	Number uint32

	Open, Lost, Stop bool // of a member: it takes packets; one is missing; none is to be sent
}

// Bytes of a CastWord of CastData, and of all others.
const (
	CastDataBytes = 11
	CastWordBytes = 15
)

// Append appends the word's bytes, numbers with the low byte first: kind (2 bits), Open, Lost, Stop; Group (2 bytes), Life (4), Number (4), Own (4, not of CastData).
func (w *CastWord) Append(dst []byte) []byte {
	dst = append(dst, byte(w.Kind)|byte(flag(w.Open))<<2|byte(flag(w.Lost))<<3|byte(flag(w.Stop))<<4)
	dst = binary.LittleEndian.AppendUint16(dst, w.Group)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(w.Life))
	dst = binary.LittleEndian.AppendUint32(dst, w.Number)
	if w.Kind != CastData {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(w.Own))
	}
	return dst
}

// DecodeCastWord decodes a word, and returns what stands behind it: the packet of a CastData, else nothing.
func DecodeCastWord(raw []byte) (w CastWord, packet []byte, ok bool) {
	if len(raw) < CastDataBytes || raw[0]>>5 != 0 {
		return w, nil, false
	}
	w = CastWord{
		Kind: CastKind(raw[0] & 3), Open: raw[0]>>2&1 != 0, Lost: raw[0]>>3&1 != 0, Stop: raw[0]>>4&1 != 0,
		Group: binary.LittleEndian.Uint16(raw[1:]), Life: linkproto.Life(binary.LittleEndian.Uint32(raw[3:])), Number: binary.LittleEndian.Uint32(raw[7:]),
	}
	if w.Kind != CastData {
		if len(raw) != CastWordBytes {
			return w, nil, false
		}
		w.Own = linkproto.Life(binary.LittleEndian.Uint32(raw[CastDataBytes:]))
		return w, nil, w.Life != 0
	}
	return w, raw[CastDataBytes:], w.Life != 0 && raw[0]>>2 == 0
}

// CastConfig is that of the two ends of a reliable multicast. A zero member means its default. Times are in ticks.
type CastConfig struct {
	Group uint16
	// NewLife makes the random number, not 0, that this end is called each time it starts.
	NewLife func() linkproto.Life

	// Of the sender only.
	Members     []uint16 // nodes that must acknowledge
	MaxPacket   int      // longest packet; 0: linkproto.MaxPacket of 1024
	Window      int      // packets held, sent or not, at most 127; 0: 32
	ReplayBytes int      // bytes held, at least MaxPacket; 0: Window longest packets
	// AckDelay is for how long members keep an acknowledgement. 0: CastAckDelay of them.
	AckDelay int
	Retry    int // time without progress after which packets are sent again. It doubles each time in a row, to eight times at most. 0: 32768
	Patience int // time after which a member that says nothing is given up; 0: 32 Retry

	Turn int // time in which a packet gets there and an answer back; 0: Retry / 8
}

// CastAckDelay is for how long so many members keep an acknowledgement unless told otherwise: 512 ticks, or 128 for each if that is more, since all come by one cable.
func CastAckDelay(members int) int { return max(linkproto.DefaultAckDelay, 128*members) }

func (c CastConfig) withDefaults() (CastConfig, error) {
	setDefault(&c.MaxPacket, linkproto.MaxPacket(1024))
	setDefault(&c.Window, 32)
	setDefault(&c.ReplayBytes, c.Window*c.MaxPacket)
	setDefault(&c.AckDelay, CastAckDelay(len(c.Members)))
	setDefault(&c.Retry, max(linkproto.DefaultVLRetry, 4*c.AckDelay))
	setDefault(&c.Patience, 32*c.Retry)
	setDefault(&c.Turn, c.Retry/8)
	if c.NewLife == nil {
		return c, fmt.Errorf("%w: NewLife is missing", ErrConfig)
	}
	return c, within([]bound{
		{"MaxPacket", c.MaxPacket, 1, 1 << 20},
		{"Window", c.Window, 1, linkproto.VLMaxWindow},
		{"ReplayBytes", c.ReplayBytes, c.MaxPacket, 1 << 30},
		{"AckDelay", c.AckDelay, 1, 1 << 24},
		{"Retry", c.Retry, c.AckDelay + 1, 1 << 28},
		{"Patience", c.Patience, c.Retry, 1 << 40},
		{"Turn", c.Turn, 1, c.Retry},
	})
}
