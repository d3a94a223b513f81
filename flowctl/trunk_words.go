package flowctl

import "github.com/stafflink/lmmc/linkproto"

// wordDue reports whether a word is to be sent over a lane. What has arrived is told over one lane, whichever can say it first.
func (t *Trunk) wordDue(l *lane) bool {
	if l.words.urgent || l.words.since >= t.sayAgain(l) {
		return true
	}
	untold := t.rx.expect - t.told
	return t.up && l.heard && untold > 0 && (!t.sending(l) || t.toldFor >= t.cfg.AckDelay || untold >= linkproto.LaneTold)
}

// sayAgain is how long after a word it is said again.
func (t *Trunk) sayAgain(l *lane) int {
	if !t.up || !l.open() || t.rx.lost {
		return min(t.cfg.AckDelay, t.cfg.WordTimer)
	}
	return t.cfg.WordTimer
}

// appendWord appends the word that says over a lane what is true now: INIT while its peer is not heard well there.
func (t *Trunk) appendWord(l *lane, number uint8, dst []linkproto.Symbol) []linkproto.Symbol {
	if t.up {
		l.words.init = !l.heard
	} else {
		l.words.init = t.anonymous() || !l.peer.Known || t.unfit(l) || !l.words.init
	}
	if l.words.init {
		page, _ := linkproto.PageOf(t.cfg.MaxPacket - t.cfg.routeExtra())
		return linkproto.AppendInit(dst, linkproto.Init{
			Stop: t.rx.stop, Version: linkproto.Version, Node: t.cfg.Node, Life: t.life(), Page: page, Routes: t.cfg.Routes,
			Lanes: uint8(len(t.lanes)), Lane: number,
		})
	}
	t.told, t.toldFor = t.rx.expect, 0
	w := linkproto.Word{Kind: linkproto.KindAck, Stop: t.rx.stop, Value: t.rx.expect}
	if t.rx.lost {
		w.Kind = linkproto.KindLost
	}
	return linkproto.AppendWord(dst, l.key, w)
}
