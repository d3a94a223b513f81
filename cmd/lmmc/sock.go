package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv/socket"
	"github.com/stafflink/lmmc/internal/try"
)

func sockCommand() *cli.Command {
	help := targetForms + sharedHelp + ".\nThe network interface must be in a network, as those of lmmc net up are. One program at a time has the sockets of a context"
	flags := func() []cli.Flag {
		return []cli.Flag{
			&cli.BoolFlag{Name: "udp", Usage: "use datagrams, one for each read of the input, in place of a connection"},
			&cli.StringSliceFlag{Name: "prefix", Usage: "know nodes by their addresses in `PREFIX` too, as 10.0.0.0/24"},
			&cli.IntFlag{Name: "context", Usage: "use context `N` of messages", Value: socket.DefaultContext},
			&cli.IntFlag{Name: "node", Usage: "give the network interface number `N`, if it is not shared (default: as it has)"},
			&cli.IntFlag{Name: "count", Usage: "with --udp, end when `N` datagrams have come and, of listen, the input has ended"},
			&cli.DurationFlag{Name: "timeout", Usage: "give up a node that says nothing for `TIME` of the target's", Value: 100 * time.Millisecond},
		}
	}
	commands := []*cli.Command{
		targetCommand(&cli.Command{
			Name: "connect", Usage: "connect to a port of a node: send the input, and print what comes", ArgsUsage: "TARGET NODE:PORT",
			Description: help + ".\nNODE is a number, as in 2:80, or an address in a --prefix. The end of the input ends the own half; the command ends when both have. With --udp it ends with the input, or as --count says.",
			Flags:       flags(), Action: sockConnect,
		}, sharedTarget),
		targetCommand(&cli.Command{
			Name: "listen", Usage: "take a connection to a port: send the input, and print what comes", ArgsUsage: "TARGET PORT",
			Description: help + ".\nThe command ends with the connection. With --udp it prints what comes, and sends the input to who sent first.",
			Flags:       flags(), Action: sockListen,
		}, sharedTarget),
	}
	return &cli.Command{
		Name: "sock", Usage: "connect to ports of nodes of a network, and listen at them", ArgsUsage: "COMMAND",
		Description: "doc/sockets.md describes what connections promise.", Subcommands: commands, Action: wantsCommand("sock", commands),
	}
}

// withSockets opens the sockets of the node that the command line names.
func withSockets(ctx *cli.Context, do func(s *socket.Stack, address string)) error {
	if ctx.NArg() != 2 {
		return usagef("sock %s takes %s; see lmmc sock %[1]s --help", ctx.Command.Name, ctx.Command.ArgsUsage)
	}
	if ctx.Duration("timeout") <= 0 {
		return usagef("--timeout %v: want a time above 0", ctx.Duration("timeout"))
	}
	o := socket.Options{Context: ctx.Int("context"), Patience: ctx.Duration("timeout")}
	for _, text := range ctx.StringSlice("prefix") {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return usagef("--prefix %s: want an address and its prefix, as 10.0.0.0/24", text)
		}
		o.Prefixes = append(o.Prefixes, p)
	}
	node := openTalker(ctx, ctx.Args().First())
	defer try.Finally(node.Close)
	s := try.Get(socket.Open(ctx.Context, node, o))
	defer try.Finally(s.Close)
	err := try.Run(func() { do(s, ctx.Args().Get(1)) })
	if err != nil && ctx.Context.Err() != nil { // what was closed for that fails
		err = ctx.Context.Err()
	}
	return err
}

// sockNetwork is what the flags ask for, as package net calls it.
func sockNetwork(ctx *cli.Context) (string, error) {
	if ctx.Bool("udp") {
		return "udp", nil
	}
	if ctx.IsSet("count") {
		return "", usagef("--count is for datagrams, with --udp")
	}
	return "tcp", nil
}

func sockConnect(ctx *cli.Context) error {
	return withSockets(ctx, func(s *socket.Stack, address string) {
		c := try.Get(s.DialContext(ctx.Context, try.Get(sockNetwork(ctx)), address))
		defer c.Close()
		defer context.AfterFunc(ctx.Context, func() { c.Close() })()
		if c, is := c.(*socket.Conn); is {
			try.OK(carry(ctx, c))
			return
		}
		sent := make(chan error, 1)
		go func() { sent <- sendDatagrams(ctx.App.Reader, c.Write) }()
		printed := func() error {
			return printDatagrams(ctx, func(b []byte) (int, error) { return c.Read(b) })
		}
		if ctx.Int("count") > 0 {
			try.OK(printed())
			return
		}
		go printed()
		try.OK(<-sent)
	})
}

func sockListen(ctx *cli.Context) error {
	return withSockets(ctx, func(s *socket.Stack, port string) {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			try.OK(usagef("port %q: want 1 to 65535", port))
		}
		if try.Get(sockNetwork(ctx)) == "udp" {
			p := try.Get(s.ListenPacket("udp", ":"+port))
			defer p.Close()
			defer context.AfterFunc(ctx.Context, func() { p.Close() })()
			fmt.Fprintf(ctx.App.ErrWriter, "listening at %v\n", p.LocalAddr())
			try.OK(answerDatagrams(ctx, p))
			return
		}
		l := try.Get(s.Listen("tcp", ":"+port))
		stop := context.AfterFunc(ctx.Context, func() { l.Close() })
		fmt.Fprintf(ctx.App.ErrWriter, "listening at %v\n", l.Addr())
		c, err := l.Accept()
		stop()
		try.OK(err)
		try.OK(l.Close())
		defer c.Close()
		defer context.AfterFunc(ctx.Context, func() { c.Close() })()
		fmt.Fprintf(ctx.App.ErrWriter, "connection of %v\n", c.RemoteAddr())
		try.OK(carry(ctx, c.(*socket.Conn)))
	})
}

// carry sends the input and prints what comes, until both have ended.
func carry(ctx *cli.Context, c *socket.Conn) error {
	sent := make(chan error, 1)
	go func() {
		_, err := io.Copy(c, ctx.App.Reader)
		if err == nil {
			err = c.CloseWrite()
		}
		sent <- err
	}()
	if _, err := io.Copy(ctx.App.Writer, c); err != nil {
		return err // and the input may not end
	}
	return <-sent
}

// sendDatagrams sends what each read of the input gives.
func sendDatagrams(in io.Reader, send func([]byte) (int, error)) error {
	b := make([]byte, socket.MaxPacket)
	for {
		n, err := in.Read(b)
		if n > 0 {
			_, err = send(b[:n])
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// printDatagrams prints those that read gives: as many as --count says.
func printDatagrams(ctx *cli.Context, read func([]byte) (int, error)) error {
	b := make([]byte, socket.MaxPacket)
	for left := ctx.Int("count"); ; {
		n, err := read(b)
		if err == nil {
			_, err = ctx.App.Writer.Write(b[:n])
		}
		if left--; err != nil || left == 0 {
			return err
		}
	}
}

// answerDatagrams prints what comes, and sends the input to who was the first.
func answerDatagrams(ctx *cli.Context, p net.PacketConn) error {
	var sent chan error
	err := printDatagrams(ctx, func(b []byte) (int, error) {
		n, addr, err := p.ReadFrom(b)
		if sent == nil && err == nil {
			sent = make(chan error, 1)
			go func() {
				sent <- sendDatagrams(ctx.App.Reader, func(b []byte) (int, error) { return p.WriteTo(b, addr) })
			}()
		}
		return n, err
	})
	if err != nil {
		return err
	}
	return <-sent
}
