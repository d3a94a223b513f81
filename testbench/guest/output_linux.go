package guest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// output takes what a command prints to a line that may be slow. The command's processes have in.
type output struct {
	in, from *os.File
	closing  atomic.Bool
	done     chan error
}

// left is how long a closed output may be silent until what still has its other end counts as left behind by the command.
const left = time.Second

func newOutput(line io.Writer) (*output, error) {
	from, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("output of the command: %w", err)
	}
	o := &output{in: in, from: from, done: make(chan error, 1)}
	go func() { o.done <- o.carry(line) }()
	return o, nil
}

// close returns when all that the command has printed is on the line.
func (o *output) close() error {
	o.closing.Store(true)
	err := errors.Join(o.in.Close(), o.from.SetReadDeadline(time.Now().Add(left))) // for a read that is underway
	return errors.Join(err, <-o.done, o.from.Close())
}

func (o *output) carry(line io.Writer) error {
	buf := make([]byte, 32<<10)
	for {
		last := o.closing.Load()
		if last { // the line may have taken so long that the deadline has passed, and there is more to read
			if err := o.from.SetReadDeadline(time.Now().Add(left)); err != nil {
				return err
			}
		}
		n, err := o.from.Read(buf)
		if n > 0 {
			if _, err := line.Write(buf[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), last && errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		}
	}
}
