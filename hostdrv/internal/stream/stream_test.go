package stream

import (
	"bytes"
	"errors"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/internal/check"
)

func newMux(node uint16) *Mux {
	return New(Options{Node: node, Window: 256 << 10, Memory: 8 << 20, PerPeer: 4, Most: 8, Linger: 3, Seed: 1})
}

// carry lets messages go between muxes until there are none. Those to another node nobody answers.
func carry(muxes ...*Mux) {
	for again := true; again; {
		again = false
		for _, m := range muxes {
			msg, ok := m.Next()
			if !ok {
				continue
			}
			again = true
			for _, to := range muxes {
				if to.o.Node == msg.Node {
					to.Input(Message{Node: m.o.Node, Life: msg.Life, Data: append(to.Buffer()[:0], msg.Data...)})
				}
			}
			m.Sent(msg, 0)
		}
	}
}

// connected opens a stream.
func connected(t check.TB, a, b *Mux) (near, far *Stream) {
	l := check.Must(b.Listen(80, 4))(t)
	near = check.Must(a.Dial(b.o.Node, 80, 0))(t)
	carry(a, b)
	check.Fatal(t, near.Opened())
	far = l.Accept()
	l.Close()
	return near, far
}

// TestHostile gives a stream's end what a peer must not send: the stream ends, or nothing happens, and another stream goes on.
func TestHostile(t *testing.T) {
	for _, c := range []struct {
		name string
		send func(s *Stream) Segment // to the end that was dialled
		ends error                   // what reading says then
		want Stats
	}{
		{"more than it may", func(s *Stream) Segment { return Segment{Kind: Data, Data: make([]byte, firstWindow+1)} }, syscall.ECONNRESET, Stats{Opened: 2, Violations: 1}},
		{"a limit that goes back", func(s *Stream) Segment { return Segment{Kind: Data} }, syscall.EAGAIN, Stats{Opened: 2}},
		{"a limit without end", func(s *Stream) Segment { return Segment{Kind: Data, Limit: 1<<64 - 1} }, syscall.EAGAIN, Stats{Opened: 2}},
		{"accepted again", func(s *Stream) Segment { return Segment{Kind: Accept} }, syscall.EAGAIN, Stats{Opened: 2}},
		{"opened again", func(s *Stream) Segment { return Segment{Kind: Syn, Data: []byte{1, 2}} }, syscall.EAGAIN, Stats{Opened: 2}},
		{"reset", func(s *Stream) Segment { return Segment{Kind: Reset} }, syscall.ECONNRESET, Stats{Opened: 2}},
		{"another stream", func(s *Stream) Segment { return Segment{Kind: Data, Stream: 5, Data: []byte{1}} }, syscall.EAGAIN, Stats{Opened: 2}},
		{"another life of the receiver", func(s *Stream) Segment { return Segment{Kind: Data, Life: s.peer.life + 1, Data: []byte{1}} }, syscall.EAGAIN, Stats{Opened: 2}},
		{"a port that nobody has", func(s *Stream) Segment { return Segment{Kind: Syn, Stream: 6, Port: 81, Data: []byte{1, 2}} }, syscall.EAGAIN, Stats{Opened: 2, Refused: 1}},
		{"no segment", func(s *Stream) Segment { return Segment{Kind: kinds} }, syscall.EAGAIN, Stats{Opened: 2, Malformed: 1}},
		{"the end, and more", func(s *Stream) Segment { return Segment{Kind: Data, Fin: true, Data: []byte{}} }, nil, Stats{Opened: 2}},
	} {
		a, b := newMux(1), newMux(2)
		_, far := connected(t, a, b)
		fine, other := connected(t, a, b)
		g := c.send(far)
		if g.Stream == 0 {
			g.Stream = far.key
		}
		if g.Life == 0 {
			g.Life = far.peer.life
		}
		b.Input(Message{Node: 1, Life: far.peer.theirs, Data: g.Append(nil)})
		if _, err := far.Read(make([]byte, 9)); !errors.Is(err, c.ends) {
			t.Errorf("%s: %v, want %v", c.name, err, c.ends)
		}
		check.Equal(t, c.name+": counts", b.Stats(), c.want)
		check.Must(fine.Write([]byte("on")))(t)
		carry(a, b)
		check.Equal(t, c.name+": bytes of another stream", check.Must(other.Read(make([]byte, 9)))(t), 2)
	}
}

// TestStartsAnew: a node that has lost its streams, and one whose messages did not arrive, end those of the other.
func TestStartsAnew(t *testing.T) {
	a, b := newMux(1), newMux(2)
	near, far := connected(t, a, b)
	again := New(Options{Node: 2, Window: 1 << 16, PerPeer: 4, Most: 8, Linger: 3, Seed: 2})
	a.Tick() // asks whether the peer is there
	carry(a, again)
	check.Fails(t, "read", check.Err(near.Read(make([]byte, 1))), syscall.ECONNRESET)
	check.Must(far.Write([]byte{1}))(t)
	msg, _ := b.Next()
	b.Sent(msg, syscall.ETIMEDOUT)
	check.Fails(t, "read after a message was lost", check.Err(far.Read(make([]byte, 1))), syscall.ETIMEDOUT)
	near, _ = connected(t, a, b)
	check.Must(near.Write([]byte{1}))(t)

	l := check.Must(b.Listen(81, 1))(t)
	opening, other := check.Must(a.Dial(2, 81, 0))(t), check.Must(a.Dial(2, 81, 0))(t)
	msg, _ = a.Next()
	a.Sent(msg, syscall.ECONNRESET)
	check.Fails(t, "read when the peer was out of reach", check.Err(near.Read(make([]byte, 1))), syscall.ETIMEDOUT)
	carry(a, b) // it is asked again, and has room for one
	check.Fatal(t, opening.Opened())
	check.Fails(t, "more than it has room for", other.Opened(), syscall.ECONNREFUSED)
	if l.Accept() == nil {
		t.Error("nobody has connected")
	}
	opening = check.Must(a.Dial(2, 81, 0))(t)
	msg, _ = a.Next()
	a.Sent(msg, syscall.ETIMEDOUT)
	check.Fails(t, "the peer does not answer", opening.Opened(), syscall.EHOSTUNREACH)
}

// TestForgotten: a stream that its program has closed is forgotten when the peer does not close it, and so is one that does not open.
func TestForgotten(t *testing.T) {
	a, b := newMux(1), newMux(2)
	near, far := connected(t, a, b)
	near.Close()
	mute := check.Must(a.Dial(3, 80, 0))(t)
	for range 5 {
		carry(a, b)
		a.Tick()
	}
	check.Equal(t, "streams left", len(a.peer(2).streams)+len(a.peer(3).streams), 0)
	check.Fails(t, "opening", mute.Opened(), syscall.ETIMEDOUT)
	carry(a, b)
	check.Equal(t, "read", check.Must(far.Read(make([]byte, 1)))(t), 0)
	check.Fails(t, "write", check.Err(far.Write([]byte{1})), syscall.EPIPE)
}

// TestOwnPort: of a port there is one stream to a port of a node, and none while it has a listener.
func TestOwnPort(t *testing.T) {
	m := newMux(1)
	first := check.Must(m.Dial(2, 80, 7000))(t)
	check.Must(m.Dial(2, 81, 7000))(t)
	check.Must(m.Dial(3, 80, 7000))(t)
	check.Fails(t, "the same once more", check.Err(m.Dial(2, 80, 7000)), syscall.EADDRNOTAVAIL)
	first.Abort()
	check.Must(m.Dial(2, 80, 7000))(t)
	check.Must(m.Listen(7001, 1))(t)
	check.Fails(t, "a listener's", check.Err(m.Dial(2, 80, 7001)), syscall.EADDRINUSE)
}

// TestBytes: whatever is written in whatever pieces is read, in order, and no more waits than the window allows.
func TestBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := newMux(1), newMux(2)
		near, far := connected(t, a, b)
		var wrote, read []byte
		room := make([]byte, 100_000)
		take := func(n int) (done bool) {
			k, err := far.Read(room[:n])
			read = append(read, room[:k]...)
			return k == 0 && err == nil
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch n := rapid.IntRange(1, 100_000).Draw(t, "bytes"); rapid.SampledFrom([]string{"write", "read", "carry"}).Draw(t, "step") {
			case "write":
				piece := bytes.Repeat([]byte{byte(len(wrote))}, n)
				k, _ := near.Write(piece)
				wrote = append(wrote, piece[:k]...)
			case "read":
				take(n)
			case "carry":
				carry(a, b)
			}
			if far.in.size > b.o.Window || near.out.size > a.o.Window {
				t.Fatalf("%d bytes wait to be read, %d to be sent", far.in.size, near.out.size)
			}
		}
		near.Close()
		for rounds := 0; ; rounds++ {
			if carry(a, b); take(len(room)) {
				break
			}
			if rounds > 1000 {
				t.Fatal("it does not end")
			}
		}
		far.Close()
		carry(a, b)
		if !bytes.Equal(read, wrote) || len(a.peer(2).streams)+len(b.peer(1).streams) > 0 {
			t.Fatalf("%d bytes of %d, %d and %d streams left", len(read), len(wrote), len(a.peer(2).streams), len(b.peer(1).streams))
		}
	})
}

// FuzzSegments: whatever a peer sends, what is a segment has the bytes that it was read from, and no stream holds more than its window.
func FuzzSegments(f *testing.F) {
	for k := range kinds {
		f.Add((&Segment{Kind: k, Port: 80, Stream: 1, Limit: 9, Data: []byte{1, 2}}).Append(nil), uint32(1))
	}
	f.Add(make([]byte, SegmentBytes+1), uint32(1))
	f.Fuzz(func(t *testing.T, b []byte, life uint32) {
		g, err := Decode(b)
		if err == nil && !bytes.Equal(g.Append(nil), b) {
			t.Fatalf("%+v is not %x", g, b)
		}
		m, other := newMux(2), newMux(1)
		_, far := connected(t, other, m)
		before := m.stats
		given := len(b) > 0 && len(b) <= SegmentBytes
		if given {
			m.Input(Message{Node: 1, Life: life, Data: append(m.Buffer()[:0], b...)})
		}
		if err != nil && given && m.stats.Malformed == before.Malformed || far.in.size > firstWindow {
			t.Fatalf("%+v, %d bytes", m.stats, far.in.size)
		}
		for range 3 {
			if msg, ok := m.Next(); ok {
				m.Sent(msg, 0)
			}
		}
	})
}
