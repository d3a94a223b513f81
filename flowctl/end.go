package flowctl

import "github.com/stafflink/lmmc/linkproto"

// End is one end of a link by its lanes: a Trunk, or an Endpoint, which has lane 0 alone.
type End interface {
	Config() Config
	Send(packet []byte) error
	Receive() (packet []byte, ok bool)
	Lost() (loss Loss, ok bool)
	Freed() (packets, bytes uint64)
	Queued() int
	Readable() int
	Status() Status
	Counter(linkproto.Counter) uint32
	Say(group, value uint8)
	Heard() (group, value uint8, ok bool)
	SetNode(uint16)
	SetNonce(uint32)

	Emit(lane int, dst []linkproto.Symbol) int
	Feed(lane int, in []linkproto.Symbol)
	Tick(n int)
	IdleFor() int
}

// NewEnd returns the end of a link of Config.Lanes, as after a reset. Its errors wrap ErrConfig.
func NewEnd(c Config) (End, error) {
	if c.Lanes > 1 {
		return NewTrunk(c)
	}
	e, err := New(c)
	return Single{e}, err
}

// Single is an Endpoint by its only lane.
type Single struct{ *Endpoint }

// Emit is Endpoint.Emit.
func (s Single) Emit(_ int, dst []linkproto.Symbol) int { return s.Endpoint.Emit(dst) }

// Feed is Endpoint.Feed.
func (s Single) Feed(_ int, in []linkproto.Symbol) { s.Endpoint.Feed(in) }
