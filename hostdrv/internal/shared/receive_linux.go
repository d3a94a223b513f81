package shared

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// receive reads a message, and the file that came with it or nil.
func receive(conn *sharing.Conn, message, control []byte) (int, *os.File, error) {
	n, c, err := conn.Receive(message, control)
	if err != nil || c == 0 {
		return n, nil, err
	}
	parts, err := unix.ParseSocketControlMessage(control[:c])
	if err != nil {
		return n, nil, err
	}
	var file *os.File
	for _, part := range parts {
		fds, err := unix.ParseUnixRights(&part)
		if err != nil {
			continue // something else
		}
		for _, fd := range fds {
			if file != nil {
				file.Close() // one is what a message has
			}
			file = os.NewFile(uintptr(fd), "lmmc-page")
		}
	}
	return n, file, nil
}
