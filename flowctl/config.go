package flowctl

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// Config fixes the sizes and times of an Endpoint. Sizes are in bytes of packets, times in ticks. A tick is the time
// of one symbol on the link. A zero member means its default.
type Config struct {
	MaxPacket    int  // longest packet that this end takes, linkproto.MaxPacket of a power of two; 0: of 1024. With Routes, linkproto.MaxRoute
	Routes       bool // ROUTE packets are taken
	Barriers     bool // BARRIERs are taken, for a router to Hear
	PeerPacket   int  // longest packet that the peer must take, or the link stays down; 0: MaxPacket
	Window       int  // packets held for sending, sent or not, at most 128; 0: 128
	ReplayBytes  int  // bytes held for sending, at least MaxPacket; 0: eight longest packets
	ReceiveBytes int  // bytes held for Receive; 0: eight longest packets

	// High and Low are the fills of the receive FIFO at which this end sends STOP and GO. What is above High
	// takes what the peer still sends until STOP has reached it: at least a round trip and two link state words.
	// MaxPacket <= Low < High <= ReceiveBytes. 0: a half of ReceiveBytes, and half of that but at least MaxPacket.
	High, Low int

	// Of a Trunk. An Endpoint has one lane and keeps no frame that comes early.
	Lanes     int // 0: 1
	SkewBytes int // bytes held for each lane, of frames that wait for earlier ones of other lanes; 0: two longest packets and linkproto.LaneSkew

	AckDelay  int // longest that an acknowledgement waits for a gap between frames, and that INIT and LOST wait to be said again; 0: 512
	WordTimer int // time after which a link state word is sent again; 0: 4096
	Retry     int // time without acknowledgement after which frames are sent again; 0: 16384
	// RetryLimit is how many times in a row Retry may pass without an acknowledgement while frames wait for one, also if they are sent again for
	// LOSTs meanwhile: the last time, the link starts again. 0: 8.
	RetryLimit int
	// Silence is the time without a word of the peer's after which it is gone: the link starts again. 0: four of WordTimer; negative: never.
	Silence int

	// Node and Nonce say who this end is. The nonce is random, and another one each time the node starts; without one, 0, a Port other than 0
	// stays down. Ports of one node have different numbers; 0 is the host's port, and a host: these have no nonce, and do not
	// take an end that has one for their peer.
	Node  uint16
	Nonce uint32
	Port  uint8
	// Epoch is the first epoch; 0: 1. An Endpoint that replaces one of the same Nonce and Port must start with another epoch than that one had.
	Epoch uint8
}

// ErrConfig is wrapped by the errors of New.
var ErrConfig = errors.New("flowctl: bad config")

// withDefaults returns c with its zero members replaced, or an error that says which member is wrong and why.
func (c Config) withDefaults() (Config, error) {
	setDefault(&c.MaxPacket, linkproto.Init{Page: 10, Routes: c.Routes}.MaxPacket())
	setDefault(&c.PeerPacket, c.MaxPacket)
	setDefault(&c.Window, linkproto.MaxWindow)
	setDefault(&c.ReplayBytes, 8*c.MaxPacket)
	setDefault(&c.ReceiveBytes, 8*c.MaxPacket)
	setDefault(&c.High, c.ReceiveBytes/2)
	setDefault(&c.Low, max(c.High/2, c.MaxPacket))
	setDefault(&c.Lanes, 1)
	setDefault(&c.SkewBytes, 2*c.MaxPacket+linkproto.LaneSkew)
	setDefault(&c.AckDelay, linkproto.DefaultAckDelay)
	setDefault(&c.WordTimer, linkproto.DefaultWordTimer)
	setDefault(&c.Retry, linkproto.DefaultRetry)
	setDefault(&c.RetryLimit, linkproto.DefaultRetryLimit)
	setDefault(&c.Silence, linkproto.SilentTimers*c.WordTimer)
	if c.Epoch == 0 {
		c.Epoch = 1
	}
	if err := within([]bound{
		{"MaxPacket", c.MaxPacket, linkproto.MinPacket, linkproto.MaxRoute(linkproto.MaxPageBytes)},
		{"PeerPacket", c.PeerPacket, linkproto.MinPacket, linkproto.MaxRoute(linkproto.MaxPageBytes)},
		{"Window", c.Window, 1, linkproto.MaxWindow},
		{"ReplayBytes", c.ReplayBytes, c.MaxPacket, 1 << 30},
		{"ReceiveBytes", c.ReceiveBytes, c.High, 1 << 30},
		{"High", c.High, c.Low + 1, c.ReceiveBytes},
		{"Low", c.Low, c.MaxPacket, c.High - 1},
		{"AckDelay", c.AckDelay, 2 * linkproto.InitSymbols, 1 << 30},
		{"WordTimer", c.WordTimer, 2 * linkproto.InitSymbols, 1 << 30},
		{"Retry", c.Retry, c.AckDelay + 2*linkproto.WordSymbols, 1 << 30},
		{"RetryLimit", c.RetryLimit, 1, 1 << 30},
		{"Lanes", c.Lanes, 1, linkproto.MaxLanes},
		{"SkewBytes", c.SkewBytes, c.MaxPacket, 1 << 30},
	}); err != nil {
		return c, err
	}
	if page, ok := linkproto.PageOf(c.MaxPacket - c.routeExtra()); !ok || 1<<page > linkproto.MaxPageBytes {
		return c, fmt.Errorf("%w: MaxPacket is %d, must be a power of two and %d", ErrConfig, c.MaxPacket, linkproto.PacketExtra+c.routeExtra())
	}
	if c.Port == 0 && c.Nonce != 0 {
		return c, fmt.Errorf("%w: Nonce is %#x, must be 0 with port 0", ErrConfig, c.Nonce)
	}
	return c, nil
}

// bound is what a member of a configuration is, and must be.
type bound struct {
	name            string
	have, low, high int
}

// within returns an error about the first that is out of bounds.
func within(bounds []bound) error {
	for _, b := range bounds {
		if b.have < b.low || b.have > b.high {
			return fmt.Errorf("%w: %s is %d, must be %d to %d", ErrConfig, b.name, b.have, b.low, b.high)
		}
	}
	return nil
}

// routeExtra is how much longer packets may be for being routed.
func (c Config) routeExtra() int {
	if c.Routes {
		return linkproto.RouteExtra
	}
	return 0
}

func setDefault(v *int, value int) {
	if *v == 0 {
		*v = value
	}
}
