package ni

import (
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
)

// Credit is a host's account of a link's transmit queue: what was sent by the link, and what SPACE says is freed. The driver's own is
// another one, so that neither hides a mistake of the other.
type Credit struct {
	SentBytes, FreedBytes     uint64 // freed: acknowledged by the peer, or lost
	SentPackets, FreedPackets uint64
	Refused                   int  // packets that the network interface has dropped for want of room, or behind LOST
	Stopped                   bool // one has been: all that follow will be, until LOST is cleared

	params   rtl.Params
	sizes    []int // of the packets sent and not freed, oldest first
	learning bool  // what SPACE says is where the account begins
}

// NewCredit is the account of a queue of which nothing was ever sent, or of one that is empty and of which SPACE tells.
func NewCredit(p rtl.Params, learning bool) Credit { return Credit{params: p, learning: learning} }

// HasRoom reports whether a packet of so many bytes may be sent.
func (c *Credit) HasRoom(size int) bool {
	return !c.Stopped && c.SentPackets-c.FreedPackets < linkproto.MaxWindow && c.Outstanding()+size <= c.params.ReplayBytes
}

// Outstanding is how many bytes have been sent and not freed.
func (c *Credit) Outstanding() int { return int(c.SentBytes - c.FreedBytes) }

// Sent takes note of a packet of n bytes.
func (c *Credit) Sent(n int) {
	c.learning = false
	c.sizes = append(c.sizes, n)
	c.SentBytes, c.SentPackets = c.SentBytes+uint64(n), c.SentPackets+1
}

// Unsent takes the last packet for not sent.
func (c *Credit) Unsent() error {
	last := len(c.sizes) - 1
	if last < 0 {
		return fmt.Errorf("no packet is underway that it could have been")
	}
	c.SentBytes, c.SentPackets, c.sizes = c.SentBytes-uint64(c.sizes[last]), c.SentPackets-1, c.sizes[:last]
	return nil
}

// Refuse takes note of a DONE with NO_SPACE. All packets behind one that is refused are refused too, so it does not matter which one it was.
func (c *Credit) Refuse(p linkproto.Packet) error {
	err := c.Unsent()
	if err == nil && p.Tag != linkproto.TagNone {
		err = fmt.Errorf("its tag is %#x, want %#x", p.Tag, linkproto.TagNone)
	}
	if err != nil {
		return fmt.Errorf("link %d refused a packet: %w", p.Via, err)
	}
	c.Refused++
	c.Stopped = true
	return nil
}

// Space takes note of a SPACE: it frees no more than was sent, and takes nothing back.
func (c *Credit) Space(p linkproto.Packet) error {
	if c.learning {
		c.SentBytes, c.FreedBytes, c.SentPackets, c.FreedPackets = uint64(p.Bytes), uint64(p.Bytes), uint64(p.Packets), uint64(p.Packets)
	}
	bytes, packets := c.FreedBytes+uint64(p.Bytes-uint16(c.FreedBytes)), c.FreedPackets+uint64(p.Packets-uint8(c.FreedPackets))
	if bytes > c.SentBytes || packets > c.SentPackets {
		return fmt.Errorf("SPACE of link %d says that %d packets of %d bytes are freed; %d of %d were sent, %d of %d had been freed", p.Via,
			p.Packets, p.Bytes, c.SentPackets, c.SentBytes, c.FreedPackets, c.FreedBytes)
	}
	c.sizes = c.sizes[packets-c.FreedPackets:]
	c.FreedBytes, c.FreedPackets = bytes, packets
	return nil
}
