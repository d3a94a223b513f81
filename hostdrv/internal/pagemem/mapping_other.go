//go:build !linux

// Package pagemem is the memory of pages that programs read or write as plain memory, which needs Linux.
package pagemem

import (
	"errors"
	"os"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

var errNoMapping = errors.New("a page as memory needs Linux; read it by ReadPage")

// Mapping is memory that is mapped twice.
type Mapping struct {
	Written, Read []byte
	State         *sharing.State
}

// New fails.
func New(int, bool) (*Mapping, *os.File, error) { return nil, nil, errNoMapping }

// NewShared fails.
func NewShared(int) ([]byte, *os.File, error) { return nil, nil, errNoMapping }

// OpenShared fails.
func OpenShared(*os.File, int) ([]byte, error) { return nil, errNoMapping }

// Open fails.
func Open(*os.File, int) ([]byte, error) { return nil, errNoMapping }

// Unmap has nothing to end.
func Unmap([]byte) error { return nil }

// Close has nothing to free.
func (*Mapping) Close() error { return nil }

// watched is memory of which the kernel reports what was written, which needs Linux.
type watched struct{ memory []byte }

func newWatched([]byte) (*watched, error) {
	return nil, errors.New("a send page as memory needs Linux; use WritePage and Flush")
}

func (*watched) written(func(first, end int)) error { return nil }

func (*watched) close() error { return nil }
