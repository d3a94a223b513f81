package ethernet

import (
	"os"
	"runtime"
	"testing"
)

// endless is an interface on which frames come until it is closed.
type endless chan struct{}

func (e endless) Read([]byte) (int, error) {
	select {
	case <-e:
		return 0, os.ErrClosed
	default:
		return 60, nil
	}
}
func (e endless) Write(p []byte) (int, error) { return len(p), nil }
func (e endless) Close() error                { close(e); return nil }

// Close ends the goroutine that reads, also when nobody takes what has come.
func TestCloseOfATAPThatNobodyReads(t *testing.T) {
	tap := &TAP{file: make(endless), frames: make(chan []byte, 2), failed: make(chan error, 1), done: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		tap.read()
		close(ended)
	}()
	for len(tap.frames) < cap(tap.frames) {
		runtime.Gosched()
	}
	if err := tap.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
}
