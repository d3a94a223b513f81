package guest

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// What init and the host tell each other on the guest's second serial line: a letter, the length of what follows in four
// bytes, little-endian, and that.
const (
	frameAwake   = 'A' // init runs
	frameReady   = 'R' // modules are loaded and the command is about to start
	frameStdout  = 'O' // what the command prints
	frameStderr  = 'E'
	frameFile    = 'F' // a file of the folder for results: its path in there, NUL, its content
	frameExit    = 'X' // the command's exit code in decimal: the last frame
	frameProblem = 'P' // why init failed: the last frame

	frameQuit = 'Q' // to init: send the command SIGQUIT
)

// maxFrame bounds what a reader takes for a frame. Files are the largest.
const maxFrame = 256 << 20

// frameWriter is shared by those that have something to tell.
type frameWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (f *frameWriter) write(kind byte, parts ...[]byte) error {
	head := make([]byte, 5)
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if size > maxFrame {
		return fmt.Errorf("guest: %d bytes are too much for a frame, which takes %d", size, maxFrame)
	}
	head[0] = kind
	binary.LittleEndian.PutUint32(head[1:], uint32(size))
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, part := range append([][]byte{head}, parts...) {
		if _, err := f.w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// stream returns a writer whose every write is a frame.
func (f *frameWriter) stream(kind byte) io.Writer {
	return writerFunc(func(p []byte) (int, error) { return len(p), f.write(kind, p) })
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// readFrame returns io.EOF at the end of what was sent.
func readFrame(r io.Reader) (kind byte, content []byte, err error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, nil, err
	}
	size := binary.LittleEndian.Uint32(head[1:])
	if size > maxFrame {
		return 0, nil, fmt.Errorf("guest: damaged frame %q of %d bytes", head[0], size)
	}
	content = make([]byte, size)
	if _, err := io.ReadFull(r, content); err != nil {
		return 0, nil, fmt.Errorf("guest: frame %q of %d bytes ends early: %w", head[0], size, err)
	}
	return head[0], content, nil
}
