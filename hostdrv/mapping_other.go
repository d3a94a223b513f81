//go:build !linux

package hostdrv

import (
	"errors"
	"os"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

var errNoMapping = errors.New("hostdrv: a page as memory needs Linux; use ReadAt")

// mapping is memory that is mapped twice, which this system is not asked for.
type mapping struct {
	written, read []byte
	state         *sharing.State
}

func newMapping(int, bool) (*mapping, *os.File, error) { return nil, nil, errNoMapping }

func mapShared(*os.File, int) ([]byte, error) { return nil, errNoMapping }

func unmap([]byte) error { return nil }

func (*mapping) close() error { return nil }
