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
	// Routed is called with every ROUTE that comes, and its bytes; nil drops them. Both are valid during the call.
	Routed func(r linkproto.Route, raw []byte)

	credit  []Credit // by link - 1
	waiting map[uint8]request
	tag     uint8
	packet  []byte
	err     error
}

// request is one whose answer has not come; nil: nobody wants it.
type request struct{ done func(linkproto.Packet) }

// NewHost attaches a host to the symbol ports rx and tx of a network interface's host port.
func NewHost(m *verilator.Model, rx, tx string, p rtl.Params, epoch uint8) (*Host, error) {
	p = p.WithDefaults()
	port, err := NewPort(m, rx, tx, hostConfig(p, epoch))
	if err != nil {
		return nil, err
	}
	return newHost(port, p), nil
}

// OpenHost attaches a host to the lanes of a network interface's host port.
func OpenHost(m *verilator.Model, clock *verilator.Clock, p rtl.Params, epoch uint8) (*Host, error) {
	p = p.WithDefaults()
	port, err := openPort(p, m, clock, 0, hostConfig(p, epoch))
	if err != nil {
		return nil, err
	}
	return newHost(port, p), nil
}

// NewUARTHost attaches a host to the host port of a network interface behind a UART's line.
func NewUARTHost(u *UARTLine, p rtl.Params, epoch uint8) (*Host, error) {
	p = p.WithDefaults()
	port, err := NewUARTPort(u, hostConfig(p, epoch))
	if err != nil {
		return nil, err
	}
	return newHost(port, p), nil
}

// JoinHost attaches a host to the host port of a network interface in Go that has these parameters.
func JoinHost(near End, p rtl.Params, epoch uint8) (*Host, error) {
	p = p.WithDefaults()
	port, err := JoinPort(near, hostConfig(p, epoch))
	if err != nil {
		return nil, err
	}
	return newHost(port, p), nil
}

func hostConfig(p rtl.Params, epoch uint8) flowctl.Config {
	c := flowctl.Config{MaxPacket: p.MaxPacket(), Routes: p.TakesRoutes(), WordTimer: p.WordTimer, Silence: -1, Epoch: epoch, ReplayBytes: 16 * p.MaxPacket()}
	if lanes := p.LanesOf(0); lanes > 1 {
		c.ReplayBytes *= lanes
		c.ReceiveBytes = 8 * lanes * p.MaxPacket()
	}
	return c
}

func newHost(port *Port, p rtl.Params) *Host {
	return &Host{Port: port, Params: p, credit: newCredit(p, false), waiting: map[uint8]request{}}
}

func newCredit(p rtl.Params, learning bool) (all []Credit) {
	for range p.Links {
		all = append(all, NewCredit(p, learning))
	}
	return all
}

// Restart replaces the host by one that has just begun: a new endpoint, and Forget.
func (h *Host) Restart(epoch uint8) error {
	c := h.Config()
	c.Epoch = epoch
	h.Forget()
	return h.Port.Restart(c)
}

// Forget drops all account: no request is waited for, and what the links' queues have freed is learnt from SPACE, or is nothing if the network
// interface was reset. A link's queue must be empty when the first packet is sent to it. Answers to old requests may still come:
// Received gets them.
func (h *Host) Forget() {
	h.waiting = map[uint8]request{}
	h.credit = newCredit(h.Params, true)
}

// Credit is the account of a link's transmit queue.
func (h *Host) Credit(link int) *Credit { return &h.credit[link-1] }

// Forward sends a packet to the far end of a link. It returns ErrNoCredit or ErrBusy when that must wait.
func (h *Host) Forward(p linkproto.Packet) error {
	if int(p.Via) < 1 || int(p.Via) > len(h.credit) {
		return fmt.Errorf("ni: no link %d, there are %d", p.Via, len(h.credit))
	}
	if !h.Credit(int(p.Via)).HasRoom(p.Size()) {
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
	h.Credit(int(p.Via)).Sent(n)
	return nil
}

// Write sends a remote write to the receive buffer at the far end of a link.
func (h *Host) Write(link int, addr uint32, data []byte) error {
	return h.Forward(linkproto.Packet{Type: linkproto.TypeWrite, Via: uint8(link), Addr: addr, Data: data})
}

// Request sends a request to the network interface; done is called with its answer (REG_DATA, BUF_DATA or DONE), whose Data is valid
// during the call; nil: nobody wants it. The tag is chosen here.
func (h *Host) Request(p linkproto.Packet, done func(linkproto.Packet)) error {
	if len(h.waiting) >= linkproto.TagNone {
		return ErrBusy
	}
	for h.waits(h.tag) || h.tag == linkproto.TagNone {
		h.tag++
	}
	p.Tag = h.tag
	if _, err := h.send(p); err != nil {
		return err
	}
	h.waiting[p.Tag] = request{done}
	h.tag++
	return nil
}

// waits reports whether a request with a tag is not answered yet.
func (h *Host) waits(tag uint8) bool {
	_, waits := h.waiting[tag]
	return waits
}

// SendRaw sends a packet's bytes as they are, without account: for tests of what must be refused.
func (h *Host) SendRaw(packet []byte) error {
	err := h.Port.Send(packet)
	if errors.Is(err, flowctl.ErrFull) {
		return ErrBusy
	}
	return err
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
	for _, h := range hosts {
		h.before(n)
	}
	if err := m.Run(uint64(n)); err != nil {
		return err
	}
	for _, h := range hosts {
		h.after(n)
	}
	for _, h := range hosts {
		if err := h.poll(); err != nil {
			return err
		}
	}
	return nil
}

// Runner is what Turn runs: a verilator.Model, or something around one.
type Runner interface{ Run(cycles uint64) error }

// poll handles what has arrived. The error is the first thing the network interface did that it must not do.
func (h *Host) poll() error {
	for raw, ok := h.Receive(); ok; raw, ok = h.Receive() {
		if linkproto.Type(raw[0]&(1<<linkproto.TypeBits-1)) == linkproto.TypeRoute {
			h.routed(raw)
			continue
		}
		var p linkproto.Packet
		if err := p.Decode(raw); err != nil {
			h.fail("it sent % x: %w", raw, err)
			continue
		}
		switch p.Type {
		case linkproto.TypeSpace:
			h.account(p, (*Credit).Space)
		case linkproto.TypeRegData, linkproto.TypeBufData, linkproto.TypeDone:
			if p.Status == linkproto.StatusNoSpace && p.Via != 0 { // else it is of a virtual link
				h.account(p, (*Credit).Refuse)
				continue
			}
			asked, waits := h.waiting[p.Tag]
			delete(h.waiting, p.Tag)
			switch {
			case asked.done != nil:
				asked.done(p)
			case waits:
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
	return h.err
}

// routed hands a ROUTE on. Of a virtual link the CRC is for those to check who know its key.
func (h *Host) routed(raw []byte) {
	var r linkproto.Route
	err := r.Open(raw)
	if err == nil && r.State == linkproto.RouteDatagram {
		err = linkproto.CheckRoute(raw, 0)
	}
	if err != nil {
		h.fail("it sent % x: %w", raw, err)
	} else if h.Routed != nil {
		h.Routed(r, raw)
	}
}

// account hands a SPACE, or a DONE with NO_SPACE, to the account of its link.
func (h *Host) account(p linkproto.Packet, take func(*Credit, linkproto.Packet) error) {
	if int(p.Via) < 1 || int(p.Via) > len(h.credit) {
		h.fail("it sent %v %v of link %d, there are %d", p.Type, p.Status, p.Via, len(h.credit))
	} else if err := take(&h.credit[p.Via-1], p); err != nil {
		h.fail("%w", err)
	}
}

func (h *Host) fail(format string, args ...any) {
	if h.err == nil {
		h.err = fmt.Errorf("ni: the network interface broke the protocol: "+format, args...)
	}
}
