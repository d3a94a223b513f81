package guest

import (
	"errors"
	"io"
	"os"
)

// RunCommand runs a command as init does, with nothing coming from the host.
func RunCommand(dir string, command []string, out io.Writer) (int, error) {
	wire, host, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	code, err := runCommand(plan{Command: command, Dir: dir, Env: os.Environ()}, wire, &frameWriter{w: out})
	return code, errors.Join(err, host.Close(), wire.Close())
}

// ReadFrame reads what RunCommand has written.
var ReadFrame = readFrame
