package serve

import (
	"context"
	"os"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// datagrams gives a program the frames of kernels, by a socket of their own. What the program does not read in time is dropped by the node, and counted. A
// program that sends faster than the link takes waits at the socket, as at the turn of all that others send.
func datagrams(c *client, ctx context.Context, m sharing.Message) (a sharing.Message, file *os.File, err error) {
	frames, err := c.server.node.Datagrams(ctx, int(m.Port))
	if err != nil {
		return a, nil, err
	}
	conn, file, err := socketPair()
	if err != nil {
		frames.Close()
		return a, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.work.Go(func() {
		select {
		case <-c.gone:
		case <-ctx.Done():
		}
		cancel()
		frames.Close()
		conn.Close()
	})
	c.work.Go(func() {
		defer cancel()
		takeDatagrams(ctx, frames, conn)
	})
	c.work.Go(func() {
		defer cancel()
		sendDatagrams(ctx, frames, conn, c.server.node.MaxDatagram())
	})
	return a, file, nil
}

// takeDatagrams gives the program what comes, until one of both ends.
func takeDatagrams(ctx context.Context, frames *hostdrv.Datagrams, conn *sharing.Conn) {
	for message := []byte(nil); ; {
		frame, err := frames.Next(ctx)
		if err == nil {
			message = sharing.Datagram(frame).Append(message[:0])
			err = conn.Send(message, nil)
		}
		if err != nil {
			return
		}
	}
}

// sendDatagrams sends what the program gives, until one of both ends, or the program sends what it must not.
func sendDatagrams(ctx context.Context, frames *hostdrv.Datagrams, conn *sharing.Conn, most int) {
	for message := make([]byte, sharing.DatagramHeader+most+1); ; { // one too long is seen
		n, _, err := conn.Receive(message, nil)
		var frame sharing.Datagram
		if err == nil {
			frame, err = sharing.DecodeDatagram(message[:n])
		}
		if err == nil {
			err = frames.Send(ctx, hostdrv.Datagram(frame))
		}
		if err != nil {
			return
		}
	}
}
