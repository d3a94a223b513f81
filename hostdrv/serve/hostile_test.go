package serve_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/internal/check"
)

// TestRulesAreKept ends clients that break the rules, with why, and nobody else.
func TestRulesAreKept(t *testing.T) {
	s := begin(t, model, serve.Options{Calls: 3})
	other := s.open(t)
	hello := sharing.Message{Op: sharing.OpHello, Value: sharing.Version}
	accept := func(call uint32) sharing.Message { return sharing.Message{Op: sharing.OpAccept, Call: call} }
	bytes := func(ms ...sharing.Message) (list [][]byte) {
		for _, m := range ms {
			list = append(list, m.Append(nil))
		}
		return list
	}
	for _, c := range []struct {
		say  [][]byte
		want string
	}{
		{[][]byte{{1}}, "a message of 1 bytes"},
		{[][]byte{make([]byte, sharing.MaxMessage+1)}, "a message of"},
		{[][]byte{make([]byte, sharing.MaxMessage)}, "unknown kind 0"},
		{bytes(sharing.Message{Op: sharing.OpCreate}), "the greeting comes first"},
		{bytes(hello, hello), "only once"},
		{bytes(sharing.Message{Op: sharing.OpHello, Value: sharing.Version + 1}), "build both from the same sources"},
		{bytes(hello, sharing.Message{Op: sharing.OpDone}), "sent an answer"},
		{bytes(hello, accept(7), accept(7)), "call 7 is underway already"},
		{bytes(hello, accept(1), accept(2), accept(3), accept(4)), "more than 3 calls"},
		{bytes(hello, sharing.Message{Op: sharing.OpWrite}), "by link 0, there are 2"},
		{bytes(hello, sharing.Message{Op: sharing.OpWrite, Port: 3}), "by link 3, there are 2"},
		{bytes(hello, sharing.Message{Op: sharing.OpWrite, Port: 1, Data: sharing.Write{Data: []byte{1, 2}}.Append(nil)[:sharing.WriteOverhead+1]}), "a write of 2 bytes, 1 of them there"},
		{bytes(hello, sharing.Message{Op: sharing.OpWrite, Port: 1, Data: []byte{1}}), "a write of 1 bytes"},
	} {
		r := s.raw(t)
		for _, m := range c.say {
			check.Must(r.Write(m))(t)
		}
		m, _ := r.hear()
		for m.Op == sharing.OpDone {
			m, _ = r.hear()
		}
		if f := failure(t, m); m.Op != sharing.OpRefused || !strings.Contains(f.Text, c.want) {
			t.Errorf("told %d %q, want %q", m.Op, f.Text, c.want)
		}
		if n, err := r.Read(make([]byte, 10)); n > 0 || err == nil {
			t.Errorf("%s: the connection goes on", c.want)
		}
		check.Must(other.Report(t.Context()))(t)
	}
}

// TestOthersPortsAreOutOfReach asks for what another client has.
func TestOthersPortsAreOutOfReach(t *testing.T) {
	s := begin(t, model, serve.Options{})
	a, b := s.greeted(t), s.greeted(t)
	mine := a.done(a.ask(sharing.Message{Op: sharing.OpCreate, Value: 1 << 1}))
	for _, op := range []sharing.Op{sharing.OpConnect, sharing.OpTake, sharing.OpRefuse, sharing.OpMap, sharing.OpFlush, sharing.OpSync, sharing.OpWait, sharing.OpDelete} {
		m, _ := b.ask(sharing.Message{Op: op, Call: 1, Port: mine.Port})
		if f := failure(t, m); m.Op != sharing.OpFailed || !slices.Contains(f.Is, "port") {
			t.Errorf("kind %d: %+v", op, f)
		}
	}
	check.Equal(t, "ports left", len(s.node.Tables().Ports), 1)
}

// TestSpoiltWrites looks at what becomes of the writes around one that fails: those behind it are made only once the program knows of it, and
// other ports' are made in any case.
func TestSpoiltWrites(t *testing.T) {
	s := begin(t, model, serve.Options{})
	r := s.greeted(t)
	var handles []uint32
	var pages []*hostdrv.Window
	for range 2 {
		p, _ := r.ask(sharing.Message{Op: sharing.OpCreate, Value: 1 << 1})
		r.say(sharing.Message{Op: sharing.OpConnect, Port: p.Port})
		w := check.Must(accepted(t.Context(), s.node, ""))(t)
		r.done(r.hear())
		r.ask(sharing.Message{Op: sharing.OpMap, Port: p.Port})
		handles, pages = append(handles, p.Port), append(pages, w)
	}
	write := func(port int, attempt uint8, offset int, v byte) []byte {
		return sharing.Write{Port: handles[port], Attempt: attempt, Offset: offset, Data: []byte{v}}.Append(nil)
	}
	r.say(sharing.Message{Op: sharing.OpWrite, Port: 1, Data: slices.Concat(
		write(0, 0, 0, 1),
		write(0, 0, 128, 2), // beyond the page
		write(1, 0, 3, 3),
		write(0, 0, 4, 4))})
	m, _ := r.hear()
	if f := failure(t, m); m.Op != sharing.OpWriteFailed || m.Port != handles[0] || m.Value != 0 || !slices.Contains(f.Is, "range") {
		t.Fatalf("told %+v, %+v", m, f)
	}
	r.say(sharing.Message{Op: sharing.OpWrite, Port: 1, Data: slices.Concat(write(0, 0, 5, 5), write(0, 1, 6, 6), write(1, 0, 7, 7))})
	r.done(r.ask(sharing.Message{Op: sharing.OpSync, Port: handles[0]}))
	for i, want := range [][]byte{{1, 0, 0, 0, 0, 0, 6, 0}, {0, 0, 0, 3, 0, 0, 0, 7}} {
		have := make([]byte, len(want))
		if err := pages[i].Wait(t.Context(), func(page []byte) bool { return copy(have, page) > 0 && page[6+i] != 0 }); err != nil || !slices.Equal(have, want) {
			t.Errorf("port %d holds %v, want %v (%v)", i, have, want, err)
		}
	}
	for _, c := range []struct {
		what string
		say  sharing.Message
		is   string
	}{
		{"by another link", sharing.Message{Op: sharing.OpWrite, Port: 2, Data: write(1, 0, 0, 1)}, "port"},
		{"not mapped", sharing.Message{Op: sharing.OpWrite, Port: 1, Data: sharing.Write{Port: 77}.Append(nil)}, "port"},
	} {
		m, _ := r.ask(c.say)
		if f := failure(t, m); m.Op != sharing.OpWriteFailed || !slices.Contains(f.Is, c.is) {
			t.Errorf("%s: told %+v, %+v", c.what, m, f)
		}
	}
}

// TestPagesCannotBeWritten tries to change a receive page by the file that maps it.
func TestPagesCannotBeWritten(t *testing.T) {
	s := begin(t, model, serve.Options{})
	r := s.greeted(t)
	p, _ := r.ask(sharing.Message{Op: sharing.OpCreate, Value: 1<<1 | uint64(hostdrv.Receive)})
	r.say(sharing.Message{Op: sharing.OpConnect, Port: p.Port})
	request := check.Must(s.node.Accept(t.Context()))(t)
	check.Must(request.Accept())(t)
	r.done(r.hear())
	_, fd := r.ask(sharing.Message{Op: sharing.OpMap, Port: p.Port})
	_, size := sharing.Sizes(s.node.Identity().PageBytes)
	check.Fails(t, "mapped to be written", check.Err(unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)), unix.EPERM)
	page := check.Must(unix.Mmap(fd, 0, size, unix.PROT_READ, unix.MAP_SHARED))(t)
	for what, err := range map[string]error{
		"protection changed": unix.Mprotect(page, unix.PROT_READ|unix.PROT_WRITE),
		"made shorter":       unix.Ftruncate(fd, 0),
		"made longer":        unix.Ftruncate(fd, int64(2*size)),
		"unsealed":           func() error { _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, 0); return err }(),
		"written":            func() error { _, err := unix.Pwrite(fd, []byte{1}, 0); return err }(),
	} {
		check.Fails(t, "page "+what, err, nil)
	}
	check.Error(t, unix.Munmap(page))
	if _, again := r.ask(sharing.Message{Op: sharing.OpMap, Port: p.Port}); again != -1 {
		t.Error("the file came twice")
	}
}

// TestLimits holds clients to what they may have.
func TestLimits(t *testing.T) {
	s := begin(t, model, serve.Options{Clients: 2, Ports: 2, Calls: 4})
	node := s.open(t)
	first := check.Must(node.CreatePort(1, hostdrv.Send))(t)
	check.Must(node.CreatePort(1, hostdrv.Send))(t)
	check.Fails(t, "a third port", check.Err(node.CreatePort(1, hostdrv.Send)), hostdrv.ErrLimit)
	check.Fails(t, "accepting a third port", check.Err(node.Accept(t.Context())), hostdrv.ErrLimit)
	check.Fatal(t, first.Delete())
	// Calls beyond the limit wait for their turn.
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan error)
	for range 10 {
		go func() { _, err := node.Accept(ctx); waits <- err }()
	}
	second := s.open(t)
	check.Fails(t, "a third client", check.Err(hostdrv.OpenNode(t.Context(), s.target, hostdrv.Options{}, hostdrv.NodeOptions{})), hostdrv.ErrLimit)
	cancel()
	for range 10 {
		check.Fails(t, "wait of a client that has gone", <-waits, context.Canceled)
	}
	check.Must(node.CreatePort(1, hostdrv.Send))(t) // after they have ended
	s.expect(t, "came", "came", "refused")
	check.Error(t, second.Close())
	s.expect(t, "went")
	s.open(t)
}

// TestSilentClient has a client ask and never listen: others go on, and the server ends.
func TestSilentClient(t *testing.T) {
	s := begin(t, model, serve.Options{})
	r, other := s.greeted(t), s.open(t)
	conn := check.Must(r.SyscallConn())(t)
	m := sharing.Message{Op: sharing.OpDelete, Data: make([]byte, 4000)}.Append(nil)
	full := 0
	for full < 3 { // times that nothing more could be sent, a while apart
		check.Fatal(t, conn.Write(func(fd uintptr) bool {
			if _, err := unix.Write(int(fd), m); err != nil {
				full++
			}
			return true
		}))
		check.Must(other.Report(t.Context()))(t)
	}
	check.Fails(t, "stop", s.stop(), context.Canceled)
}

// TestAnyMessages says anything to the server, which goes on to serve others and keeps nothing of it.
func TestAnyMessages(t *testing.T) {
	s := begin(t, model, serve.Options{Ports: 8, Calls: 16})
	other := s.open(t)
	rapid.Check(t, func(rt *rapid.T) {
		r := s.greeted(t)
		for range rapid.IntRange(1, 60).Draw(rt, "messages") {
			m := sharing.Message{
				Op:    sharing.Op(rapid.IntRange(1, int(sharing.OpCancel)+1).Draw(rt, "op")),
				Call:  rapid.Uint32Range(0, 100).Draw(rt, "call"),
				Port:  rapid.Uint32Range(0, 6).Draw(rt, "port"),
				Value: rapid.OneOf(rapid.Uint64Range(0, 6), rapid.Uint64()).Draw(rt, "value"),
				Data:  rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(rt, "data"),
			}
			if _, err := r.Write(m.Append(nil)); err != nil {
				break
			}
		}
		r.Close()
		check.Must(other.Report(t.Context()))(rt)
	})
	check.Error(t, other.Close())
	for len(s.node.Tables().Ports) > 0 && t.Context().Err() == nil { // of the last ones, which the server still clears away
		check.Must(s.node.Report(t.Context()))(t)
	}
	s.clean(t)
}

// FuzzServer is TestAnyMessages with any bytes: each message is as long as the byte before it says.
func FuzzServer(f *testing.F) {
	hello := sharing.Message{Op: sharing.OpHello, Value: sharing.Version}.Append(nil)
	create := sharing.Message{Op: sharing.OpCreate, Value: 2}.Append(nil)
	f.Add(slices.Concat([]byte{byte(len(hello))}, hello, []byte{byte(len(create))}, create))
	f.Add([]byte{3, 1, 2, 3})
	f.Fuzz(func(t *testing.T, bytes []byte) {
		s := begin(t, model, serve.Options{Ports: 8, Calls: 16})
		r := s.raw(t)
		for len(bytes) > 0 {
			n := min(int(bytes[0]), len(bytes)-1)
			if _, err := r.Write(bytes[1 : 1+n]); err != nil {
				break
			}
			bytes = bytes[1+n:]
		}
		check.Must(s.open(t).Report(t.Context()))(t)
	})
}
