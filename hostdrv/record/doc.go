// Package record writes down what goes over the host's cable, and reads it again.
//
// A Recorder puts itself between the driver and a transport (hostdrv.Options.Wrap) and writes every Exchange to a file: the symbols of
// both directions and the ticks that passed. Session.Packets says which packets the symbols brought, once each; package replay sends
// them to another target.
//
// # The file
//
// A file begins with the eight bytes "LMMCREC" and the version, 2. Records follow: a byte that says what it is, the length of the rest,
// the rest. Numbers are unsigned varints as in encoding/binary.
//
//	1 session   JSON of a Header. Sessions are numbered from 0 in the order of these records.
//	2 exchange  number of the session, ticks, length of what was sent, what was sent, what was received: both
//	            escape-stuffed as on a byte pipe (see package linkproto), so IDLEs are left out.
//	3 end       number of the session, and why it ended, "" for Close.
//	4 closed    nothing: the file is complete.
//
// Times without symbols are added to the next exchange.
package record
