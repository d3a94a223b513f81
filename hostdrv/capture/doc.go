// Package capture writes what goes over the host's cable, and what a trace buffer has recorded, as pcapng for Wireshark and its kin, which
// take it apart with linkproto's dissector (linkproto.Dissector).
//
// A capture has an interface for each cable, of link type USER0: each record is a direction byte and a frame, with the link state words
// inside it, or a link state word; what is neither stands in records of its own. A record's time is that of its last symbol. Ports of a
// trace buffer are interfaces too, of link type USER1: each record is the two words of TRACE_RING, little-endian.
//
// The format is that of draft-ietf-opsawg-pcapng.
package capture
