//go:build !linux

package hostdrv

import "errors"

// mapping is memory that is mapped twice, which this system is not asked for.
type mapping struct{ written, read []byte }

func newMapping(int) (*mapping, error) {
	return nil, errors.New("hostdrv: a page as memory needs Linux; use ReadAt")
}

func (*mapping) close() error { return nil }
