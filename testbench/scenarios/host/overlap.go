package host

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/stimulus"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Overlap is the scenario of words and frames in use by two.
var Overlap = []suite.Scenario{
	{Name: "overlap",
		Doc: "a host reads and writes words beside and while a peer writes them, amid damaged frames, and takes frames away in the middle of writes: " +
			"each word read is one that was written, and not older than one read before; a page stands still once it is taken away",
		Seeds: 1, Run: harness.WithPeers(rtl.Params{}, []int{1}, overlap)},
}

const (
	wordBytes = 4
	halfWords = 4 // that the peer writes, and behind them as many that the host does
	someReads = 1500
	takenAway = 30 // frames
)

func overlap(s *harness.Harness) {
	readWhileWritten(s)
	none, some := 0, 0
	for range takenAway {
		switch done, n := takeAway(s); {
		case done == 0:
			none++
		case done < n:
			some++
		}
	}
	if min(none, some) < takenAway/10 {
		try.Failf("the run tests too little: %d frames were taken away before they were written, %d in the middle of it", none, some)
	}
}

// watch is words that are written while they are read.
type watch struct {
	*harness.Harness
	base    int                 // address of the first
	written [halfWords][]uint32 // what the peer has written to each of its words, in order
	seen    [halfWords]int      // which of these the host has read last; of several that are the same to it the oldest
	own     []byte              // what the host has written
	open    int                 // requests
	reads   int
	changes int // words that had changed when they were read
}

func readWhileWritten(s *harness.Harness) {
	w := &watch{Harness: s, base: wordBytes * s.Rand.IntN(s.Params.PageBytes/wordBytes-2*halfWords+1)}
	words := s.Node.Image[w.base:][:2*halfWords*wordBytes]
	for i := range w.written {
		w.written[i] = []uint32{binary.LittleEndian.Uint32(words[i*wordBytes:])}
	}
	w.own = bytes.Clone(words[halfWords*wordBytes:])
	p := s.Peer(1)
	x := s.Insert(p)
	decoys := 0
	try.OK(s.Until(1_000_000, "reads of words that are written", func() bool {
		switch {
		case p.Link.Queued() == 0 && x.Idle() && s.Rand.Chance(0.3):
			x.Insert = w.decoy()
			decoys++
		case p.Link.Queued() < 3 && x.Idle():
			first, data := w.draw(halfWords)
			try.OK(p.Link.Send(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(w.base + first*wordBytes), Data: data})))
			for i := range len(data) / wordBytes {
				w.written[first+i] = append(w.written[first+i], binary.LittleEndian.Uint32(data[i*wordBytes:]))
			}
			s.Suite.Stats.Packets++
		}
		for w.open < 4 && w.ask() {
			w.open++
		}
		return w.reads >= someReads
	}))
	try.OK(s.Until(100_000, "the last writes", func() bool { return w.open == 0 && x.Idle() && p.Link.Queued() == 0 }), s.Run(2*s.Params.RxBytes))
	p.Mangle = nil
	for i, all := range w.written {
		binary.LittleEndian.PutUint32(words[i*wordBytes:], all[len(all)-1])
	}
	copy(words[halfWords*wordBytes:], w.own)
	s.FromPeer(1, 1) // else the link says LOST on, for the last decoy
	try.OK(s.Traffic.Check())
	if w.changes < someReads/4 || decoys < 20 {
		try.Failf("the run tests too little: %d words had changed when they were read, %d frames were not to count", w.changes, decoys)
	}
}

// draw is some of n words, and what is written to them.
func (w *watch) draw(n int) (first int, data []byte) {
	first = w.Rand.IntN(n)
	return first, w.Rand.Bytes(wordBytes * w.Rand.Between(1, n-first))
}

// decoy is a frame with a WRITE to the words which is damaged, or taken back.
func (w *watch) decoy() []linkproto.Symbol {
	state := w.State(1)
	first, data := w.draw(halfWords)
	frame := linkproto.AppendFrame(nil, state.Key, state.Next, stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(w.base + first*wordBytes), Data: data}))
	end := len(frame) - 1
	if w.Rand.Bool() {
		frame[end] = linkproto.SymAbort
	} else {
		frame[end-w.Rand.Between(1, linkproto.CRCBytes+len(data))] ^= 1 << w.Rand.IntN(8)
	}
	return frame
}

// ask sends a request to read or write some of the words, and reports whether there was room.
func (w *watch) ask() bool {
	p := linkproto.Packet{Type: linkproto.TypeBufRead}
	own := bytes.Clone(w.own)
	at := 0
	if w.Rand.Chance(0.3) {
		p.Type = linkproto.TypeBufWrite
		at, p.Data = w.draw(halfWords)
		at *= wordBytes
		copy(own[at:], p.Data)
		p.Addr = uint32(w.base + len(own) + at)
	} else {
		at = w.Rand.IntN(2*len(own) + 1)
		p.Addr, p.Count = uint32(w.base+at), uint16(w.Rand.IntN(2*len(own)-at+1))
	}
	err := w.Node.Host.Request(p, func(a linkproto.Packet) {
		w.open--
		if a.Status != linkproto.StatusOK || len(a.Data) != int(p.Count) {
			try.Failf("%v of %d bytes at %#x is answered %v with %d bytes", p.Type, p.Count, p.Addr, a.Status, len(a.Data))
		}
		if p.Type == linkproto.TypeBufRead {
			w.reads++
			w.look(at, a.Data, own)
		}
	})
	if errors.Is(err, ni.ErrBusy) {
		return false
	}
	try.OK(err)
	w.own = own
	return true
}

// look checks bytes that have been read from a place of the words on, when the host's were these.
func (w *watch) look(at int, data, own []byte) {
	for i := range w.written {
		from, to := max(at, i*wordBytes), min(at+len(data), (i+1)*wordBytes)
		if from >= to {
			continue
		}
		have := data[from-at : to-at]
		var word [wordBytes]byte
		for k := w.seen[i]; ; k++ {
			if k == len(w.written[i]) {
				try.Failf("bytes %d on of the word at %#x read as % x: the peer has written %08x to it since it was read as the first of these",
					from%wordBytes, w.base+i*wordBytes, have, w.written[i][w.seen[i]:])
			}
			binary.LittleEndian.PutUint32(word[:], w.written[i][k])
			if bytes.Equal(word[from-i*wordBytes:to-i*wordBytes], have) {
				w.changes += min(1, k-w.seen[i])
				w.seen[i] = k
				break
			}
		}
	}
	if from := max(at, len(own)); from < at+len(data) {
		if want := own[from-len(own) : at+len(data)-len(own)]; !bytes.Equal(data[from-at:], want) {
			try.Failf("% x is read at %#x, where the host has written % x", data[from-at:], w.base+from, want)
		}
	}
}
