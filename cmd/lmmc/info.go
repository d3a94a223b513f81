package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	_ "github.com/stafflink/lmmc/boards/sim"            // the targets: gates: and bits:
	_ "github.com/stafflink/lmmc/boards/virtual/vboard" // vboard:
	"github.com/stafflink/lmmc/hostdrv"
	_ "github.com/stafflink/lmmc/hostdrv/transport/serial"
	_ "github.com/stafflink/lmmc/hostdrv/transport/tcp"
	_ "github.com/stafflink/lmmc/hostdrv/transport/usb"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	_ "github.com/stafflink/lmmc/testbench/modelsim" // model:, rtl:, serial:, tcp: and usb:
	_ "github.com/stafflink/lmmc/testbench/rtlsim"
)

// defaultTarget needs nothing but this program.
const defaultTarget = "model:"

// targetInfo is what lmmc info tells of a network interface.
type targetInfo struct {
	Target   string           `json:"target"`
	Identity hostdrv.Identity `json:"identity"`
	// Current says that the hash is that of the RTL in this program.
	Current bool       `json:"current"`
	Links   []linkInfo `json:"links"` // the host port first
}

type linkInfo struct {
	Link     int                `json:"link"`
	Status   hostdrv.LinkStatus `json:"status"`
	Counters map[string]uint32  `json:"counters"` // by name, those that are not 0
}

func infoCommand() *cli.Command {
	return targetCommand(&cli.Command{
		Name:        "info",
		Usage:       "identify a target and show its links, or describe a bitstream",
		ArgsUsage:   "[TARGET|FILE.bin]",
		Description: targetHelp + sharedHelp + ".\nFILE.bin is a bitstream for an iCE40: shows its board, RTL and parameters; needs no board",
		Flags:       []cli.Flag{jsonFlag, recordFlag},
		Action: onTarget(func(ctx *cli.Context, target string) error {
			if isBitstream(target) {
				return showBitstream(ctx, target)
			}
			return showInfo(ctx, target)
		}),
	}, sharedTarget)
}

func showInfo(c *cli.Context, target string) error {
	n := openReporter(c, target)
	r, err := n.Report(c.Context)
	try.OK(errors.Join(err, n.Close()))
	info := targetInfo{Target: target, Identity: r.Identity, Current: r.Identity.Hash == rtl.Hash()}
	for link, now := range r.Links {
		l := linkInfo{Link: link, Status: now.Status, Counters: map[string]uint32{}}
		for i, v := range now.Counters {
			if v != 0 {
				l.Counters[linkproto.Counter(i).String()] = v
			}
		}
		info.Links = append(info.Links, l)
	}
	return show(c, info, writeInfo)
}

func writeInfo(b *strings.Builder, info targetInfo) {
	id := info.Identity
	var features []string
	for _, f := range linkproto.Features {
		if id.Has(f) {
			features = append(features, strings.ToLower(f.Name))
		}
	}
	hash := fmt.Sprintf("%016x", id.Hash)
	switch {
	case info.Current:
		hash += ", the RTL of this program"
	case id.Hash == 0:
		hash = "none: a model"
	default:
		hash += ", not the RTL of this program"
	}
	fmt.Fprintf(b, "target    %s\nprotocol  %d\nrtl       %s\nlinks     %d, each with room to send %d bytes or %d packets\nbuffer    %d frames of %d bytes\nfeatures  %s\n\n",
		info.Target, id.Version, hash, id.Links, id.ReplayBytes, id.Window, id.Frames, id.PageBytes, strings.Join(features, ", "))
	t := table{names: []string{"link", "state", ">epoch", "far end", "counters"}}
	for _, l := range info.Links {
		var counters []string
		for i := range linkproto.Counters {
			name := linkproto.Counter(i).String()
			if v := l.Counters[name]; v != 0 {
				counters = append(counters, fmt.Sprintf("%s %d", name, v))
			}
		}
		far := farEnd(l)
		if l.Link > 0 && id.Has(linkproto.FeatureRouter) {
			far = "the network, by a router"
		}
		t.add(portName(l.Link), linkState(l.Status), strconv.Itoa(int(l.Status.Epoch)), far, strings.Join(counters, ", "))
	}
	t.write(b)
}

// farEnd says who is at the far end of a link, or why not.
func farEnd(l linkInfo) string {
	switch p := l.Status.Peer; {
	case l.Link == 0:
		return "the host"
	case !p.Known:
		return "unknown"
	case p.Refused:
		return "refused: other pages or lanes"
	case p.Node == 0:
		return "no node id"
	default:
		return fmt.Sprintf("node %d", p.Node)
	}
}

func linkState(s hostdrv.LinkStatus) string {
	state := "down"
	if s.Up {
		state = "up"
	}
	for _, also := range []struct {
		is   bool
		text string
	}{{s.Trapped, "trapped"}, {s.PeerStop, "told to stop"}, {s.OwnStop, "says stop"}} {
		if also.is {
			state += ", " + also.text
		}
	}
	return state
}
