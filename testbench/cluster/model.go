package cluster

import (
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/model"
)

// modelNI is a network interface in Go.
type modelNI struct{ *model.NI }

// modelSwitch is a switch in Go.
type modelSwitch struct{ *model.Switch }

func openModelNI(p rtl.Params, epoch uint8, c Config) modelNI {
	return modelNI{try.Get(model.New(model.Config{
		Links: p.Links, Frames: p.Frames, PageBytes: p.PageBytes, Routes: true, Router: p.Router, Patience: p.Patience, Epoch: epoch,
		Virtual: p.Virtual, VirtualSlots: p.VLSlots, VirtualWindow: p.VLWindow, VirtualRetry: p.VLRetry, Contexts: p.Contexts,
		Lanes: p.Lanes, ReplayBytes: p.ReplayBytes, RxBytes: p.RxBytes,
		Barriers: c.Barriers,
	}))}
}

func openModelSwitch(n topology.Node, p rtl.Params, epoch uint8, barriers bool) modelSwitch {
	return modelSwitch{try.Get(model.NewSwitch(model.Config{
		Router: n.Ports, PageBytes: p.PageBytes, Epoch: epoch, Barriers: barriers, Lanes: p.Lanes, ReplayBytes: p.ReplayBytes, RxBytes: p.RxBytes,
	}))}
}

func (m modelNI) socket(port, lane int) socket     { return socket{end: m.Port(port).Lane(lane)} }
func (m modelNI) reset(bool)                       {}
func (m modelNI) Close() error                     { return nil }
func (s modelSwitch) socket(port, lane int) socket { return socket{end: s.Port(port).Lane(lane)} }
func (s modelSwitch) reset(bool)                   {}
func (s modelSwitch) Close() error                 { return nil }

func (m modelNI) status(port int) (status uint32, known bool) {
	if m.Config().Router > 0 {
		return m.PortStatus(port), true
	}
	return m.LinkStatus(port), true
}

func (s modelSwitch) status(port int) (status uint32, known bool) {
	if port < 1 {
		return 0, false
	}
	return s.PortStatus(port), true
}

func (s modelSwitch) dropped() (l SwitchLook) {
	for port := range s.Config().Router + 1 {
		l.Bad += uint64(s.Dropped(port, linkproto.RouterBad))
		l.Lost += uint64(s.Dropped(port, linkproto.RouterLost))
		l.Hops += uint64(s.Dropped(port, linkproto.RouterHops))
		l.Late += uint64(s.Dropped(port, linkproto.RouterLate))
	}
	return l
}
