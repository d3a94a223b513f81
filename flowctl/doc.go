// Package flowctl is the link layer: frames that arrive once and in order over a channel that loses and damages
// symbols, a receiver that is never overrun, and an INIT handshake that makes a restarted peer visible.
//
// An Endpoint is one end of a link, as a pure state machine. It starts no goroutine, reads no clock and does no I/O:
// the caller feeds it the symbols that arrived, takes the symbols to send, and tells it how much time has passed. It
// is not safe for concurrent use. The rules it follows are in doc/protocol.md; rtl/link follows the same ones.
package flowctl
