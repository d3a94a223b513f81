package usbip

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/stafflink/lmmc/boards/virtual/usbdev"
)

// Limits on a client's pending transfers. A transfer beyond them fails with ENOMEM, as on a machine that is short of memory; the longest
// that Linux lets a program submit is 16 MiB.
const (
	maxLength = 16 << 20
	maxUnder  = 64 << 20 // bytes
	maxCount  = 4096
	maxQueued = 1 << 20 // bytes of answers that the client does not read, before no further command is taken
)

// Carry carries transfers between a device and the connection that imported it, until the connection ends, which is no
// error, ctx ends, or the device is unplugged. It closes both. Serve uses it, and so does a caller that hands
// a socket to the kernel (package vhci) without a server.
func Carry(ctx context.Context, conn net.Conn, host *usbdev.Host) error {
	c := &carrier{host: host, pending: map[uint32]underway{}}
	c.more.L, c.less.L = &c.mu, &c.mu
	var work sync.WaitGroup
	ended := make(chan struct{})
	work.Go(func() {
		select {
		case <-ctx.Done():
		case <-host.Gone():
		case <-ended:
		}
		conn.Close()
	})
	work.Go(func() {
		c.write(conn)
		conn.Close() // so that the reader ends
		c.mu.Lock()
		c.closed = true
		c.less.Signal()
		c.mu.Unlock()
	})
	err := c.read(bufio.NewReaderSize(conn, 1<<16))
	host.Close() // before the client notices, which may import the device again at once
	close(ended)
	c.mu.Lock()
	c.closed = true
	c.more.Signal()
	c.mu.Unlock()
	work.Wait()
	return err
}

// carrier is the state that the reader and the writer of a connection share.
type carrier struct {
	host *usbdev.Host

	mu      sync.Mutex
	more    sync.Cond           // there is something in out, or closed is set
	less    sync.Cond           // there is less in out, or closed is set
	pending map[uint32]underway // by their numbers
	under   int                 // bytes of them
	out     []byte              // to be written
	closed  bool
}

// underway is a pending transfer.
type underway struct {
	*usbdev.Transfer
	size int // bytes of memory that it may take
}

// write sends queued answers.
func (c *carrier) write(conn io.Writer) {
	var b []byte
	for {
		c.mu.Lock()
		for len(c.out) == 0 && !c.closed {
			c.more.Wait()
		}
		b, c.out = c.out, b[:0]
		c.less.Signal()
		closed := c.closed
		c.mu.Unlock()
		if closed {
			return
		}
		if _, err := conn.Write(b); err != nil {
			return // the reader sees it too
		}
	}
}

// enqueue queues an answer; c.mu is held.
func (c *carrier) enqueue(answer command, data []byte) {
	c.out = append(answer.append(c.out), data...)
	c.more.Signal()
}

// read carries out commands until the connection ends.
func (c *carrier) read(r io.Reader) error {
	for {
		c.mu.Lock()
		for len(c.out) > maxQueued && !c.closed {
			c.less.Wait()
		}
		c.mu.Unlock()
		var b [header]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return protocolf("the connection ended within a command")
			}
			return nil // it ended, or was closed here
		}
		switch command := parseCommand(&b); command.code {
		case cmdSubmit:
			if err := c.submit(r, command); err != nil {
				return err
			}
		case cmdUnlink:
			c.unlink(command)
		default:
			return protocolf("command %d", command.code)
		}
	}
}

func (c *carrier) submit(r io.Reader, from command) error {
	switch {
	case from.length < 0 || from.length > maxLength:
		return protocolf("a transfer of %d bytes; at most %d", uint32(from.length), maxLength)
	case from.endpoint > 15 || from.direction > 1:
		return protocolf("endpoint %d, direction %d", from.endpoint, from.direction)
	case from.packets != 0 && from.packets != -1:
		return protocolf("an isochronous transfer; the device has no such endpoint")
	}
	t := &usbdev.Transfer{Endpoint: byte(from.endpoint), Setup: usbdev.ParseSetup(from.setup)}
	size := int(from.length)
	if from.direction == 1 {
		t.Endpoint |= usbdev.In
		t.Room = size
	} else {
		t.Zero = from.flags&zeroFlag != 0
		t.Data = make([]byte, size)
		if _, err := io.ReadFull(r, t.Data); err != nil {
			return protocolf("the connection ended within a transfer's data")
		}
	}
	c.mu.Lock()
	_, twice := c.pending[from.number]
	full := c.under+size > maxUnder || len(c.pending) >= maxCount
	switch {
	case twice:
	case full:
		c.enqueue(command{code: retSubmit, number: from.number, status: errNoMem}, nil)
	default:
		c.pending[from.number] = underway{t, size}
		c.under += size
	}
	c.mu.Unlock()
	if twice {
		return protocolf("transfer %d submitted again before it ended", from.number)
	}
	if full {
		return nil
	}
	t.Done = func(t *usbdev.Transfer) {
		answer := command{code: retSubmit, number: from.number, status: statuses[t.Status], length: int32(t.Actual)}
		var data []byte
		if from.direction == 1 {
			data = t.Data[:t.Actual]
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.pending, from.number)
		c.under -= size
		c.enqueue(answer, data)
	}
	c.host.Submit(t)
	return nil
}

// unlink cancels a transfer that is still pending.
func (c *carrier) unlink(from command) {
	c.mu.Lock()
	t, pending := c.pending[from.unlink]
	c.mu.Unlock()
	answer := command{code: retUnlink, number: from.number}
	taken := pending && c.host.Unlink(t.Transfer)
	c.mu.Lock()
	defer c.mu.Unlock()
	if taken {
		delete(c.pending, from.unlink)
		c.under -= t.size
		answer.status = errReset
	}
	c.enqueue(answer, nil)
}
