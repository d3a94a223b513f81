package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// targetFrames is what lmmc ports tells of a network interface: what its frame table says, and who waits.
type targetFrames struct {
	Target string       `json:"target"`
	Frames []frameEntry `json:"frames"`
	Links  []linkWaits  `json:"links"`
}

type frameEntry struct {
	Frame int `json:"frame"`
	hostdrv.FrameEntry
}

type linkWaits struct {
	Link    int  `json:"link"`
	Up      bool `json:"up"`
	Trapped bool `json:"trapped"` // at a PAGE or CONNECT, until the host says RESUME
}

func portsCommand() *cli.Command {
	return targetCommand(&cli.Command{
		Name:      "ports",
		Usage:     "show which link may write which frame of a target, and which links wait at a trap",
		ArgsUsage: "[TARGET]",
		Description: targetHelp + sharedHelp + ".\nFor a shared target it shows the ports of all programs, the frames of the peers and the frames of the receive buffer.\n" +
			"The ports of any other target are known only to the program that opened it (Node.Tables). It changes nothing.",
		Flags: []cli.Flag{jsonFlag, recordFlag},
		Action: onTarget(func(ctx *cli.Context, target string) error {
			if isShared(target) {
				return sharedPorts(ctx, target)
			}
			return show(ctx, readFrames(ctx, target), writeFrames)
		}),
	}, sharedTarget)
}

func readFrames(c *cli.Context, target string) targetFrames {
	n := openTarget(c, target, hostdrv.Options{})
	defer try.Finally(n.Close)
	f := targetFrames{Target: target, Frames: frameTable(c.Context, n.NI)}
	for link := 1; link <= n.Identity().Links; link++ {
		s := try.Get(n.LinkStatus(c.Context, link))
		f.Links = append(f.Links, linkWaits{link, s.Up, s.Trapped})
	}
	return f
}

// frameTable reads all of it in one go.
func frameTable(ctx context.Context, n *hostdrv.NI) []frameEntry {
	values := make([]uint32, n.Identity().Frames)
	b := n.Batch()
	for i := range values {
		b.ReadRegister(linkproto.FrameReg(i), &values[i])
	}
	try.OK(b.Run(ctx))
	entries := make([]frameEntry, len(values))
	for i, v := range values {
		entries[i].Frame = i
		if linkproto.FrameValid.Of(v) != 0 {
			entries[i].FrameEntry = hostdrv.FrameEntry{Link: int(linkproto.FrameLink.Of(v)), VL: int(linkproto.FrameVL.Of(v))}
		}
	}
	return entries
}

func writeFrames(b *strings.Builder, f targetFrames) {
	frames := table{names: []string{"frames", ">count", "may be written by"}}
	for first := 0; first < len(f.Frames); {
		end := first
		for end < len(f.Frames) && f.Frames[end].FrameEntry == f.Frames[first].FrameEntry {
			end++
		}
		who, which := "nobody", strconv.Itoa(first)
		switch e := f.Frames[first].FrameEntry; {
		case e.VL > 0:
			who = fmt.Sprintf("virtual link %d", e.VL)
		case e.Link > 0:
			who = fmt.Sprintf("link %d", e.Link)
		}
		if end > first+1 {
			which = fmt.Sprintf("%d-%d", first, end-1)
		}
		frames.add(which, strconv.Itoa(end-first), who)
		first = end
	}
	links := table{names: []string{"link", "state"}}
	for _, l := range f.Links {
		links.add(strconv.Itoa(l.Link), linkState(hostdrv.LinkStatus{Up: l.Up, Trapped: l.Trapped}))
	}
	frames.write(b)
	b.WriteByte('\n')
	links.write(b)
}

// sharedPorts prints the tables of a node that is another process's.
func sharedPorts(ctx *cli.Context, target string) error {
	node := openShared(ctx, target)
	defer try.Finally(node.Close)
	try.OK(show(ctx, try.Get(node.Report(ctx.Context)).Tables, writeTables))
	return nil
}

func writeTables(b *strings.Builder, t *hostdrv.Tables) {
	or := func(n int64, none int64) string {
		if n == none {
			return "-"
		}
		return strconv.FormatInt(n, 10)
	}
	ports := table{names: []string{">port", ">link", "direction", "state", "policy", ">frame", ">unsent"}}
	for _, p := range t.Ports {
		ports.add(strconv.Itoa(int(p.Port)), strconv.Itoa(p.Link), p.Direction, p.State, p.Policy, or(int64(p.Frame), -1), or(int64(p.Unsent), 0))
	}
	send := table{names: []string{">peer's frame", ">link", ">port"}}
	for _, f := range t.Send {
		send.add(strconv.Itoa(f.Frame), strconv.Itoa(f.Link), or(int64(f.Port), 0))
	}
	own := table{names: []string{">own frame", ">link", ">port"}}
	for _, f := range t.Frames {
		own.add(strconv.Itoa(f.Frame), or(int64(f.Link), 0), or(int64(f.Port), 0))
	}
	for i, t := range []table{ports, send, own} {
		if i > 0 {
			b.WriteByte('\n')
		}
		t.write(b)
	}
}
