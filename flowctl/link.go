package flowctl

import "github.com/stafflink/lmmc/linkproto"

// word handles a link state word whose check is right.
func (e *Endpoint) word(w linkproto.Word) {
	switch {
	case w.Kind == linkproto.KindInit && w.Value == linkproto.EpochNone:
		e.count(linkproto.CntBadWord)
	case w.Kind == linkproto.KindInit && e.up:
		e.initWhileUp(w)
	case w.Kind == linkproto.KindInit:
		e.initWhileDown(w)
	case w.Echo != e.epoch || e.peer == linkproto.EpochNone:
		e.count(linkproto.CntBadWord)
	default:
		e.progress(w)
	}
}

// initWhileDown learns the peer's epoch; the link is up once the peer knows ours too.
func (e *Endpoint) initWhileDown(w linkproto.Word) {
	if e.peer != w.Value {
		e.peer, e.words.urgent = w.Value, true
	}
	if w.Echo == e.epoch {
		e.comeUp()
	}
	e.peerStop = w.Stop
}

// initWhileUp answers a peer that does not know yet that the link is up, and starts again with any other.
func (e *Endpoint) initWhileUp(w linkproto.Word) {
	if w.Value == e.peer && w.Echo == e.epoch {
		e.words.urgent = true
	} else {
		e.restart(w.Value)
	}
	e.peerStop = w.Stop
}

// progress handles ACK and LOST of the present session.
func (e *Endpoint) progress(w linkproto.Word) {
	if !e.up {
		e.comeUp()
	}
	e.peerStop = w.Stop // even if the number is impossible: else a STOP could not be taken back
	packets, ok := e.tx.acknowledge(w.Value)
	if !ok {
		e.count(linkproto.CntBadWord)
		return
	}
	if packets > 0 {
		e.counters[linkproto.CntTxPackets] += uint32(packets)
		e.waited, e.retries = 0, 0
	}
	if w.Kind == linkproto.KindLost && e.tx.lost() {
		e.count(linkproto.CntReplays)
	}
}

// comeUp begins a session. What is left of a frame that began before it does not count.
func (e *Endpoint) comeUp() {
	e.up, e.words.urgent = true, true
	e.deframer.DropFrame()
}

// Restart ends the session, as when the peer started again: the link comes up with a new epoch, even if the peer noticed nothing.
func (e *Endpoint) Restart() { e.restart(linkproto.EpochNone) }

// restart ends the session: every packet not acknowledged is given up and reported. The peer's new epoch may be
// unknown. The peer's STOP or GO holds until its next word.
func (e *Endpoint) restart(peer uint8) {
	e.up, e.peer = false, peer
	e.epoch = linkproto.NextEpoch(e.epoch)
	e.waited, e.retries = 0, 0
	e.words.urgent, e.words.progress = true, false
	first := e.tx.accepted - uint64(e.tx.count)
	if n := e.tx.reset(); n > 0 {
		// Send refuses packets until a loss has been asked for, so there cannot be an older one to keep.
		e.loss = Loss{first, uint64(n)}
		e.counters[linkproto.CntLostPackets] += uint32(n)
	}
	e.rx.reset()
	e.deframer.DropFrame()
	e.count(linkproto.CntRestarts)
}

// retry goes back to the base because no acknowledgement came, or gives the session up.
func (e *Endpoint) retry() {
	e.waited = 0
	e.count(linkproto.CntRetries)
	if e.retries++; e.retries >= e.cfg.RetryLimit {
		e.restart(linkproto.EpochNone)
		return
	}
	e.tx.rewind()
	e.count(linkproto.CntReplays)
}
