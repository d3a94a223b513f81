package usbdev

import "context"

// Bus is how a host reaches a device: a Host, or the far end of a connection that carries USB.
type Bus interface {
	Submit(*Transfer)
	Unlink(*Transfer) bool
	Gone() <-chan struct{}
	Close()
}

// Carry submits a transfer and waits until it has ended, or takes it back when ctx ends and returns its error.
func Carry(ctx context.Context, b Bus, t *Transfer) error {
	ended := make(chan struct{})
	t.Done = func(*Transfer) { close(ended) }
	b.Submit(t)
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	if b.Unlink(t) {
		return ctx.Err()
	}
	<-ended
	return nil
}
