// Package linkproto is the wire format that hosts and network interfaces share: 9-bit symbols, frames with their
// CRC, link state words, packets, the register map, and the escape stuffing that carries symbols over a byte stream.
//
// The tables of this package are the one source of that format. The Verilog header rtl/linkproto.vh, the tables of
// doc/protocol.md and the Wireshark dissector lmmc.lua are generated from them.
//
// Encoders append to a slice of the caller's and return it. Decoders keep no reference to their input beyond what
// their comment says, allocate nothing once set up, and answer any input with a value or an error, never a panic.
package linkproto

//go:generate go run ./internal/gen -root ..
