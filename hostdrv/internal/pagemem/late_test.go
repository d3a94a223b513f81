package pagemem

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// TestLateSent: what was sent is known until it is settled, in no more memory than the page takes, and what was sent meanwhile then still is.
func TestLateSent(t *testing.T) {
	l := Late{Image: make([]byte, 100)}
	send := func(at int) {
		l.Write([]byte{1}, at)
		check.Must(l.Send(func([]byte, int) (bool, error) { return true, nil }))(t)
	}
	for i := range 1000 {
		send(i % 10 * 2)
	}
	check.Equal(t, "spans of 10 bytes that were sent", len(l.sent), 10)
	l.Settle()
	send(50)
	l.Settled()
	check.Equal(t, "bytes that are to be sent", l.Unsent(), 0)
	l.Unsend()
	check.Equal(t, "bytes that were sent while others were settled", l.Unsent(), 1)
	send(60)
	l.Settle()
	l.Unsend()
	check.Equal(t, "bytes that could not be settled", l.Unsent(), 2)
}
