package ni

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// Stream is a one-way flow of remote writes: the host of From.Node writes to whatever is at the other end of From.Link.
type Stream struct {
	From, To Socket
	Sent     int // packets
	Bytes    int // of data
	Denied   int // packets that the receiver must refuse
}

// Traffic is random remote writing over all cables of a fabric, both ways, with the image of every receive buffer kept beside it.
type Traffic struct {
	Streams []*Stream
	// Illegal is the share of writes that the receiver must refuse.
	Illegal float64
	// Gap is the share of looks at a port in which nothing is sent though there is room.
	Gap float64
	// Size, unless 0, is the size of all writes; otherwise sizes are random, corners preferred, up to MaxSize (0: a page).
	Size, MaxSize int

	f    *Fabric
	rng  *testbench.Rand
	data []byte
}

// NewTraffic gives every frame of every node to one of its links, in turn and the last one to none, and prepares a stream for each
// direction of each cable.
func NewTraffic(f *Fabric, seed uint64) (*Traffic, error) {
	t := &Traffic{f: f, rng: testbench.NewRand(seed).Split("traffic"), data: make([]byte, f.Params.PageBytes+1)}
	for i := range f.Nodes {
		if err := errors.Join(t.GrantFrames(i), f.FillBuffer(i, t.rng.Bytes(f.Params.BufferBytes()))); err != nil {
			return nil, err
		}
	}
	for _, w := range f.Wires {
		if w.Lane == 0 {
			t.Streams = append(t.Streams, &Stream{From: w.From, To: w.To})
		}
	}
	return t, nil
}

// owner is the link that may write a frame, 0 for none. With one frame it is link 1's.
func (t *Traffic) owner(frame int) int {
	if frame > 0 && frame == t.f.Params.Frames-1 {
		return 0
	}
	return 1 + frame%t.f.Params.Links
}

// GrantFrames writes a node's frame table.
func (t *Traffic) GrantFrames(node int) error {
	for frame := range t.f.Params.Frames {
		entry := uint32(0)
		if link := t.owner(frame); link != 0 {
			entry = 1<<31 | uint32(link)
		}
		if err := t.f.WriteRegister(node, linkproto.FrameReg(frame), entry); err != nil {
			return err
		}
	}
	return nil
}

// size is a write's size: often one of the corners.
func (t *Traffic) size() int {
	most := t.f.Params.PageBytes
	if t.MaxSize > 0 {
		most = t.MaxSize
	}
	switch t.rng.IntN(8) {
	case 0:
		return t.rng.IntN(2)
	case 1, 2:
		return 1 + t.rng.IntN(16)
	case 3:
		return most - t.rng.IntN(4)
	case 4:
		return t.rng.IntN(most + 1)
	default:
		return 1 + t.rng.IntN(min(most, 200))
	}
}

// write is a random write for a stream and whether its receiver must carry it out.
func (t *Traffic) write(s *Stream) (addr uint32, data []byte, legal bool) {
	p := t.f.Params
	n := t.Size
	if n == 0 {
		n = t.size()
	}
	data = t.data[:n]
	t.rng.Fill(data)
	offset := t.rng.IntN(p.PageBytes - max(n, 1) + 1)
	if t.rng.IntN(4) == 0 {
		offset = p.PageBytes - max(n, 1)
	}
	var mine []int
	for frame := range p.Frames {
		if t.owner(frame) == s.To.Link {
			mine = append(mine, frame)
		}
	}
	if t.rng.Float64() >= t.Illegal && len(mine) > 0 {
		return uint32(mine[t.rng.IntN(len(mine))]*p.PageBytes + offset), data, true
	}
	frame := t.rng.IntN(p.Frames)
	switch kind := t.rng.IntN(4); {
	case kind == 0 && n > 1: // across the page end
		return uint32(frame*p.PageBytes + p.PageBytes - 1 - t.rng.IntN(n-1)), data, false
	case kind == 1: // outside the receive buffer, close by
		return uint32(p.BufferBytes() + t.rng.IntN(p.PageBytes)), data, false
	case kind == 2: // and far away: an address whose low bits look good
		return uint32(frame*p.PageBytes+offset) | 1<<(24+t.rng.IntN(8)), data, false
	default:
		for f := range p.Frames {
			if t.owner(f) != s.To.Link {
				return uint32(f*p.PageBytes + offset), data, false
			}
		}
		return uint32(p.BufferBytes()), data, false
	}
}

// Offer lets every stream send what there is room for, at most budget packets each.
func (t *Traffic) Offer(budget int) error {
	for _, s := range t.Streams {
		host := t.f.Nodes[s.From.Node].Host
		if host.Credit(s.From.Link).Stopped {
			return fmt.Errorf("ni: node %d link %d has lost packets behind %d sent, and refuses all others", s.From.Node, s.From.Link, s.Sent)
		}
		for range budget {
			if t.rng.Float64() < t.Gap || !host.Credit(s.From.Link).HasRoom(t.f.Params.MaxPacket()) {
				break
			}
			addr, data, legal := t.write(s)
			switch err := host.Write(s.From.Link, addr, data); {
			case errors.Is(err, ErrBusy):
			case err != nil:
				return err
			default:
				s.Sent++
				s.Bytes += len(data)
				if legal {
					copy(t.f.Nodes[s.To.Node].Image[addr:], data)
				} else {
					s.Denied++
				}
			}
		}
	}
	return nil
}

// Send sends about packets writes on every stream.
func (t *Traffic) Send(packets int) error {
	goal := make([]int, len(t.Streams))
	for i, s := range t.Streams {
		goal[i] = s.Sent + packets
	}
	var failed error
	err := t.f.Until(packets*t.f.Params.MaxPacket()*16+t.f.Patience(), "the streams to send", func() bool {
		if failed = t.Offer(4); failed != nil {
			return true
		}
		for i, s := range t.Streams {
			if s.Sent < goal[i] {
				return false
			}
		}
		return true
	})
	return errors.Join(err, failed)
}

// Freed is how many bytes of packets have left the transmit queues of all streams.
func (t *Traffic) Freed() (bytes uint64) {
	for _, s := range t.Streams {
		bytes += t.f.Nodes[s.From.Node].Host.Credit(s.From.Link).FreedBytes
	}
	return bytes
}

// Settle runs until everything sent has been acknowledged and carried out.
func (t *Traffic) Settle() error {
	err := t.f.Until(t.f.Patience(), "all writes to be acknowledged", func() bool {
		for _, s := range t.Streams {
			if t.f.Nodes[s.From.Node].Host.Credit(s.From.Link).Outstanding() > 0 {
				return false
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	return t.f.RunClocks(2*t.f.Params.RxBytes + 1000) // what has been acknowledged may still be in a receive FIFO
}

// Check compares every byte of every receive buffer with its image.
func (t *Traffic) Check() error {
	for i, n := range t.f.Nodes {
		have, err := t.f.ReadBuffer(i)
		if err != nil {
			return err
		}
		if !bytes.Equal(have, n.Image) {
			return difference(i, have, n.Image, t.f.Params.PageBytes)
		}
	}
	return nil
}

func difference(node int, have, want []byte, page int) error {
	first, count := -1, 0
	for i := range have {
		if have[i] != want[i] {
			if first < 0 {
				first = i
			}
			count++
		}
	}
	from, to := max(first-4, 0), min(first+12, len(have))
	return fmt.Errorf("node %d: %d bytes of the receive buffer are wrong, the first at %#x (frame %d, offset %d)\n  from %#x have % x\n  %*s want % x",
		node, count, first, first/page, first%page, from, have[from:to], len(fmt.Sprintf("from %#x", from)), "", want[from:to])
}

// CheckCounters compares the counters with what was sent: every packet delivered once, every illegal one refused, none lost. With
// clean set, nothing else may have happened on the links either.
func (t *Traffic) CheckCounters(clean bool) error {
	for _, s := range t.Streams {
		received := map[linkproto.Counter]int{linkproto.CntRxPackets: s.Sent, linkproto.CntDenied: s.Denied, linkproto.CntBadPacket: 0}
		if clean {
			for _, c := range []linkproto.Counter{linkproto.CntRxCRC, linkproto.CntRxDup, linkproto.CntRxGap, linkproto.CntRxOverrun,
				linkproto.CntReplays, linkproto.CntRetries, linkproto.CntRestarts} {
				received[c] = 0
			}
		}
		sent := map[linkproto.Counter]int{linkproto.CntTxPackets: s.Sent, linkproto.CntLostPackets: 0, linkproto.CntNoSpace: 0}
		if err := errors.Join(t.f.CheckCounters(s.From, sent), t.f.CheckCounters(s.To, received)); err != nil {
			return fmt.Errorf("node %d link %d to node %d link %d: %w", s.From.Node, s.From.Link, s.To.Node, s.To.Link, err)
		}
	}
	return nil
}
