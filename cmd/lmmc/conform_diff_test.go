package main

import (
	"context"
	"net/url"

	"github.com/stafflink/lmmc/hostdrv"
)

func init() { hostdrv.Register("forgetful", openForgetful) }

// forgetful is the model whose power fails after a while.
type forgetful struct {
	hostdrv.Transport
	left int // ticks
}

func openForgetful(ctx context.Context, target *url.URL) (hostdrv.Transport, error) {
	t, err := hostdrv.Dial(ctx, "model:?"+target.RawQuery)
	return &forgetful{t, 40_000}, err
}

// Exchange is for hostdrv.
func (f *forgetful) Exchange(x *hostdrv.Exchange) error {
	err := f.Transport.Exchange(x)
	before := f.left
	f.left -= x.Ticks
	if before > 0 && f.left <= 0 && err == nil {
		err = f.Transport.(hostdrv.Resetter).Reset()
	}
	return err
}
