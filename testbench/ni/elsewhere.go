package ni

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// Elsewhere returns an end that is up with some other one, to which it has sent so many packets and from which it has received so many: what is at
// the cable that takes the place of another.
func Elsewhere(c flowctl.Config, sent, received int, rng *testbench.Rand) (*flowctl.Endpoint, error) {
	end, err := flowctl.New(c)
	c.Nonce = Nonce(rng)
	other, err2 := flowctl.New(c)
	if err = errors.Join(err, err2); err != nil {
		return nil, err
	}
	packet := []byte{byte(linkproto.TypeWrite), 0, 0}
	line := make([]linkproto.Symbol, 32)
	for range 10_000 {
		for _, e := range []*flowctl.Endpoint{end, other} {
			for _, ok := e.Receive(); ok; _, ok = e.Receive() {
				continue
			}
		}
		if sent == 0 && received == 0 && end.Status().Up && end.Queued() == 0 && other.Queued() == 0 {
			return end, nil
		}
		if sent > 0 && end.Send(packet) == nil {
			sent--
		}
		if received > 0 && other.Send(packet) == nil {
			received--
		}
		other.Feed(line[:end.Emit(line)])
		end.Feed(line[:other.Emit(line)])
		end.Tick(len(line))
		other.Tick(len(line))
	}
	return nil, fmt.Errorf("ni: two ends in Go do not come up with each other: %+v", end.Status())
}
