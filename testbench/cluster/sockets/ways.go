package sockets

import (
	"context"
	"fmt"
	"io"
	"net"

	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/internal/try"
)

// Way is how two programs on two nodes talk.
type Way string

// The ways.
const (
	Ours     Way = "sockets"  // package socket
	Messages Way = "messages" // package message, below it
	TCP      Way = "tcp"      // the kernel's, over lmmc ip
)

// Ways are all of them.
var Ways = []Way{Ours, Messages, TCP}

// talk is a program's end of a connection, or of messages to another node, with memory for what it writes and reads.
type talk interface {
	write(n int) error // n bytes
	read(n int) error  // as many as were written together at the other end
	Close() error
}

// stream is a connection.
type stream struct {
	net.Conn
	room []byte
}

func newStream(c net.Conn, err error) (talk, error) { return &stream{c, make([]byte, Largest)}, err }

func (s *stream) write(n int) error {
	_, err := s.Write(s.room[:n])
	return err
}

func (s *stream) read(n int) error {
	_, err := io.ReadFull(s.Conn, s.room[:n])
	return err
}

// messages are those with one other node, without a copy at either end: they stay where they were posted.
type messages struct {
	*message.Context
	ctx      context.Context
	node     uint16
	out      []byte
	in       [depth][]byte // posted, by cookie
	posted   int
	sent     int
	received []message.Completion
}

// depth is how many descriptors are posted.
const depth = 64

func newMessages(ctx context.Context, c *message.Context, node uint16) (talk, error) {
	m := &messages{Context: c, ctx: ctx, node: node}
	err := try.Run(func() {
		m.out = try.Get(c.Buffer(Largest))
		for i := range m.in {
			m.in[i] = try.Get(c.Buffer(Largest))
			try.OK(m.post(uint64(i)))
		}
	})
	return m, err
}

func (m *messages) post(room uint64) error {
	return m.PostReceive(message.Receive{Data: m.in[room], Cookie: room})
}

func (m *messages) write(n int) error {
	for m.posted == depth {
		if err := m.take(); err != nil {
			return err
		}
	}
	m.posted++
	m.sent++
	return m.PostSend(message.Send{Node: m.node, Data: m.out[:n], Quiet: m.sent%(depth/2) != 0})
}

func (m *messages) read(n int) error {
	for len(m.received) == 0 {
		if err := m.take(); err != nil {
			return err
		}
	}
	c := m.received[0]
	m.received = m.received[1:]
	if len(c.Data) != n {
		return fmt.Errorf("a message of %d bytes came, want %d", len(c.Data), n)
	}
	return m.post(c.Cookie)
}

// take takes a completion.
func (m *messages) take() error {
	c, err := m.Wait(m.ctx)
	switch {
	case err != nil:
		return err
	case c.Err != nil:
		return c.Err
	case c.Received:
		m.received = append(m.received, c)
	default:
		m.posted--
	}
	return nil
}
