package ni

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/verilator"
)

// Errors of Host that mean: run the simulation and try again.
var (
	ErrNoCredit = errors.New("ni: the link's transmit queue has no room for a packet")
	ErrBusy     = errors.New("ni: the host port takes no packet now")
)

// Host is the host of one network interface: it sends requests and matches the answers, and keeps account of the room in the
// links' transmit queues so that it never sends what would be dropped.
type Host struct {
	*Port
	Params rtl.Params

	// Received is called with every packet that answers no request; nil drops them. The packet is valid during the call.
	Received func(linkproto.Packet)

	queues  []queue // by link - 1
	waiting map[uint8]func(linkproto.Packet)
	tag     uint8
	packet  []byte
	err     error
}

// queue is the host's account of a link's transmit queue. Sent and freed counts wrap as those in SPACE do.
type queue struct {
	sentBytes, freedBytes     uint16
	sentPackets, freedPackets uint8
	total                     uint64 // bytes freed
	learning                  bool   // what SPACE says is where the account begins
	sizes                     []int  // of the packets sent and not freed, oldest first
	refused                   int    // packets refused
	lost                      bool   // one has been: all that follow will be, until Admit
}

// NewHost attaches a host to the symbol ports rx and tx of a network interface's host port.
func NewHost(m *verilator.Model, rx, tx string, p rtl.Params, epoch uint8) (*Host, error) {
	p = p.WithDefaults()
	port, err := NewPort(m, rx, tx, hostConfig(p, epoch))
	if err != nil {
		return nil, err
	}
	return newHost(port, p), nil
}

func hostConfig(p rtl.Params, epoch uint8) flowctl.Config {
	return flowctl.Config{MaxPacket: p.MaxPacket(), Epoch: epoch, ReplayBytes: 16 * p.MaxPacket()}
}

func newHost(port *Port, p rtl.Params) *Host {
	return &Host{Port: port, Params: p, queues: make([]queue, p.Links), waiting: map[uint8]func(linkproto.Packet){}}
}

// Restart replaces the host by one that has just begun: a new endpoint, and Forget.
func (h *Host) Restart(epoch uint8) error {
	c := h.Link.Config()
	c.Epoch = epoch
	if err := h.Port.Restart(c); err != nil {
		return err
	}
	h.Forget()
	return nil
}

// Forget drops all account: no request is waited for, and what the links' queues have freed is learnt from SPACE, or is nothing if the network
// interface was reset. A link's queue must be empty when the first packet is sent to it. Answers to old requests may still come:
// Received gets them.
func (h *Host) Forget() {
	h.waiting = map[uint8]func(linkproto.Packet){}
	for i := range h.queues {
		h.queues[i] = queue{learning: true}
	}
}

// Err is the first thing the network interface did that it must not do.
func (h *Host) Err() error { return h.err }

// Outstanding is how many bytes of packets for a link have been sent and not yet been reported as freed.
func (h *Host) Outstanding(link int) int {
	q := &h.queues[link-1]
	return int(q.sentBytes - q.freedBytes)
}

// Freed is how many bytes of packets the link's transmit queue has freed: acknowledged by the peer, or lost.
func (h *Host) Freed(link int) uint64 { return h.queues[link-1].total }

// Refused is how many packets for a link the network interface has refused.
func (h *Host) Refused(link int) int { return h.queues[link-1].refused }

// Admit is for when a link's LOST has been cleared: packets may be sent again.
func (h *Host) Admit(link int) { h.queues[link-1].lost = false }

// HasCredit reports whether a packet may be sent to a link.
func (h *Host) HasCredit(link int) bool {
	q := &h.queues[link-1]
	return !q.lost && int(q.sentBytes-q.freedBytes) <= h.Params.ReplayBytes-h.Params.MaxPacket() && q.sentPackets-q.freedPackets < linkproto.MaxWindow
}

// Forward sends a packet to the far end of a link. It returns ErrNoCredit or ErrBusy when that must wait.
func (h *Host) Forward(p linkproto.Packet) error {
	if int(p.Via) < 1 || int(p.Via) > len(h.queues) {
		return fmt.Errorf("ni: no link %d, there are %d", p.Via, len(h.queues))
	}
	if !h.HasCredit(int(p.Via)) {
		return ErrNoCredit
	}
	return h.Push(p)
}

// Push sends a packet to the far end of a link, whether or not it has credit: for tests of what must be refused.
func (h *Host) Push(p linkproto.Packet) error {
	n, err := h.send(p)
	if err != nil {
		return err
	}
	q := &h.queues[p.Via-1]
	q.learning = false
	q.sizes = append(q.sizes, n)
	q.sentBytes += uint16(n)
	q.sentPackets++
	return nil
}

// Write sends a remote write to the receive buffer at the far end of a link.
func (h *Host) Write(link int, addr uint32, data []byte) error {
	return h.Forward(linkproto.Packet{Type: linkproto.TypeWrite, Via: uint8(link), Addr: addr, Data: data})
}

// Request sends a request to the network interface; done is called with its answer (REG_DATA, BUF_DATA or DONE), whose Data is valid
// during the call. The tag is chosen here.
func (h *Host) Request(p linkproto.Packet, done func(linkproto.Packet)) error {
	if len(h.waiting) >= linkproto.TagNone {
		return ErrBusy
	}
	for h.waiting[h.tag] != nil || h.tag == linkproto.TagNone {
		h.tag++
	}
	p.Tag = h.tag
	if _, err := h.send(p); err != nil {
		return err
	}
	h.waiting[p.Tag] = done
	h.tag++
	return nil
}

// SendRaw sends a packet's bytes as they are, without account: for tests of what must be refused.
func (h *Host) SendRaw(packet []byte) error {
	if err := h.Link.Send(packet); errors.Is(err, flowctl.ErrFull) {
		return ErrBusy
	} else if err != nil {
		return err
	}
	return nil
}

func (h *Host) send(p linkproto.Packet) (int, error) {
	packet, err := p.Append(h.packet[:0])
	if err != nil {
		return 0, err
	}
	h.packet = packet
	return len(packet), h.SendRaw(packet)
}

// Turn runs a model that is in no Fabric for n clocks and serves its hosts.
func Turn(m Runner, n int, hosts ...*Host) error {
	var ports []*Port
	for _, h := range hosts {
		ports = append(ports, h.Port)
	}
	if err := Exchange(m, n, ports...); err != nil {
		return err
	}
	for _, h := range hosts {
		h.poll()
		if err := h.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Runner is what Turn runs: a verilator.Model, or something around one.
type Runner interface{ Run(cycles uint64) error }

// poll handles what has arrived.
func (h *Host) poll() {
	for {
		raw, ok := h.Link.Receive()
		if !ok {
			return
		}
		var p linkproto.Packet
		if err := p.Decode(raw); err != nil {
			h.fail("it sent % x: %w", raw, err)
			continue
		}
		switch p.Type {
		case linkproto.TypeSpace:
			h.space(p)
		case linkproto.TypeRegData, linkproto.TypeBufData, linkproto.TypeDone:
			if p.Status == linkproto.StatusNoSpace {
				h.refuse(p)
				continue
			}
			done := h.waiting[p.Tag]
			delete(h.waiting, p.Tag)
			switch {
			case done != nil:
				done(p)
			case h.Received != nil:
				h.Received(p)
			default:
				h.fail("it answered %v with tag %d and status %v, which nobody asked for", p.Type, p.Tag, p.Status)
			}
		default:
			if h.Received != nil {
				h.Received(p)
			}
		}
	}
}

func (h *Host) space(p linkproto.Packet) {
	if int(p.Via) < 1 || int(p.Via) > len(h.queues) {
		h.fail("it reported space of link %d, there are %d", p.Via, len(h.queues))
		return
	}
	q := &h.queues[p.Via-1]
	if q.learning {
		q.sentBytes, q.freedBytes, q.sentPackets, q.freedPackets = p.Bytes, p.Bytes, p.Packets, p.Packets
	}
	q.sizes = q.sizes[min(len(q.sizes), int(p.Packets-q.freedPackets)):]
	freed := uint16(p.Bytes) - q.freedBytes
	if freed > q.sentBytes-q.freedBytes {
		h.fail("link %d freed %d bytes of %d", p.Via, freed, q.sentBytes-q.freedBytes)
	}
	q.total += uint64(freed)
	q.freedBytes, q.freedPackets = uint16(p.Bytes), uint8(p.Packets)
}

// refuse takes the last packet sent to a link for not sent: all that follow one that is refused are refused too.
func (h *Host) refuse(p linkproto.Packet) {
	if int(p.Via) < 1 || int(p.Via) > len(h.queues) || p.Tag != linkproto.TagNone || len(h.queues[p.Via-1].sizes) == 0 {
		h.fail("it refused a packet with tag %d for link %d, which nobody sent", p.Tag, p.Via)
		return
	}
	q := &h.queues[p.Via-1]
	last := len(q.sizes) - 1
	q.sentBytes -= uint16(q.sizes[last])
	q.sentPackets--
	q.sizes = q.sizes[:last]
	q.refused++
	q.lost = true
}

func (h *Host) fail(format string, args ...any) {
	if h.err == nil {
		h.err = fmt.Errorf("ni: the network interface broke the protocol: "+format, args...)
	}
}
