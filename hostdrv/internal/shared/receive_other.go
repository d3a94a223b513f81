//go:build !linux

package shared

import (
	"errors"
	"os"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// receive would read a message with a file.
func receive(*sharing.Conn, []byte, []byte) (int, *os.File, error) {
	return 0, nil, errors.New("sharing a network interface needs Linux")
}
