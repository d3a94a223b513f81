package serve_test

import (
	"encoding/json"
	"net"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/internal/check"
)

// raw is a client that may say anything.
type raw struct {
	*net.UnixConn
	t *testing.T
}

func (s *served) raw(t *testing.T) *raw {
	t.Helper()
	conn := check.Must(net.Dial("unixpacket", strings.TrimPrefix(s.target, "unix:")))(t)
	t.Cleanup(func() { conn.Close() })
	return &raw{conn.(*net.UnixConn), t}
}

// greeted is raw after the greeting.
func (s *served) greeted(t *testing.T) *raw {
	t.Helper()
	r := s.raw(t)
	r.done(r.ask(sharing.Message{Op: sharing.OpHello, Value: sharing.Version}))
	return r
}

// done wants an answer that is no failure.
func (r *raw) done(m sharing.Message, _ int) sharing.Message {
	r.t.Helper()
	if m.Op != sharing.OpDone {
		r.t.Fatal(failure(r.t, m))
	}
	return m
}

func (r *raw) say(m sharing.Message) {
	r.t.Helper()
	check.Must(r.Write(m.Append(nil)))(r.t)
}

// hear reads a message and the file with it, or -1.
func (r *raw) hear() (m sharing.Message, fd int) {
	r.t.Helper()
	bytes, control := make([]byte, sharing.MaxMessage), make([]byte, 64)
	n, c, _, _, err := r.ReadMsgUnix(bytes, control)
	if err == nil {
		m, err = sharing.Decode(bytes[:n])
	}
	check.Fatal(r.t, err)
	fd = -1
	if c > 0 {
		parts := check.Must(unix.ParseSocketControlMessage(control[:c]))(r.t)
		fds, err := unix.ParseUnixRights(&parts[0])
		if err != nil || len(fds) != 1 {
			r.t.Fatal(fds, err)
		}
		fd = fds[0]
		r.t.Cleanup(func() { os.NewFile(uintptr(fd), "").Close() })
	}
	return m, fd
}

func (r *raw) ask(m sharing.Message) (sharing.Message, int) {
	r.t.Helper()
	r.say(m)
	return r.hear()
}

func failure(t *testing.T, m sharing.Message) (f sharing.Failure) {
	t.Helper()
	if err := json.Unmarshal(m.Data, &f); err != nil || m.Op == sharing.OpDone {
		t.Fatalf("%+v is no failure: %v", m, err)
	}
	return f
}
