//go:build !linux

package shared

import (
	"errors"
	"net"
	"os"
)

// receive would read a message with a file.
func receive(*net.UnixConn, []byte, []byte) (int, *os.File, error) {
	return 0, nil, errors.New("sharing a network interface needs Linux")
}
