package linkproto

import "fmt"

// Reason says what was wrong with something received. It is an error, so that errors.Is finds it in what the
// decoders return; using it as one allocates nothing.
type Reason uint8

// What can be wrong with a frame, a link state word, a symbol outside both, and a packet.
const (
	ReasonNone        Reason = iota
	FrameCRC                 // the CRC is wrong
	FrameShort               // EOP before the shortest packet
	FrameLong                // more bytes than the longest packet
	FrameSymbol              // ERR or an unknown K symbol inside
	FrameStart               // SOP inside: the new frame starts
	WordCheck                // the check is wrong: damaged, or of another life
	WordReservedBits         // reserved bits are set
	WordVersion              // an INIT of another version of the protocol
	WordCut                  // a K symbol inside
	StrayData                // a data symbol outside a frame
	StrayEOP                 // EOP outside a frame
	StrayFrame               // a frame of which a part came while the link was not up
	PacketShort              // shorter than a packet's header
	PacketType               // unknown or reserved type
	PacketLengthField        // the length field disagrees with the frame
	PacketLength             // too short or too long for its type
	PacketField              // a field's value does not fit its width (encoders only)
	PacketCRC                // of a ROUTE
	numReasons
)

// reasons holds, for each reason, what it reads as and the counter that counts it.
var reasons = [numReasons]struct {
	text    string
	counter Counter
}{
	ReasonNone:        {"nothing wrong", NumCounters},
	FrameCRC:          {"frame: wrong CRC", CntRxCRC},
	FrameShort:        {"frame: shorter than the shortest packet", CntRxCRC},
	FrameLong:         {"frame: longer than the longest packet", CntRxCRC},
	FrameSymbol:       {"frame: undecodable symbol inside", CntRxCRC},
	FrameStart:        {"frame: another one starts inside", CntRxCRC},
	WordCheck:         {"link state word: wrong check or another life", CntBadWord},
	WordReservedBits:  {"link state word: reserved bits set", CntBadWord},
	WordVersion:       {"link state word: another version of the protocol", CntBadWord},
	WordCut:           {"link state word: cut off by a control symbol", CntBadWord},
	StrayData:         {"data symbol outside a frame", CntRxStray},
	StrayEOP:          {"end of frame outside a frame", CntRxStray},
	StrayFrame:        {"frame of which a part came while the link was not up", CntRxStray},
	PacketShort:       {"packet: shorter than its header", CntBadPacket},
	PacketType:        {"packet: unknown type", CntBadPacket},
	PacketLengthField: {"packet: length field disagrees with the frame", CntBadPacket},
	PacketLength:      {"packet: wrong length for its type", CntBadPacket},
	PacketField:       {"packet: value out of range", CntBadPacket},
	PacketCRC:         {"packet: wrong CRC of a routed packet", CntBadPacket},
}

// Error says the reason in words.
func (r Reason) Error() string {
	if r >= numReasons {
		return fmt.Sprintf("reason %d", uint8(r))
	}
	return reasons[r].text
}

// Counter returns the counter that counts things dropped for this reason, and false if none does.
func (r Reason) Counter() (Counter, bool) {
	if r == ReasonNone || r >= numReasons {
		return 0, false
	}
	return reasons[r].counter, true
}
