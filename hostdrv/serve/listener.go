package serve

import (
	"net"
	"os"
)

// Listener is a socket at which an NI is served.
type Listener struct {
	socket *net.UnixListener
	path   string
	lock   *os.File
	gid    int // -1 for none
}
