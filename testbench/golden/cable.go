package golden

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// cable is what lies between an end in Go and the network interface: it may be cut, forge packets, slip symbols in, and damage what
// passes.
type cable struct {
	port   *ni.Port
	cut    bool
	mute   bool          // cut from the network interface only
	silent bool          // cut towards it only
	frames frames        // what becomes of those from the network interface
	words  ni.WordReader // from the network interface

	// Frames to be forged, by sequence number, and where in the stream towards the network interface we are.
	forged  [1 << (8 * linkproto.SeqBytes)]forgery
	frame   forgery
	inFrame bool
	pos     int // data symbols of the frame
	word    int // symbols left of a word
	kind    linkproto.Kind
	wants   uint8 // next sequence number that the end in Go expects, as it last said

	insert   []linkproto.Symbol // to be slipped in between words and frames
	aborts   *testbench.Rand    // decides on frames to be slipped in and taken back; nil: none
	repeats  *testbench.Rand    // decides on words to be slipped in; nil: none
	mayStop  bool               // now and then with STOP
	spoils   *testbench.Rand    // decides on frames to be damaged, both ways; nil: none
	spoilt   bool               // the frame towards the network interface is
	saidStop bool               // the last word slipped in said STOP
	behind   uint8              // sequence number behind that of the last frame

	toNI, fromNI *noise // nil: no damage
	queue        queue

	sent     int // packets ever queued
	first    int // how many before the present session, whose first packet has sequence number 0
	end      *flowctl.Endpoint
	restarts uint32
	renewed  int  // round in which the link last started again
	missing  bool // an end said LOST when the round began: it may go on to, until the next frame is there
}

// look is how many symbols pass from one look at a cable to the next.
const look = 32

// frames says what becomes of frames from the network interface, while words pass.
type frames uint8

const (
	whole   frames = iota
	damaged        // the peer says LOST, again and again
	missing        // nothing of them comes
)

// forgery is a packet on its way, and what the cable changes in its length field and its CRC, whatever key that was made with.
type forgery struct {
	size   int
	length uint16
	crc    uint32
}

func newForgery(size, add int) forgery {
	length := size - linkproto.HeaderBytes
	f := forgery{size: size, length: uint16(length ^ (length + add))}
	change := make([]byte, size)
	same := linkproto.FrameCRC32C(0, 0, change)
	binary.LittleEndian.PutUint16(change[1:], f.length)
	f.crc = same ^ linkproto.FrameCRC32C(0, 0, change)
	return f
}

func newCable(port *ni.Port) *cable {
	c := &cable{port: port}
	port.Mangle, port.Swallow = c.mangle, c.swallow
	c.session(-2)
	return c
}

// session learns, at rest and before anything is sent in it, whether the link has started again since it was last asked, and in which round.
func (c *cable) session(round int) {
	link := c.port.Link
	restarts := link.Counter(linkproto.CntRestarts)
	if c.end != link || c.restarts != restarts {
		c.end, c.restarts = link, restarts
		c.first, c.renewed = c.sent, round
	}
}

// between is for when the end in Go is another one, which has begun no word and no frame.
func (c *cable) between() { c.inFrame, c.word = false, 0 }

// next is the sequence number of the next packet that is queued.
func (c *cable) next() uint8 { return uint8(c.sent - c.first) }

// state is what a rogue end in the place of this one would know.
func (c *cable) state() *stimulus.State {
	s := c.port.Link.Status()
	end := c.port.Link.Config()
	life := linkproto.LifeOf(end.Nonce, end.Port, s.Epoch)
	return &stimulus.State{Next: c.next(), Expected: c.wants, Life: life, Key: linkproto.KeyOf(s.Peer.Life, life)}
}

// send queues a packet at the end in Go; it reports false if that must wait.
func (c *cable) send(raw []byte) (bool, error) {
	c.port.Link.Lost()
	if err := c.port.Link.Send(raw); errors.Is(err, flowctl.ErrFull) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("% x: %w", raw, err)
	}
	c.forged[c.next()] = forgery{}
	c.sent++
	return true, nil
}

// sendForged queues a packet whose length field the cable will change.
func (c *cable) sendForged(raw []byte, add int) (bool, error) {
	seq := c.next()
	ok, err := c.send(raw)
	if ok {
		c.forged[seq] = newForgery(len(raw), add)
	}
	return ok, err
}

// damage returns what comes of a line that noise may hit.
func (c *cable) damage(line []linkproto.Symbol, n *noise) []linkproto.Symbol {
	switch {
	case c.cut:
		return nil
	case n == nil:
		return line
	}
	return n.pass(line)
}

func (c *cable) mangle(line []linkproto.Symbol) []linkproto.Symbol {
	for i, s := range line {
		line[i] = c.forge(s)
	}
	if len(c.insert) > 0 && !c.inFrame && c.word == 0 {
		line = append(line, c.insert...)
		c.insert = nil
	}
	if c.aborts != nil && !c.inFrame && c.word == 0 {
		line = c.takeBack(line)
	}
	if c.repeats != nil && !c.inFrame && c.word == 0 {
		line = c.repeat(line)
	}
	if c.silent {
		return nil
	}
	return c.queue.pass(c.damage(line, c.toNI))
}

// takeBack slips in the beginning of a frame, and ABORT, now and then when the end in Go has nothing more to say.
func (c *cable) takeBack(line []linkproto.Symbol) []linkproto.Symbol {
	end := c.port.Link
	if end.IdleFor() == 0 || end.Status().PeerStop || !c.aborts.Chance(0.05/float64(c.port.SymbolClocks)) {
		return line
	}
	via := 0
	if end.Config().Port == 0 {
		via = c.aborts.IntN(linkproto.MaxVia + 1)
	}
	addr := []byte{byte(c.aborts.Uint32()), 0, 0, 0}
	write := stimulus.RawPacket(linkproto.TypeWrite, via, append(addr, c.aborts.Bytes(20)...))
	frame := linkproto.AppendFrame(nil, c.state().Key, c.behind, write)
	most := len(frame) - 1
	if c.toNI != nil {
		most-- // the frame must not be good if a wrong bit makes EOP of ABORT
	}
	return append(append(line, frame[:c.aborts.Between(1, most)]...), linkproto.SymAbort)
}

// repeat slips in what the end in Go has said last, now and then with STOP, which the next takes back.
func (c *cable) repeat(line []linkproto.Symbol) []linkproto.Symbol {
	s := c.port.Link.Status()
	if !s.Up || c.kind == linkproto.KindInit || !c.saidStop && (!c.queue.waits || !c.repeats.Chance(0.1)) {
		return line
	}
	c.saidStop = !c.saidStop && c.mayStop && c.repeats.Bool()
	return linkproto.AppendWord(line, c.state().Key, linkproto.Word{Kind: c.kind, Stop: s.OwnStop || c.saidStop, Value: c.wants})
}

// spoil decides whether a frame that begins is to be damaged.
func (c *cable) spoil() bool { return c.spoils != nil && c.queue.waits && c.spoils.Chance(0.25) }

func (c *cable) swallow(line []linkproto.Symbol) []linkproto.Symbol {
	if c.mute {
		return nil
	}
	kept := line[:0]
	for _, s := range line {
		word := s == linkproto.SymLSW || c.words.Inside && s.IsData()
		s = c.words.Pass(s)
		if s == linkproto.SymSOP && c.spoils != nil {
			c.frames = whole
			if c.spoil() {
				c.frames = damaged
			}
		}
		if !word && c.frames == missing {
			continue
		}
		if !word && c.frames == damaged && s.IsData() {
			s ^= 1
		}
		kept = append(kept, s)
	}
	return c.damage(kept, c.fromNI)
}

// forge passes a symbol on, changed if it belongs to the length field or the CRC of a packet that is to be forged.
func (c *cable) forge(s linkproto.Symbol) linkproto.Symbol {
	switch {
	case s == linkproto.SymLSW:
		c.word = linkproto.InitSymbols - 1
		return s
	case c.word > 0:
		switch c.word--; c.word {
		case linkproto.InitSymbols - 2:
			if c.kind = linkproto.Kind(s >> linkproto.WordKindShift); c.kind != linkproto.KindInit {
				c.word -= linkproto.InitSymbols - linkproto.WordSymbols
			}
		case linkproto.WordSymbols - 3:
			if c.kind != linkproto.KindInit {
				c.wants = uint8(s)
			}
		}
		return s
	case s == linkproto.SymSOP:
		c.inFrame, c.pos, c.spoilt = true, 0, c.spoil()
		return s
	case !s.IsData():
		c.inFrame = false
		return s
	case !c.inFrame:
		return s
	}
	at := c.pos - linkproto.SeqBytes // in the packet
	if c.pos++; c.spoilt {
		return s ^ 1
	}
	if at < 0 {
		c.frame, c.behind = c.forged[uint8(s)], uint8(s)+1
		return s
	}
	if tail := at - c.frame.size; tail >= 0 {
		return s ^ linkproto.Data(byte(c.frame.crc>>(8*tail)))
	}
	if at == 1 || at == 2 {
		s ^= linkproto.Data(byte(c.frame.length >> (8 * (at - 1))))
	}
	return s
}
