// Package replay sends what a host sent in a recorded session to another target, and compares what the two network interfaces (NIs)
// said.
//
// The link layer and time are not part of it: a replay has a link of its own to its target, packets go there once, in the recorded order.
// Each is sent when the target has said what the recorded NI had said before, and after the recorded pause, cut to what an NI needs
// to become quiet; so what settled in the recording before the host asked has settled in the replay too.
//
// # What is compared
//
//   - Answers, in order: type, tag, status, register, address, value, data. Of values, those of the registers HASH, FEATURES, RX_BYTES,
//     LINK_STATUS, COUNTERS, TRACE, TRACE_RING and INJECT are not: they differ between targets or depend on time. REPLAY_BYTES and WINDOW
//     may be larger than recorded.
//   - Bytes of the receive buffer, except that a remote write of the host which had not been carried out for certain when they were read
//     may have changed them in one of the two and not in the other. It is for certain once the peer's acknowledgement has been reported (SPACE),
//     no trap waits, and a time has passed in which an NI writes it.
//   - Traps, in the order of each link, and refusals of packets that are no requests.
//   - That all is told that was told: each NOTIFY must be covered by those of the target for that frame, and SPACE must come to as much for each
//     link. How these are merged depends on time and is not compared.
//
// ROUTEs are sent, and those that come are not compared: of virtual links that the driver carries out all that they do is in what it asks the NI. So such a session
// can be replayed, and one with VIRTUALs, of an NI that carries them out, cannot (ErrVirtual).
//
// What a session's end cuts off is not missed. A recording knows nothing of what came into the recorded NI from other NIs: but for ROUTEs, only one whose links
// were cabled among themselves, as those of the targets model: and rtl: are, can be replayed.
package replay
