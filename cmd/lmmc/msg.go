package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/internal/try"
)

const msgHelp = targetForms + sharedHelp + ".\nThe network interface must be in a network, as those of lmmc net up are. NODE is the number of another node, as in 2. Both nodes must use the same context"

func msgCommand() *cli.Command {
	flags := func(more ...cli.Flag) []cli.Flag {
		return append(more,
			&cli.IntFlag{Name: "context", Usage: fmt.Sprintf("use context `N`, %d to %d", message.FirstContext, message.LastContext), Value: 1},
			&cli.IntFlag{Name: "node", Usage: "give the network interface number `N`, if it is not shared (default: as it has)"}, jsonFlag)
	}
	patience := &cli.DurationFlag{Name: "timeout", Usage: "give up a node that says nothing for `TIME` of the target's, and an echo that takes longer", Value: 100 * time.Millisecond}
	commands := []*cli.Command{
		targetCommand(&cli.Command{
			Name: "send", Usage: "send a message", ArgsUsage: "TARGET NODE [TEXT]",
			Description: msgHelp + ".\nWithout TEXT the message is the input, up to 1 MB. The command ends when the other node has all of the message.",
			Flags:       flags(&cli.Uint64Flag{Name: "tag", Usage: "give the receiver tag `N` with it"}, patience),
			Action:      msgSend,
		}, sharedTarget),
		targetCommand(&cli.Command{
			Name: "recv", Usage: "receive messages, and show them", ArgsUsage: "TARGET",
			Description: msgHelp + ".\nMessages of up to 1 MB are shown as text. With --echo they are sent back, for lmmc msg ping.",
			Flags: flags(&cli.IntFlag{Name: "count", Usage: "end after `N` messages", Value: 1}, &cli.BoolFlag{Name: "forever", Usage: "do not end"},
				&cli.BoolFlag{Name: "echo", Usage: "send each message back"}, patience),
			Action: msgReceive,
		}, sharedTarget),
		targetCommand(&cli.Command{
			Name: "ping", Usage: "measure round trips of messages to a node where lmmc msg recv --echo runs", ArgsUsage: "TARGET NODE",
			Description: msgHelp + ".\nTimes are real ones, as this program sees them; lmmc net bench messages has those of the network.",
			Flags: flags(&cli.IntFlag{Name: "count", Usage: "measure `N` round trips", Value: 4},
				&cli.IntFlag{Name: "size", Usage: "send `BYTES`"}, patience),
			Action: msgPing,
		}, sharedTarget),
	}
	return &cli.Command{
		Name: "msg", Usage: "send and receive messages between nodes of a network", ArgsUsage: "COMMAND",
		Description: "doc/messages.md describes what contexts promise.", Subcommands: commands, Action: wantsCommand("msg", commands),
	}
}

// withContext opens the context that the command line names.
func withContext(ctx *cli.Context, least, most int, do func(node *hostdrv.Node, c *message.Context, args []string)) error {
	args := ctx.Args().Slice()
	if len(args) < least || len(args) > most {
		return usagef("msg %s takes %s; see lmmc msg %[1]s --help", ctx.Command.Name, ctx.Command.ArgsUsage)
	}
	if ctx.Duration("timeout") <= 0 {
		return usagef("--timeout %v: want a time above 0", ctx.Duration("timeout"))
	}
	if n := ctx.Int("context"); n < message.FirstContext || n > message.LastContext {
		return usagef("--context %d: want %d to %d", n, message.FirstContext, message.LastContext)
	}
	node := openTalker(ctx, args[0])
	defer try.Finally(node.Close)
	c := try.Get(message.Open(ctx.Context, node, ctx.Int("context"), message.Options{Patience: ctx.Duration("timeout")}))
	defer try.Finally(c.Close)
	do(node, c, args[1:])
	return nil
}

// openTalker opens a node for messages, with the number that --node says unless it is shared.
func openTalker(ctx *cli.Context, target string) *hostdrv.Node {
	if !isShared(target) {
		return try.Get(hostdrv.OpenNode(ctx.Context, target, hostdrv.Options{NodeID: nodeNumber(strconv.Itoa(ctx.Int("node")), 0)}, hostdrv.NodeOptions{NoPorts: true}))
	}
	if ctx.IsSet("node") {
		try.OK(usagef("--node: %s has the number that its server has given it", target))
	}
	return openShared(ctx, target)
}

// nodeNumber reads the number of a node, as in 2 or node2, from a least one on.
func nodeNumber(text string, least int) uint16 {
	n, err := strconv.Atoi(strings.TrimPrefix(text, "node"))
	if err != nil || n < least || n > 0x0FFF {
		try.OK(usagef("node %q: want its number, as in 2, at most %d", text, 0x0FFF))
	}
	return uint16(n)
}

// shownMessage is what lmmc msg tells of a message.
type shownMessage struct {
	Node  uint16 `json:"node"` // the other one
	Tag   uint32 `json:"tag"`
	Bytes int    `json:"bytes"`
	Text  string `json:"text,omitempty"` // of one that was received
}

func msgSend(ctx *cli.Context) error {
	if ctx.Uint64("tag") > 1<<32-1 {
		return usagef("--tag %d: want at most %d", ctx.Uint64("tag"), uint32(1<<32-1))
	}
	return withContext(ctx, 2, 3, func(_ *hostdrv.Node, c *message.Context, args []string) {
		m := message.Send{Node: nodeNumber(args[0], 1), Tag: uint32(ctx.Uint64("tag"))}
		if len(args) > 1 {
			m.Data = []byte(args[1])
		} else {
			m.Data = try.Get(io.ReadAll(io.LimitReader(ctx.App.Reader, message.MaxMessage+1)))
		}
		try.OK(c.PostSend(m))
		try.OK(try.Get(c.Wait(ctx.Context)).Err)
		try.OK(show(ctx, shownMessage{Node: m.Node, Tag: m.Tag, Bytes: len(m.Data)}, func(b *strings.Builder, s shownMessage) {
			fmt.Fprintf(b, "sent %d bytes to node %d\n", s.Bytes, s.Node)
		}))
	})
}

func msgReceive(ctx *cli.Context) error {
	return withContext(ctx, 1, 1, func(_ *hostdrv.Node, c *message.Context, _ []string) {
		shown, room := []shownMessage{}, make([]byte, message.MaxMessage)
		try.OK(c.PostReceive(message.Receive{Data: room}))
		left, underway := ctx.Int("count"), 0
		if ctx.Bool("forever") {
			left = -1
		}
		err := try.Run(func() {
			for left != 0 || underway > 0 {
				m := try.Get(c.Wait(ctx.Context))
				if !m.Received {
					underway--
					warnPeer(ctx, m.Err)
					continue
				}
				try.OK(m.Err)
				s := shownMessage{m.Node, m.Tag, len(m.Data), string(m.Data)}
				if ctx.Bool("json") {
					shown = append(shown, s)
				} else {
					try.Get(fmt.Fprintf(ctx.App.Writer, "node %d, tag %d, %d bytes: %q\n", s.Node, s.Tag, s.Bytes, s.Text))
				}
				left--
				if ctx.Bool("echo") {
					underway++
					try.OK(c.PostSend(message.Send{Node: m.Node, Tag: m.Tag, Data: append([]byte(nil), m.Data...)}))
				}
				if left != 0 {
					try.OK(c.PostReceive(message.Receive{Data: room}))
				}
			}
		})
		if ctx.Bool("json") { // also what has come before an error: nobody sends it again
			err = errors.Join(err, writeJSON(ctx.App.Writer, shown))
		}
		try.OK(err)
	})
}

// warnPeer tells that a message could not be sent back: others go on.
func warnPeer(ctx *cli.Context, err error) {
	if err != nil {
		fmt.Fprintln(ctx.App.ErrWriter, err)
	}
}

func msgPing(ctx *cli.Context) error {
	if size := ctx.Int("size"); size > message.MaxMessage {
		return usagef("--size %d: want at most %d", size, message.MaxMessage)
	}
	return withContext(ctx, 2, 2, func(node *hostdrv.Node, c *message.Context, args []string) {
		r := pingReport{Target: ctx.Args().First()}
		m := message.Send{Node: nodeNumber(args[0], 1), Data: make([]byte, ctx.Int("size"))}
		back := make([]byte, len(m.Data))
		for i := range ctx.Int("count") {
			start := time.Now()
			m.Tag = uint32(i)
			try.OK(c.PostReceive(message.Receive{Data: back}))
			try.OK(c.PostSend(m))
			limit, cancel := node.WithTimeout(ctx.Context, ctx.Duration("timeout"))
			err := awaitEcho(limit, c, m)
			cancel()
			try.Wrap(err, "round trip %d of %d (lmmc msg recv --echo must run at node %d)", i+1, ctx.Int("count"), m.Node)
			took := time.Since(start)
			r.Times = append(r.Times, took)
			if !ctx.Bool("json") {
				try.Get(fmt.Fprintf(ctx.App.Writer, "%4d  %v\n", i+1, took))
			}
		}
		r.sum()
		try.OK(show(ctx, r, func(b *strings.Builder, r pingReport) {
			fmt.Fprintf(b, "least %v, mean %v, most %v, real time\n", r.Least, r.Mean, r.Most)
		}))
	})
}

// awaitEcho waits until a message has arrived and come back.
func awaitEcho(ctx context.Context, c *message.Context, m message.Send) error {
	for range 2 {
		done, err := c.Wait(ctx)
		switch {
		case err != nil:
			return err
		case done.Err != nil:
			return done.Err
		case done.Received && (done.Node != m.Node || done.Tag != m.Tag || len(done.Data) != len(m.Data)):
			return fmt.Errorf("node %d sent a message of %d bytes with tag %d in place of the echo", done.Node, len(done.Data), done.Tag)
		}
	}
	return nil
}
