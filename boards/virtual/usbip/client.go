package usbip

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/stafflink/lmmc/boards/virtual/usbdev"
)

const maxListed = 256 // devices in a list

// List asks a server which devices it has.
func List(ctx context.Context, conn net.Conn) ([]Info, error) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if _, err := conn.Write(appendOp(nil, opRequest|opList, 0)); err != nil {
		return nil, err
	}
	if err := readReply(conn, opList); err != nil {
		return nil, err
	}
	var b [4]byte
	if _, err := io.ReadFull(conn, b[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(b[:])
	if n > maxListed {
		return nil, protocolf("a list of %d devices", n)
	}
	all := make([]Info, n)
	for i := range all {
		var err error
		if all[i], err = readInfo(conn); err != nil {
			return nil, err
		}
		for range all[i].interfaces {
			if _, err := io.ReadFull(conn, b[:]); err != nil {
				return nil, err
			}
			all[i].Interfaces = append(all[i].Interfaces, [3]byte(b[:3]))
		}
	}
	return all, nil
}

// Import imports a device. Then the connection carries transfers: pass it to NewClient, or to the kernel. Errors about the device wrap
// ErrRefused.
func Import(ctx context.Context, conn net.Conn, busID string) (Info, error) {
	if len(busID) >= busIDSize {
		return Info{}, fmt.Errorf("%w: bus id %q is longer than %d bytes", ErrRefused, busID, busIDSize-1)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	request := append(appendOp(nil, opRequest|opImport, 0), make([]byte, busIDSize)...)
	copy(request[opHeader:], busID)
	if _, err := conn.Write(request); err != nil {
		return Info{}, err
	}
	if err := readReply(conn, opImport); err != nil {
		return Info{}, fmt.Errorf("%w: device %s", err, busID)
	}
	return readInfo(conn)
}

func readReply(r io.Reader, want uint16) error {
	var b [opHeader]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return fmt.Errorf("usbip: the server does not answer: %w", err)
	}
	be := binary.BigEndian
	v, code, status := be.Uint16(b[:]), be.Uint16(b[2:]), be.Uint32(b[4:])
	switch {
	case v != version:
		return protocolf("the server has version %x, this is %x", v, version)
	case code != want:
		return protocolf("answer %x to request %x", code, want|opRequest)
	case status != stOK:
		reason, known := statusText[status]
		if !known {
			reason = fmt.Sprintf("status %d", status)
		}
		return fmt.Errorf("%w: %s", ErrRefused, reason)
	}
	return nil
}

func readInfo(r io.Reader) (Info, error) {
	b := make([]byte, deviceSize)
	if _, err := io.ReadFull(r, b); err != nil {
		return Info{}, fmt.Errorf("usbip: reading the device's description: %w", err)
	}
	return parseInfo(b), nil
}

// Client is a host without a kernel for the device at the other end of a connection. It has the methods of usbdev.Host.
type Client struct {
	conn   net.Conn
	device uint32
	work   sync.WaitGroup
	gone   chan struct{}

	writing sync.Mutex

	mu      sync.Mutex
	number  uint32
	pending map[uint32]*usbdev.Transfer
	unlinks map[uint32]unlinking // by their own number
	ended   bool
}

// unlinking is a pending UNLINK command.
type unlinking struct {
	target uint32
	taken  chan bool
}

// NewClient takes over a connection that has imported a device.
func NewClient(conn net.Conn, device Info) *Client {
	c := &Client{conn: conn, device: device.ID(), gone: make(chan struct{}), pending: map[uint32]*usbdev.Transfer{}, unlinks: map[uint32]unlinking{}}
	c.work.Go(func() { c.read(bufio.NewReader(conn)) })
	return c
}

// Gone is closed when the connection has ended.
func (c *Client) Gone() <-chan struct{} { return c.gone }

// closeTimeout is how long a client waits for the server to release a device.
const closeTimeout = 2 * time.Second

// Close releases the device, and waits until a server that is reached by TCP has released it too: then it can be imported again. Pending transfers end with
// usbdev.Gone.
func (c *Client) Close() {
	if half, can := c.conn.(interface{ CloseWrite() error }); !can || half.CloseWrite() != nil || c.conn.SetReadDeadline(time.Now().Add(closeTimeout)) != nil {
		c.conn.Close()
	}
	c.work.Wait() // ends when the server has closed its end
}

// Submit sends a transfer to the device.
func (c *Client) Submit(t *usbdev.Transfer) {
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		t.Status = usbdev.Gone
		t.Done(t)
		return
	}
	c.number++
	submit := command{code: cmdSubmit, number: c.number, device: c.device, endpoint: uint32(t.Endpoint &^ usbdev.In), setup: t.Setup.Bytes()}
	c.pending[c.number] = t
	c.mu.Unlock()
	data := t.Data
	submit.length = int32(len(data))
	if t.Endpoint&usbdev.In != 0 {
		submit.direction, submit.length, data = 1, int32(t.Room), nil
	}
	if t.Zero {
		submit.flags = zeroFlag
	}
	c.send(submit, data)
}

func (c *Client) send(command command, data []byte) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.conn.Write(append(command.append(nil), data...)); err != nil {
		c.conn.Close() // the reader ends pending transfers
	}
}

// Unlink cancels a transfer as usbdev.Host.Unlink does; it waits for the server's answer.
func (c *Client) Unlink(t *usbdev.Transfer) bool {
	c.mu.Lock()
	target := uint32(0)
	for number, pending := range c.pending {
		if pending == t {
			target = number
		}
	}
	if target == 0 || c.ended {
		c.mu.Unlock()
		return false
	}
	c.number++
	unlink := command{code: cmdUnlink, number: c.number, device: c.device, unlink: target}
	u := unlinking{target, make(chan bool, 1)}
	c.unlinks[unlink.number] = u
	c.mu.Unlock()
	c.send(unlink, nil)
	return <-u.taken
}

// read takes answers until the connection ends.
func (c *Client) read(r io.Reader) {
	for c.answer(r) == nil {
	}
	c.conn.Close()
	close(c.gone)
	c.mu.Lock()
	c.ended = true
	pending := c.pending
	c.pending = nil
	for _, u := range c.unlinks {
		u.taken <- false
	}
	c.mu.Unlock()
	for _, t := range pending {
		t.Status = usbdev.Gone
		t.Done(t)
	}
}

func (c *Client) answer(r io.Reader) error {
	var b [header]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return err
	}
	answer := parseCommand(&b)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch answer.code {
	case retSubmit:
		t := c.pending[answer.number]
		if t == nil {
			return protocolf("completion of transfer %d, which is not pending", answer.number)
		}
		room := len(t.Data)
		if t.Endpoint&usbdev.In != 0 {
			room = t.Room
		}
		if answer.length < 0 || int(answer.length) > room {
			return protocolf("%d bytes for %d", answer.length, room)
		}
		if t.Endpoint&usbdev.In != 0 {
			t.Data = make([]byte, answer.length)
			if _, err := io.ReadFull(r, t.Data); err != nil {
				return err
			}
		}
		delete(c.pending, answer.number)
		t.Actual = int(answer.length)
		t.Status = statusOf(answer.status)
		t.Done(t)
	case retUnlink:
		u, known := c.unlinks[answer.number]
		if !known {
			return protocolf("completion of UNLINK %d, which is not pending", answer.number)
		}
		delete(c.unlinks, answer.number)
		if answer.status == errReset {
			delete(c.pending, u.target)
		}
		u.taken <- answer.status == errReset
	default:
		return protocolf("answer %d", answer.code)
	}
	return nil
}

func statusOf(result int32) usbdev.Status {
	for status, r := range statuses {
		if r == result {
			return status
		}
	}
	return usbdev.Gone
}
