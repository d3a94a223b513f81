package stimulus

import (
	"encoding/binary"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// Rule is a way to violate the link protocol: a row of the table Rules.
type Rule struct {
	Name string
	Line []Part                    // what goes over the line; it begins and ends outside frames and words
	Want map[linkproto.Counter]int // by how much counters of the receiver go up; all others stay
}

// Rest is as many as there are symbols behind what is wrong.
const Rest = -1

// Range is from the first number to the second, both included.
type Range [2]int

// Part is a frame, words or symbols, and what is wrong with them, with ranges for what is random.
type Part struct {
	Frame Payload // "": no frame
	Ahead Range   // of the sequence number that is expected
	Taken bool    // in sequence

	Epoch, Nonce Range // bits of a life that are wrong: as Word.Other, or Frame.Other

	Kinds       []linkproto.Kind // of a word, one of them; none: no word
	Times       int              // words; 0: one
	Reserved    Range
	Value       Range
	Page, Lanes Range          // of an INIT; the page more than the receiver's
	Kind        linkproto.Kind // bits of it that the cable inverts

	Symbols []linkproto.Symbol
	Noise   Range // so many data symbols, with EOPs among them

	Flips  Range              // so many symbols have other bits
	Cut    int                // so many symbols of the end are missing, or more; 0: none
	Put    []linkproto.Symbol // one of these is in the midst
	Inside bool               // a good word is in the midst
}

// Rules is the table of violations. Those that deliver a frame take the sequence on, so they are for an end that keeps count of that.
var Rules = []Rule{
	{"damaged frame", []Part{{Frame: Harmless, Flips: Range{1, 3}}}, want{linkproto.CntRxCRC: 1}},
	{"frame cut short", []Part{{Frame: Harmless, Cut: 2}, eop}, want{linkproto.CntRxCRC: 1}},
	{"frame too short", []Part{{Frame: NoHeader}}, want{linkproto.CntRxCRC: 1}},
	{"frame too long", []Part{{Frame: TooLong}}, want{linkproto.CntRxCRC: 1, linkproto.CntRxStray: Rest}},
	{"undecodable symbol in a frame", []Part{{Frame: Harmless, Put: []linkproto.Symbol{linkproto.SymErr, k23}}}, want{linkproto.CntRxCRC: 1, linkproto.CntRxStray: Rest}},
	{"frame in a frame", []Part{{Frame: Harmless, Cut: 1}, {Frame: Harmless, Ahead: Range{-1, -1}}}, want{linkproto.CntRxCRC: 1, linkproto.CntRxDup: 1}},
	{"frame ahead", []Part{{Frame: Harmless, Ahead: Range{1, 127}}}, want{linkproto.CntRxGap: 1}},
	{"frame again", []Part{{Frame: Harmless, Ahead: Range{-128, -1}}}, want{linkproto.CntRxDup: 1}},
	{"data outside a frame", []Part{{Noise: Range{1, 30}}}, want{linkproto.CntRxStray: Rest}},
	{"EOP outside a frame", []Part{eop}, want{linkproto.CntRxStray: 1}},
	{"undecodable symbols", []Part{{Symbols: []linkproto.Symbol{linkproto.SymErr, 0x1FF, 0x100}}}, nil},
	{"damaged word", []Part{{Kinds: ack, Flips: Range{1, 1}}}, badWord},
	{"reserved bits in a word", []Part{{Kinds: ack, Reserved: Range{1, 31}}}, badWord},
	{"BARRIER", []Part{{Kinds: []linkproto.Kind{linkproto.KindBarrier}, Reserved: Range{0, 31}, Value: Range{0, 255}}}, badWord},
	{"word cut off", []Part{{Kinds: ack, Cut: 1}, eop}, want{linkproto.CntBadWord: 1, linkproto.CntRxStray: 1}},
	{"word cut off by a word", []Part{{Kinds: ack, Cut: 1}, {Kinds: ack}}, badWord},
	{"word cut off by an INIT", []Part{{Kinds: ack, Cut: 1}, {Kinds: initial}}, badWord},
	{"word for another epoch", []Part{{Kinds: either, Epoch: Range{1, 255}}}, badWord},
	{"word for another end", []Part{{Kinds: either, Nonce: anyEnd}}, badWord},
	{"word for another life", []Part{{Kinds: either, Epoch: Range{1, 255}, Nonce: anyEnd}}, badWord},
	{"frame for another epoch", []Part{{Frame: Harmless, Epoch: Range{1, 255}}}, want{linkproto.CntRxCRC: 1}},
	{"frame for another end", []Part{{Frame: Harmless, Nonce: anyEnd}}, want{linkproto.CntRxCRC: 1}},
	{"number that was never sent", []Part{{Kinds: either, Value: Range{1, 255}}}, badWord},
	{"INIT again", []Part{{Kinds: initial}}, nil},
	{"INIT again, of a smaller page", []Part{{Kinds: initial, Page: Range{-6, -1}}}, nil},
	{"INIT again, of more lanes", []Part{{Kinds: initial, Lanes: Range{1, 7}}}, nil},
	{"INIT of another version", []Part{{Kinds: initial, Value: Range{1, 255}}}, badWord},
	{"INIT with reserved bits", []Part{{Kinds: initial, Reserved: Range{1, 31}}}, badWord},
	{"INIT with reserved bits of lanes", []Part{{Kinds: initial, Lanes: Range{1 << 6, 0xFF}}}, badWord},
	{"damaged INIT", []Part{{Kinds: initial, Flips: Range{1, 1}}}, badWord},
	{"damaged INIT of another life", []Part{{Kinds: initial, Nonce: anyEnd, Flips: Range{1, 1}}}, badWord},
	{"INIT cut off", []Part{{Kinds: initial, Cut: 1}, eop}, want{linkproto.CntBadWord: 1, linkproto.CntRxStray: 1}},
	{"INIT that looks like an ACK", []Part{{Kinds: initial, Kind: linkproto.KindInit}}, want{linkproto.CntBadWord: 1, linkproto.CntRxStray: linkproto.InitSymbols - linkproto.WordSymbols}},
	{"ACK that looks like an INIT", []Part{{Kinds: ack, Kind: linkproto.KindInit}, eop}, want{linkproto.CntBadWord: 1, linkproto.CntRxStray: 1}},
	{"frame taken back", []Part{{Frame: Harmless, Cut: 1}, abort}, nil},
	{"frame of any number taken back", []Part{{Frame: Harmless, Ahead: Range{-128, 127}, Cut: 1}, abort}, nil},
	{"damaged frame taken back", []Part{{Frame: Harmless, Flips: Range{1, 3}, Cut: 1}, abort}, nil},
	{"frame with via taken back", []Part{{Frame: WithVia, Cut: 1}, abort}, nil},
	{"frame taken back with a word inside", []Part{{Frame: Harmless, Cut: 1}, {Kinds: ack}, abort}, nil},
	{"frame taken back in a word", []Part{{Frame: Harmless, Cut: 1}, {Kinds: ack, Cut: 1}, abort}, badWord},
	{"frame taken back behind an undecodable symbol",
		[]Part{{Frame: Harmless, Cut: 2}, {Symbols: []linkproto.Symbol{linkproto.SymErr, 5, 6, linkproto.SymAbort}}},
		want{linkproto.CntRxCRC: 1, linkproto.CntRxStray: 2}},
	{"frame that goes on when taken back",
		[]Part{{Frame: Harmless, Cut: 2}, {Symbols: []linkproto.Symbol{linkproto.SymAbort, 5, linkproto.SymEOP}}},
		want{linkproto.CntRxStray: 2}},
	{"ABORT outside a frame", []Part{abort}, nil},
	{"word cut off by ABORT", []Part{{Kinds: ack, Cut: 1}, abort}, badWord},
	{"INIT cut off by ABORT", []Part{{Kinds: initial, Cut: 1}, abort}, badWord},
}

// AtHost is a host's port's only.
var AtHost = []Rule{
	{"INIT of an end that has a nonce", []Part{{Kinds: initial, Epoch: Range{0, 255}, Nonce: anyEnd}}, badWord},
}

// Delivering are violations with a frame that is delivered, or taken for delivered.
var Delivering = []Rule{
	{"a legal write", []Part{legal}, delivered},
	{"legal frame in a frame", []Part{{Frame: Harmless, Cut: 1}, legal}, want{linkproto.CntRxCRC: 1, linkproto.CntRxPackets: 1}},
	{"legal frame behind one taken back", []Part{{Frame: Harmless, Cut: 1}, abort, legal}, delivered},
	{"word cut off by a frame", []Part{{Kinds: ack, Cut: 1}, legal}, want{linkproto.CntBadWord: 1, linkproto.CntRxPackets: 1}},
	{"word in a frame", []Part{{Frame: Legal, Taken: true, Inside: true}}, delivered},
	{"packet of a wrong type", []Part{{Frame: WrongType, Taken: true}}, badPacket},
	{"packet with via", []Part{{Frame: WithVia, Taken: true}}, badPacket},
	{"write without a whole address", []Part{{Frame: NoAddress, Taken: true}}, badPacket},
	{"packet with a wrong length", []Part{{Frame: WrongLength, Taken: true}}, want{linkproto.CntBadPacket: 1}},
	{"write across a page's end", []Part{{Frame: AcrossPages, Taken: true}}, denied(1)},
	{"write to a frame of nobody", []Part{{Frame: Nobodys, Taken: true}}, denied(1)},
	{"write outside the buffer", []Part{{Frame: CloseBy, Taken: true}, {Frame: FarAway, Taken: true}, {Frame: VeryFar, Taken: true}}, denied(3)},
}

// Restarting are violations that have the link of a network interface start again. None names the epoch that the peer itself takes next: the
// network interface could not tell the peer from the rogue.
var Restarting = []Rule{
	{"INIT of another epoch", []Part{{Kinds: initial, Epoch: otherEpoch}}, want{linkproto.CntRestarts: 1}},
	{"INIT of another end", []Part{{Kinds: initial, Nonce: anyEnd}}, want{linkproto.CntRestarts: 1}},
	{"INIT of another life", []Part{{Kinds: initial, Epoch: otherEpoch, Nonce: anyEnd}}, want{linkproto.CntRestarts: 1}},
	{"INIT of a smaller page", []Part{{Kinds: initial, Nonce: anyEnd, Times: 2, Page: Range{-6, -1}}}, want{linkproto.CntRestarts: 1}},
	{"INIT of more lanes", []Part{{Kinds: initial, Nonce: anyEnd, Times: 2, Lanes: Range{1, 7}}}, want{linkproto.CntRestarts: 1}},
	{"INIT storm of one end", []Part{{Kinds: initial, Times: 40, Epoch: otherEpoch}}, want{linkproto.CntRestarts: 1}},
	{"INIT storm", []Part{{Kinds: initial, Times: 40, Epoch: otherEpoch, Nonce: anyEnd}}, want{linkproto.CntRestarts: 1}},
}

// otherEpoch are differences of no two epochs that follow each other.
var otherEpoch, anyEnd = Range{16, 30}, Range{1, 1<<linkproto.LifeEpochShift - 1}

type want = map[linkproto.Counter]int

const k23 linkproto.Symbol = 0x1F7 // K23.7, which the protocol does not use

var (
	ack       = []linkproto.Kind{linkproto.KindAck}
	initial   = []linkproto.Kind{linkproto.KindInit}
	either    = []linkproto.Kind{linkproto.KindAck, linkproto.KindLost}
	eop       = Part{Symbols: []linkproto.Symbol{linkproto.SymEOP}}
	abort     = Part{Symbols: []linkproto.Symbol{linkproto.SymAbort}}
	legal     = Part{Frame: Legal, Taken: true}
	badWord   = want{linkproto.CntBadWord: 1}
	delivered = want{linkproto.CntRxPackets: 1}
	badPacket = want{linkproto.CntRxPackets: 1, linkproto.CntBadPacket: 1}
)

func denied(n int) want { return want{linkproto.CntRxPackets: n, linkproto.CntDenied: n} }

// Payload is a kind of content of a frame.
type Payload string

const (
	Harmless    Payload = "harmless"     // a write that would be carried out if its frame were accepted
	Legal       Payload = "legal"        // a write that must be
	NoHeader    Payload = "no header"    // too short for one
	TooLong     Payload = "too long"     // longer than MAX_PACKET
	WrongType   Payload = "wrong type"   // harmless but for its type
	WithVia     Payload = "with via"     // or its via
	WrongLength Payload = "wrong length" // or its length field
	NoAddress   Payload = "no address"
	AcrossPages Payload = "across pages"
	Nobodys     Payload = "nobody's" // to the last frame
	CloseBy     Payload = "close by" // just behind the buffer
	FarAway     Payload = "far away" // with the upper bits cut off it would be legal
	VeryFar     Payload = "very far"
)

func (p Payload) draw(rng *testbench.Rand, at Site) []byte {
	page, end := at.Params.PageBytes, at.Params.BufferBytes()
	write := func(addr int, data []byte) []byte {
		return Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(addr), Data: data})
	}
	data := rng.Bytes(rng.Between(1, min(60, page-4)))
	low := rng.IntN(page - len(data))
	raw := write(low, data)
	switch p {
	case Harmless:
	case Legal:
		return slices.Clone(at.Legal())
	case NoHeader:
		return make([]byte, rng.IntN(linkproto.MinPacket))
	case TooLong:
		raw = append(raw, make([]byte, at.Params.MaxPacket()+rng.Between(1, 20)-len(raw))...)
		binary.LittleEndian.PutUint16(raw[1:], uint16(len(raw)-linkproto.HeaderBytes))
	case WrongType:
		raw[0] = byte(testbench.Pick(rng, 0, linkproto.TypeMessage, linkproto.TypeBufWrite, linkproto.TypeRegWrite, linkproto.TypeResume, linkproto.TypeSpace,
			linkproto.TypeTrap, 0x1F))
	case WithVia:
		raw[0] |= byte(rng.Between(1, linkproto.MaxVia)) << linkproto.TypeBits
	case WrongLength:
		raw[rng.Between(1, 2)] ^= 1 << rng.IntN(8)
	case NoAddress:
		return RawPacket(linkproto.TypeWrite, 0, make([]byte, rng.IntN(4)))
	case AcrossPages:
		n := rng.Between(2, 61)
		return write(rng.Between(1, at.Params.Frames)*page-rng.Between(1, n-1), make([]byte, n))
	case Nobodys:
		return write(end-rng.Between(1, page), make([]byte, rng.IntN(2)))
	case CloseBy:
		return write(end+rng.IntN(5), rng.Bytes(3))
	case FarAway:
		return write(low|1<<rng.Between(12, 25), rng.Bytes(3))
	case VeryFar:
		return write(low|1<<rng.Between(26, 31), rng.Bytes(3))
	}
	return raw
}
