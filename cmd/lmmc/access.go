package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// readPlace is what lmmc read tells of a place.
type readPlace struct {
	Place  string            `json:"place"`
	Value  *uint32           `json:"value,omitempty"`  // of a register
	Fields map[string]uint32 `json:"fields,omitempty"` // of it, if it has some
	Addr   *int              `json:"addr,omitempty"`   // of bytes
	Data   hexBytes          `json:"data,omitempty"`
	reg    linkproto.Reg
}

// hexBytes are written in hexadecimal digits in JSON.
type hexBytes []byte

// MarshalText writes the digits.
func (b hexBytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(b)), nil }

func readCommand() *cli.Command {
	return targetCommand(&cli.Command{
		Name:        "read",
		Usage:       "read registers and the receive buffer of a target",
		ArgsUsage:   "TARGET PLACE...",
		Description: targetForms + sharedHelp + ".\n" + placeHelp,
		Flags:       []cli.Flag{jsonFlag, recordFlag},
		Action: func(ctx *cli.Context) error {
			target, places := placeArguments(ctx)
			for _, p := range places {
				if p.writes {
					return usagef("read %s: a value is given; use lmmc write", p.text)
				}
			}
			return access(ctx, target, places)
		},
	}, append(registerNames(), sharedTarget)...)
}

func writeCommand() *cli.Command {
	return targetCommand(&cli.Command{
		Name:      "write",
		Usage:     "write registers, the receive buffer, or the receive buffer at the far end of a link",
		ArgsUsage: "TARGET PLACE=VALUE...",
		Description: targetForms + sharedHelp + ";\nit can be written only without ports, as those of lmmc net up.\n" + placeHelp + " LINK@ADDRESS, as in 1@0x400, is the\n" +
			"receive buffer at the far end of a link: a remote write, which the far network interface drops and counts unless the frame table\n" +
			"allows it. nodeN@ADDRESS is that of node N of a network, written by a routed packet. VALUE is a number for a register; for bytes hexadecimal digits, or text in double quotes, as in '@0=\"hello\"'.\n" +
			"Places are written in order; a PLACE without a value is read:\n" +
			"lmmc write model: FRAME_TABLE+2=0x80000001 '1@0x800=\"hello\"' @0x800:5",
		Flags: []cli.Flag{jsonFlag, recordFlag},
		Action: func(ctx *cli.Context) error {
			target, places := placeArguments(ctx)
			return access(ctx, target, places)
		},
	}, append(registerNames(), sharedTarget)...)
}

func placeArguments(ctx *cli.Context) (target string, places []place) {
	if ctx.NArg() < 2 {
		try.OK(usagef("%s takes a target and at least one place; see lmmc %[1]s --help", ctx.Command.Name))
	}
	for _, arg := range ctx.Args().Tail() {
		places = append(places, try.Get(parsePlace(arg)))
	}
	return ctx.Args().First(), places
}

func registerNames() []string {
	return collect(linkproto.Registers[:], func(r linkproto.RegInfo) string { return r.Name })
}

// access reads and writes places of a target in order, and prints what was read.
func access(c *cli.Context, target string, places []place) error {
	n := openAccessible(c, target)
	defer try.Finally(n.Close)
	read := []readPlace{}
	for _, p := range places {
		if p.writes {
			try.Wrap(p.write(c.Context, n), "%s", p.text)
			continue
		}
		r, err := p.read(c.Context, n)
		try.Wrap(err, "%s", p.text)
		read = append(read, r)
	}
	try.OK(show(c, read, func(b *strings.Builder, read []readPlace) {
		for _, r := range read {
			r.write(b)
		}
	}))
	return nil
}

// accessible is an NI that has places: one that is opened for them, or another process's.
type accessible interface {
	Identity() hostdrv.Identity
	ReadRegister(context.Context, linkproto.Reg) (uint32, error)
	WriteRegister(context.Context, linkproto.Reg, uint32) error
	ReadBuffer(context.Context, []byte, int) error
	WriteBuffer(context.Context, []byte, int) error
	SendRouted(ctx context.Context, link int, dest uint16, p linkproto.Packet) error
	Sync(ctx context.Context, link int) error
	Close() error
}

func openAccessible(c *cli.Context, target string) accessible {
	if isShared(target) {
		return openShared(c, target)
	}
	return openTarget(c, target, hostdrv.Options{})
}

// write writes a place. What goes by a link has reached the NI or the switch at its far end when write returns.
func (p *place) write(ctx context.Context, n accessible) error {
	switch {
	case p.register:
		return n.WriteRegister(ctx, p.reg, p.value)
	case p.node > 0:
		return p.writeRouted(ctx, n)
	case p.link == 0:
		return n.WriteBuffer(ctx, p.data, p.addr)
	}
	own, ok := n.(*opened)
	if !ok {
		return errors.New("a network interface of another process writes to nodes, as in node2@0x400, not to the far end of a link")
	}
	if err := mustBeUp(ctx, own.NI, p.link); err != nil {
		return err
	}
	return writeThrough(ctx, own.NI, p.link, p.addr, p.data)
}

// writeRouted writes to another node of the network, a page's part at a time.
func (p *place) writeRouted(ctx context.Context, n accessible) error {
	page := n.Identity().PageBytes
	for data, addr := p.data, p.addr; len(data) > 0; {
		part := data[:min(len(data), page-addr%page)]
		if err := n.SendRouted(ctx, 1, uint16(p.node), linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(addr), Data: part}); err != nil {
			return err
		}
		data, addr = data[len(part):], addr+len(part)
	}
	return n.Sync(ctx, 1)
}

// mustBeUp refuses a link by which nothing would go.
func mustBeUp(ctx context.Context, n *hostdrv.NI, link int) error {
	up, err := comesUp(ctx, n, link)
	if err == nil && !up {
		err = errDown(link)
	}
	return err
}

// writeThrough writes to the far end of a link and waits for its acknowledgement.
func writeThrough(ctx context.Context, n *hostdrv.NI, link, addr int, data []byte) error {
	if err := n.Write(ctx, link, addr, data); err != nil {
		return err
	}
	return n.Sync(ctx, link)
}

// awaitLinks is comesUp for all links, of which some may not be cabled.
func awaitLinks(ctx context.Context, n *hostdrv.NI) {
	var waits sync.WaitGroup
	for link := range n.Identity().Links {
		waits.Go(func() { _, _ = comesUp(ctx, n, link+1) }) // what goes on tells of an error
	}
	waits.Wait()
}

// comesUp waits for a link for as long as it takes to come up once the network interface has a nonce, which it gets when it is opened.
func comesUp(ctx context.Context, n *hostdrv.NI, link int) (bool, error) {
	within := 100 * time.Millisecond
	if n.VirtualTime() { // which has fast links and passes slowly
		within = 2 * time.Millisecond
	}
	for start := n.Now(); ; {
		s, err := n.LinkStatus(ctx, link)
		if err != nil || s.Up || n.Now()-start > within {
			return s.Up, err
		}
	}
}

func errDown(link int) error {
	return fmt.Errorf("link %d is down: check its cable, and that a program has opened the network interface at its far end", link)
}

func (p *place) read(ctx context.Context, n accessible) (r readPlace, err error) {
	r.Place, r.reg = p.text, p.reg
	if !p.register {
		if most := n.Identity().BufferBytes(); p.count > most { // before memory is taken for it
			return r, fmt.Errorf("%w: %d bytes, but the receive buffer has %d", hostdrv.ErrRange, p.count, most)
		}
		r.Addr, r.Data = &p.addr, make([]byte, p.count)
		return r, n.ReadBuffer(ctx, r.Data, p.addr)
	}
	v, err := n.ReadRegister(ctx, p.reg)
	r.Value = &v
	for _, f := range p.reg.Fields() {
		if r.Fields == nil {
			r.Fields = map[string]uint32{}
		}
		r.Fields[f.Name] = f.Of(v)
	}
	return r, err
}

func (r *readPlace) write(b *strings.Builder) {
	if r.Value == nil {
		b.WriteString(dump(*r.Addr, r.Data))
		return
	}
	fmt.Fprintf(b, "%-12v  0x%08x  %d", r.reg, *r.Value, *r.Value)
	for _, f := range r.reg.Fields() {
		switch v := f.Of(*r.Value); {
		case f.Bits > 1:
			fmt.Fprintf(b, "  %s %d", f.Name, v)
		case v > 0:
			fmt.Fprintf(b, "  %s", f.Name)
		}
	}
	b.WriteByte('\n')
}

// dump writes bytes as lines of sixteen, each with its address and what of it is text. Lines of zeros that follow one are left out.
func dump(addr int, data []byte) string {
	const width = 16
	var b strings.Builder
	zeros := 0
	for at := 0; at < len(data); at += width {
		line := data[at:min(at+width, len(data))]
		if len(bytes.Trim(line, "\x00")) == 0 {
			if zeros++; zeros > 1 && at+width < len(data) {
				if zeros == 2 {
					b.WriteString("*\n")
				}
				continue
			}
		} else {
			zeros = 0
		}
		text := bytes.Clone(line)
		for i, c := range line {
			if text[i] = '.'; c >= ' ' && c <= '~' {
				text[i] = c
			}
		}
		fmt.Fprintf(&b, "%08x  %-*s  |%s|\n", addr+at, 3*width-1, fmt.Sprintf("% x", line), text)
	}
	return b.String()
}
