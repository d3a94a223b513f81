package sockets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/ip"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/socket"
	"github.com/stafflink/lmmc/internal/try"
)

// HostCommand is the hidden command of lmmc whose process is a host: Serve with what follows it.
const HostCommand = "net-bench-host"

// Ports and numbers that hosts use.
const (
	port          = 9
	messageNumber = message.FirstContext
)

// patience is short, in the network's time, since a host that ends waits so long for one that has.
const patience = 50 * time.Millisecond

var prefix = netip.MustParsePrefix("10.0.0.0/24")

// order is what a host is to do, and what it answers.
type order struct {
	Do          string // ready, open, close, send, receive, ping, echo, connect, accept
	Way         Way
	Size, Count int
}

type answer struct {
	Error string
	Times []time.Duration // of each round trip or connection; of send the whole
	CPU   time.Duration   // of the process
}

// host is a node's programs: all that a machine runs but the network.
type host struct {
	number   uint16
	peer     uint16
	sockets  *socket.Stack
	messages *message.Context
	listen   map[Way]net.Listener
	talks    map[Way]talk
}

// Serve is a host at a target that talks with another node by each of some ways, as it is told by orders, until there are no more. TCP takes a network
// namespace of its own.
func Serve(ctx context.Context, args []string, in io.Reader, out io.Writer) (err error) {
	return try.Run(func() {
		if len(args) < 2 {
			try.Failf("want a target, a node's number and ways")
		}
		node := try.Get(hostdrv.OpenNode(ctx, args[0], hostdrv.Options{}, hostdrv.NodeOptions{NoPorts: true}))
		defer try.Finally(node.Close)
		h := &host{peer: uint16(try.Get(strconv.ParseUint(args[1], 10, 16))), listen: map[Way]net.Listener{}, talks: map[Way]talk{}}
		h.sockets = try.Get(socket.Open(ctx, node, socket.Options{Patience: patience}))
		defer try.Finally(h.sockets.Close)
		h.number = h.sockets.Node()
		h.messages = try.Get(message.Open(ctx, node, messageNumber, message.Options{Sends: depth, Receives: depth, Longest: Largest, Patience: patience}))
		defer try.Finally(h.messages.Close)
		h.listen[Ours] = try.Get(h.sockets.Listen("tcp", fmt.Sprint(":", port)))
		if slices.Contains(args[2:], string(TCP)) {
			f := try.Get(ip.Up(ctx, node, ip.Options{Name: "lm0", Addresses: []netip.Prefix{prefix}}))
			ctx, cancel := context.WithCancel(ctx)
			ended := make(chan error, 1)
			go func() { ended <- f.Run(ctx) }()
			defer func() {
				cancel()
				<-ended
			}()
			h.listen[TCP] = try.Get(net.Listen("tcp", h.address(TCP, h.number)))
		}
		read, write := json.NewDecoder(in), json.NewEncoder(out)
		for {
			var o order
			if err := read.Decode(&o); errors.Is(err, io.EOF) {
				return
			} else {
				try.OK(err)
			}
			try.OK(write.Encode(h.do(ctx, o)))
		}
	})
}

// address is where a node listens.
func (h *host) address(way Way, node uint16) string {
	if way == TCP {
		a := try.Get(ip.Address(node, prefix))
		return net.JoinHostPort(a.Addr().String(), fmt.Sprint(port))
	}
	return fmt.Sprint(node, ":", port)
}

// do carries an order out.
func (h *host) do(ctx context.Context, o order) (a answer) {
	cpu := cpuTime()
	err := try.Run(func() {
		t := h.talks[o.Way]
		switch o.Do {
		case "ready":
		case "open":
			h.talks[o.Way] = try.Get(h.open(ctx, o.Way, o.Count == 0))
		case "close":
			for _, t := range h.talks {
				try.OK(t.Close())
			}
		case "send":
			began := time.Now()
			for range o.Count {
				try.OK(t.write(o.Size))
			}
			try.OK(t.read(1)) // which says that all is there
			a.Times = []time.Duration{time.Since(began)}
		case "receive":
			for range o.Count {
				try.OK(t.read(o.Size))
			}
			try.OK(t.write(1))
		case "ping":
			for range o.Count {
				began := time.Now()
				try.OK(t.write(o.Size))
				try.OK(t.read(o.Size))
				a.Times = append(a.Times, time.Since(began))
			}
		case "echo":
			for range o.Count {
				try.OK(t.read(o.Size))
				try.OK(t.write(o.Size))
			}
		case "connect":
			for range o.Count {
				began := time.Now()
				try.OK(try.Get(h.dial(ctx, o.Way)).Close())
				a.Times = append(a.Times, time.Since(began))
			}
		case "accept":
			for range o.Count {
				c := try.Get(h.listen[o.Way].Accept())
				try.Get(io.Copy(io.Discard, c))
				try.OK(c.Close())
			}
		default:
			try.Failf("no order %q", o.Do)
		}
	})
	if err != nil {
		a.Error = err.Error()
	}
	a.CPU = cpuTime() - cpu
	return a
}

// open begins to talk; one of the two ends dials.
func (h *host) open(ctx context.Context, way Way, dials bool) (talk, error) {
	switch {
	case way == Messages:
		return newMessages(ctx, h.messages, h.peer)
	case dials:
		return newStream(h.dial(ctx, way))
	}
	return newStream(h.listen[way].Accept())
}

func (h *host) dial(ctx context.Context, way Way) (net.Conn, error) {
	dial := h.sockets.DialContext
	if way == TCP {
		dial = new(net.Dialer).DialContext
	}
	return dial(ctx, "tcp", h.address(way, h.peer))
}

// cpuTime is what this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are constant
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
