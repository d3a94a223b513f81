//go:build !linux

package pagemem

import "errors"

// watched is memory of which the kernel reports what was written, which needs Linux.
type watched struct{ memory []byte }

func newWatched([]byte) (*watched, error) {
	return nil, errors.New("a send page as memory needs Linux; use WritePage and Flush")
}

func (*watched) written(func(first, end int)) error { return nil }

func (*watched) close() error { return nil }
