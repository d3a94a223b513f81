package sharing

import (
	"errors"
	"net"
	"os"
)

// FileConn makes a Conn of a file that is such a socket, which it closes.
func FileConn(file *os.File) (*Conn, error) {
	from, err := net.FileConn(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	conn, is := from.(*net.UnixConn)
	if !is {
		return nil, errors.Join(errors.New("it is no socket of this machine"), from.Close())
	}
	return NewConn(conn)
}
