package linkproto

import "fmt"

// Symbol is one 9-bit link symbol: bit 8 is the K flag, bits 7:0 the byte. Bits above are always zero on a link.
type Symbol uint16

// SymbolK is the K flag of a Symbol.
const SymbolK Symbol = 0x100

// The K symbols of the link, named by their use.
const (
	SymIdle  Symbol = 0x1BC // K28.5
	SymSOP   Symbol = 0x11C // K28.0
	SymEOP   Symbol = 0x17C // K28.3
	SymAbort Symbol = 0x15C // K28.2
	SymLSW   Symbol = 0x19C // K28.4
	SymErr   Symbol = 0x1FE // K30.7
)

// Data makes the data symbol of a byte.
func Data(b byte) Symbol { return Symbol(b) }

// IsData reports whether s carries a data byte.
func (s Symbol) IsData() bool { return s < SymbolK }

// String names a K symbol and writes a data symbol as two hexadecimal digits.
func (s Symbol) String() string {
	if s.IsData() {
		return fmt.Sprintf("%02X", uint16(s))
	}
	for i := range Symbols {
		if Symbols[i].Symbol == s {
			return Symbols[i].Name
		}
	}
	return fmt.Sprintf("K(%03X)", uint16(s))
}

// SymbolInfo is a row of Symbols.
type SymbolInfo struct {
	Symbol Symbol
	Name   string // as in Verilog: LP_SYM_<Name>
	Code   string // the 8b/10b name
	Doc    string
}

// Symbols lists the K symbols that have a meaning. Every other K symbol is handled as ERR. Not to be modified.
var Symbols = [...]SymbolInfo{
	{SymIdle, "IDLE", "K28.5", "comma and filler; may stand between any two symbols and is ignored everywhere"},
	{SymSOP, "SOP", "K28.0", "start of a frame"},
	{SymEOP, "EOP", "K28.3", "end of a frame"},
	{SymAbort, "ABORT", "K28.2", "end of a frame that its sender takes back: it counts as if it had never begun"},
	{SymLSW, "LSW", "K28.4", "start of a link state word; may stand between any two symbols, also inside a frame"},
	{SymErr, "ERR", "K30.7", "stands in for a symbol that a PHY could not decode; never sent"},
}
