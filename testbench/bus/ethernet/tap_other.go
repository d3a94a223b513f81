//go:build !linux

package ethernet

import (
	"errors"
	"io"
)

func openTAP(string) (io.ReadWriteCloser, error) {
	return nil, errors.New("network interfaces of the kernel need Linux")
}

func isFull(error) bool { return false }
