//go:build !linux

package serial

import "go.bug.st/serial"

// claimed is nothing here: the library's own lock has to do.
type claimed struct{}

func claim(string) (*claimed, error) { return &claimed{}, nil }

func (*claimed) baud() (rate int, known bool) { return 0, false }

func (*claimed) write(p serial.Port, b []byte) (int, error) { return p.Write(b) }

// interrupt drops what a write waits to get rid of.
func (*claimed) interrupt(p serial.Port) { _ = p.ResetOutputBuffer() }

func (*claimed) release() error { return nil }
