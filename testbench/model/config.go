package model

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
)

// Config fixes the sizes and times of an NI, as the parameters of the RTL do. Sizes are in bytes, times in ticks: one
// tick is the time of one symbol. A zero member means its default.
type Config struct {
	Links       int // 1 to 7; 0: 1
	Frames      int // link page frames in the receive buffer, 1 to 256; 0: 4
	PageBytes   int // a power of two, 64 to 8192; 0: 1024
	ReplayBytes int // of each port, a power of two that holds a packet, at most 32768; 0: 4096
	RxBytes     int // of each port's receive FIFO, a power of two, more than Headroom and a packet; 0: 4096
	Lanes       int // of each link, 1 to 8; the host port has one; 0: 1
	Headroom    int // room in the receive FIFO above the mark at which it sends STOP; 0: 256
	AckDelay    int // 0: linkproto.DefaultAckDelay
	WordTimer   int // 0: linkproto.DefaultWordTimer
	Retry       int // 0: linkproto.DefaultRetry
	RetryLimit  int // 0: linkproto.DefaultRetryLimit

	Routes bool // ROUTE packets are taken; those with a router do

	Router   int // links of a router, 1 to 16, behind which is the network, link 1; 0: there is none
	Patience int // ticks that ROUTEs for this node wait for room before they are dropped; 0: 1 << 20
	Slots    int // packets that the router keeps for each of its ports; 0: 8
	Nodes    int // numbers of nodes in its table; 0: all
	Groups   int // multicast groups in its table; 0: 16

	// Virtual is the logarithm to base 2 of the numbers of virtual links that the NI carries out behind its router, at most 11; 0: none.
	Virtual       int
	VirtualSlots  int // packets that they hold for sending; 0: 64
	VirtualWindow int // of one, at most 127, and MESSAGEs of one that the host has; 0: 16
	VirtualRetry  int // 0: linkproto.DefaultVLRetry

	Contexts int // logarithm to base 2 of the contexts of messages that it carries out by these, at most 8; 0: none

	Epoch uint8  // the first epoch of every port; 0: 1
	Hash  uint64 // what HASH_LO and HASH_HI read; 0 for a model that stands for no RTL

	Barriers bool // barriers are carried out; with a router only

	// Observe is called with every packet that the NI has processed; may be nil.
	Observe func(Observation)
	// Passed is called with every packet that the router has dealt with; may be nil.
	Passed func(Passage)
}

// ErrConfig is wrapped by the errors of New.
var ErrConfig = errors.New("model: bad config")

// withDefaults returns c with its zero members replaced, or an error that says which member is wrong and why.
func (c Config) withDefaults() (Config, error) {
	for _, d := range []struct {
		member *int
		value  int
	}{
		{&c.Links, 1}, {&c.Frames, 4}, {&c.PageBytes, 1024}, {&c.ReplayBytes, 4096}, {&c.RxBytes, 4096}, {&c.Headroom, 256}, {&c.Lanes, 1},
		{&c.AckDelay, linkproto.DefaultAckDelay}, {&c.WordTimer, linkproto.DefaultWordTimer},
		{&c.Retry, linkproto.DefaultRetry}, {&c.RetryLimit, linkproto.DefaultRetryLimit},
		{&c.Patience, 1 << 20}, {&c.Slots, 8}, {&c.Nodes, linkproto.MaxNode + 1}, {&c.Groups, 16},
		{&c.VirtualSlots, 64}, {&c.VirtualWindow, 16}, {&c.VirtualRetry, linkproto.DefaultVLRetry},
	} {
		if *d.member == 0 {
			*d.member = d.value
		}
	}
	c.Routes = c.Routes || c.Router > 0
	packet := c.maxPacket()
	for _, bound := range []struct {
		name            string
		have, low, high int
		power           bool
	}{
		{"Links", c.Links, 1, c.mostLinks(), false},
		{"Frames", c.Frames, 1, 256, false},
		{"PageBytes", c.PageBytes, linkproto.MinPageBytes, linkproto.MaxPageBytes, true},
		{"ReplayBytes", c.ReplayBytes, packet, 1 << 15, true},
		{"RxBytes", c.RxBytes, packet + c.Headroom + 2, 1 << 30, true},
		{"Lanes", c.Lanes, 1, linkproto.MaxLanes, false},
		{"Headroom", c.Headroom, 1, 1 << 29, false},
		{"Patience", c.Patience, 1, 1 << 30, false},
		{"Router", c.Router, 0, linkproto.MaxPorts, false},
		{"Slots", c.Slots, 1, 1 << 10, false},
		{"Nodes", c.Nodes, 1, linkproto.MaxNode + 1, false},
		{"Groups", c.Groups, 1, 1 << 12, false},
		{"Virtual", c.Virtual, 0, min(c.Router, 1) * linkproto.MaxVLBits, false},         // with a router only
		{"Contexts", c.Contexts, 0, min(c.Virtual, 1) * linkproto.MaxContextBits, false}, // with virtual links only
		{"VirtualSlots", c.VirtualSlots, 1, 1 << 16, false},
		{"VirtualWindow", c.VirtualWindow, 1, linkproto.VLMaxWindow, false},
	} {
		if bound.have < bound.low || bound.have > bound.high {
			return c, fmt.Errorf("%w: %s is %d, must be %d to %d", ErrConfig, bound.name, bound.have, bound.low, bound.high)
		}
		if bound.power && bound.have&(bound.have-1) != 0 {
			return c, fmt.Errorf("%w: %s is %d, must be a power of two", ErrConfig, bound.name, bound.have)
		}
	}
	if c.Barriers && c.Router == 0 {
		return c, fmt.Errorf("%w: Barriers without a Router, which carries them out", ErrConfig)
	}
	return c, nil
}

// mostLinks is how many links there can be: with a router one, the network.
func (c Config) mostLinks() int {
	if c.Router > 0 {
		return 1
	}
	return linkproto.MaxLinks - 1
}

// maxPacket is the longest packet.
func (c Config) maxPacket() int {
	if c.Routes {
		return linkproto.MaxRoute(c.PageBytes)
	}
	return linkproto.MaxPacket(c.PageBytes)
}

// endpoint is the configuration of a port's link endpoint. A host may be silent for as long as it likes.
func (c Config) endpoint(port int) flowctl.Config {
	packet, high := c.maxPacket(), c.RxBytes-c.Headroom
	silence, lanes := linkproto.SilentTimers*c.WordTimer, c.Lanes
	if port == 0 {
		silence, lanes = -1, 1
	}
	return flowctl.Config{
		Port: uint8(port), Silence: silence, Lanes: lanes,
		MaxPacket: packet, Routes: c.Routes, Barriers: c.Barriers && port > 0, Window: linkproto.MaxWindow, ReplayBytes: c.ReplayBytes, ReceiveBytes: c.RxBytes,
		High: high, Low: (high + packet) / 2,
		AckDelay: c.AckDelay, WordTimer: c.WordTimer, Retry: c.Retry, RetryLimit: c.RetryLimit, Epoch: c.Epoch,
	}
}
