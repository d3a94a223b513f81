//go:build !linux

package serve

import (
	"errors"
	"net"
	"os"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

var errSystem = errors.New("serve: sharing a network interface needs Linux")

// Listen would make a socket.
func Listen(string, string) (*Listener, error) { return nil, errSystem }

// Close has nothing to close.
func (*Listener) Close() error { return errSystem }

// Path is where the socket would be.
func (l *Listener) Path() string { return l.path }

func (*Listener) peer(*net.UnixConn) (int, bool, error) { return 0, false, errSystem }

func socketPair() (*sharing.Conn, *os.File, error) { return nil, nil, errSystem }

func rightsOf(*os.File) []byte { return nil }

func fileOf([]byte) (*os.File, error) { return nil, errSystem }
