package linkproto

import "fmt"

// Kind says what a link state word means.
type Kind uint8

// The kinds of link state words. Value 3 is reserved: a word that carries it is dropped.
const (
	KindAck  Kind = 0
	KindLost Kind = 1
	KindInit Kind = 2
)

// KindInfo is a row of Kinds.
type KindInfo struct {
	Kind  Kind
	Name  string // as in Verilog: LP_KIND_<Name>
	Value string // what the word's second byte is
	Doc   string
}

// Kinds lists the kinds of link state words. Not to be modified.
var Kinds = [...]KindInfo{
	{KindAck, "ACK", "next expected sequence number", "every frame before this number has arrived; nothing is known to be missing"},
	{KindLost, "LOST", "next expected sequence number", "as ACK, and something after it was damaged or is missing: go back to this number"},
	{KindInit, "INIT", "the sender's own epoch", "the sender is starting (again) and does not take frames yet"},
}

// String returns the kind's name in the tables.
func (k Kind) String() string {
	for i := range Kinds {
		if Kinds[i].Kind == k {
			return Kinds[i].Name
		}
	}
	return fmt.Sprintf("KIND(%d)", uint8(k))
}

// Layout of the first byte of a link state word.
const (
	WordKindShift = 6 // bits 7:6
	WordStopBit   = 5
	WordReserved  = 0x1F // bits 4:0, zero
)

// WordSymbols is the length of a link state word: LSW, three bytes, two check bytes.
const WordSymbols = 6
