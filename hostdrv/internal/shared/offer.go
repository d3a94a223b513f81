package shared

import (
	"context"
	"encoding/json"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// Offer is another node's request to connect a port.
type Offer struct {
	sharing.Offer
	ID uint32 // of the port

	c      *Client
	handle uint32
}

// NextOffer waits for a request whose parameters begin with prefix.
func (c *Client) NextOffer(ctx context.Context, what string, prefix []byte) (*Offer, error) {
	a, err := c.do(ctx, what, sharing.Message{Op: sharing.OpAccept, Data: prefix}, call{undo: func(a Answer) {
		c.refuse(a.Port, "the program stopped waiting")
	}})
	if err != nil {
		return nil, err
	}
	o := &Offer{c: c, handle: a.Port, ID: uint32(a.Value)}
	if err := json.Unmarshal(a.Data, &o.Offer); err != nil || o.Direction > 1 || o.Link < 1 || o.Link > len(c.links) {
		return nil, violation("offers % x", a.Data)
	}
	return o, nil
}

// Accept takes the port.
func (o *Offer) Accept() (*Port, error) {
	return o.c.newPort(sharing.Message{Op: sharing.OpTake, Port: o.handle}, o.Link)
}

// Refuse refuses the port.
func (o *Offer) Refuse(reason string) error { return o.c.refuse(o.handle, reason) }

func (c *Client) refuse(handle uint32, reason string) error {
	_, err := c.Call(context.Background(), "the server", sharing.Message{Op: sharing.OpRefuse, Port: handle, Data: []byte(reason)})
	return err
}
