package flowctl

import "github.com/stafflink/lmmc/linkproto"

// wordClock decides when a link state word is due and sends it.
type wordClock struct {
	urgent   bool               // a word is due at once
	progress bool               // frames have arrived that no word has acknowledged
	held     int                // ticks since the first of them, at most hold; -1 until the Tick for the time in which it came
	joined   bool               // something was sent since then, which the word goes with
	hold     int                // longest that a word waits for that
	since    int                // ticks since the last word, at most WordTimer
	symbols  []linkproto.Symbol // of the word in progress
	left     int                // of them, still to be sent
	init     bool               // the last word was an INIT
}

func (w *wordClock) sending() bool { return w.left > 0 }

// start begins a word. What it says is fixed from here on; a change makes another word urgent.
func (w *wordClock) start(word []linkproto.Symbol) {
	w.symbols, w.left = word, len(word)
	w.urgent, w.progress, w.since = false, false, 0
}

// insert sends a word that is not the link's own, and changes nothing about when those are due.
func (w *wordClock) insert(word []linkproto.Symbol) { w.symbols, w.left = word, len(word) }

// arrived says that there is something to acknowledge.
func (w *wordClock) arrived() {
	if !w.progress {
		w.progress, w.held, w.joined = true, -1, false
	}
}

func (w *wordClock) tick(n, most int) {
	w.since = min(w.since+n, most)
	if w.held < 0 {
		n = 1
	}
	w.held = min(w.held+n, w.hold)
}

// holding is for how many more ticks an acknowledgement waits for something to go with.
func (w *wordClock) holding() int {
	if w.joined {
		return 0
	}
	return w.hold - max(w.held, 0)
}

func (w *wordClock) emit(dst []linkproto.Symbol) int {
	n := copy(dst, w.symbols[len(w.symbols)-w.left:])
	w.left -= n
	return n
}

func (e *Endpoint) wordDue() bool {
	w := &e.words
	switch {
	case w.urgent || w.since >= e.sayAgain():
		return true
	case e.sending():
		return w.progress && w.since >= e.ackDelay
	}
	return w.progress && w.holding() == 0
}

// sayAgain is how long after a word it is said again. What the peer has to answer, INIT and LOST, must not get lost for long.
func (e *Endpoint) sayAgain() int {
	if !e.up || e.rx.lost {
		return min(e.cfg.AckDelay, e.cfg.WordTimer)
	}
	return e.cfg.WordTimer
}

// appendWord appends the word that says what is true now. A peer that is known is told so, in turn with who this end is.
func (e *Endpoint) appendWord(dst []linkproto.Symbol) []linkproto.Symbol {
	known := e.peer.Known && !e.refused() && !e.anonymous()
	e.words.init = !e.up && !(known && e.words.init)
	if e.words.init {
		page, _ := linkproto.PageOf(e.cfg.MaxPacket - e.cfg.routeExtra())
		return linkproto.AppendInit(dst, linkproto.Init{
			Stop: e.stop(), Version: linkproto.Version, Node: e.cfg.Node, Life: e.life(), Page: page, Routes: e.cfg.Routes, Lanes: 1,
		})
	}
	w := linkproto.Word{Kind: linkproto.KindAck, Stop: e.stop(), Value: e.rx.expect}
	if e.rx.lost {
		w.Kind = linkproto.KindLost
	}
	return linkproto.AppendWord(dst, e.tx.key, w)
}
