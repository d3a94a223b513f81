package flowctl

import "github.com/stafflink/lmmc/linkproto"

// life is what this end is called at present.
func (e *Endpoint) life() linkproto.Life { return linkproto.LifeOf(e.cfg.Nonce, e.cfg.Port, e.epoch) }

// refused reports whether the peer cannot take what this end may have to send.
func (e *Endpoint) refused() bool {
	return e.peer.Known && (e.peer.MaxPacket < e.cfg.PeerPacket || e.peer.Lanes != 1)
}

// longest is the longest packet that may be sent to a peer, by an end that takes packets of up to own bytes.
func (p Peer) longest(own int) int {
	if p.Known {
		return min(own, p.MaxPacket)
	}
	return own
}

// init handles an INIT whose check is right. One of another life than that known ends what was, and the next one says who it is.
func (e *Endpoint) init(w linkproto.Init) {
	switch {
	case e.cfg.Port == 0 && !w.Life.HostLife():
		e.badWord()
		return
	case e.peer.Known && w.Life != e.peer.Life:
		if e.up {
			e.restart()
		}
		e.peer = Peer{}
	case !e.peer.Known:
		e.peer = Peer{Known: true, Node: w.Node, Life: w.Life, MaxPacket: w.MaxPacket(), Lanes: int(w.Lanes)}
		e.tx.key = linkproto.KeyOf(w.Life, e.life())
		e.deframer.SetKey(e.tx.key.Back())
	}
	e.words.urgent, e.foreign, e.unread = true, false, 0
	e.peerStop = w.Stop
}

// Foreign reports whether words of another version of the protocol have come since the last INIT of this one.
func (e *Endpoint) Foreign() bool { return e.foreign }

// sealed notes a word that is no INIT.
func (e *Endpoint) sealed() {
	if !e.peer.Known {
		e.unread++
	}
}

// Unread is how many words have come, sealed for some life, since the peer is unknown or this end took another life.
func (e *Endpoint) Unread() int { return e.unread }

// badWord counts a word that is damaged or of another life. Until the link is up, words of former lives are nothing unusual.
func (e *Endpoint) badWord() {
	if e.up {
		e.count(linkproto.CntBadWord)
	}
}

// word handles a word whose check is right, with the key of the last peer known: the peer knows this end.
func (e *Endpoint) word(w linkproto.Word) {
	if w.Kind == linkproto.KindBarrier {
		switch {
		case !e.cfg.Barriers:
			e.badWord()
		case e.up:
			e.in = append(e.in, w)
		}
		return
	}
	if !e.peer.Known || e.refused() || e.anonymous() {
		return
	}
	if !e.up {
		e.comeUp()
	}
	e.silent = 0
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
	e.silent = 0
	e.deframer.DropFrame()
}

// Restart ends the session, as when the peer started again: the link comes up with a new epoch, even if the peer noticed nothing.
func (e *Endpoint) Restart() { e.restart() }

// SetNode says which node this end's is, from its next INIT on.
func (e *Endpoint) SetNode(node uint16) { e.cfg.Node = node }

// SetNonce says what nonce this end's node has chosen. If the link is up it starts again.
func (e *Endpoint) SetNonce(nonce uint32) {
	e.cfg.Nonce = nonce
	if e.up {
		e.restart()
		return
	}
	e.peer = Peer{}
	e.words.urgent = true
}

// Renew takes another life while the link is down: an end that hears no INIT may have to do with one that holds it for somebody else.
func (e *Endpoint) Renew() {
	if !e.up {
		e.epoch, e.peer, e.unread = linkproto.NextEpoch(e.epoch), Peer{}, 0
		e.words.urgent = true
	}
}

// restart ends the session, the peer being unknown from here on: every packet not acknowledged is given up and reported. The peer's STOP or GO
// holds until its next word.
func (e *Endpoint) restart() {
	e.up, e.peer, e.unread = false, Peer{}, 0
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
	e.out = nil
	e.deframer.DropFrame()
	e.count(linkproto.CntRestarts)
}

// retry is for when no acknowledgement has come for long: it goes back to the base if all was sent, or gives the session up if it came to
// that too often.
func (e *Endpoint) retry() {
	e.waited = 0
	e.count(linkproto.CntRetries)
	switch e.retries++; {
	case e.retries >= e.cfg.RetryLimit:
		e.restart()
	case !e.tx.ready():
		e.tx.rewind()
		e.count(linkproto.CntReplays)
	}
}
