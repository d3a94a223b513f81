package msg

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"syscall"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// receiver is a context with a peer whose packets are given to it by hand.
func receiver(t testing.TB, o Options) (*Context, *peer) {
	core := check.Must(engine.New(engine.Config{Epoch: 1}))(t)
	o.Seed = 1
	c := check.Must(Open(core, 1, 1e6, 1, o))(t)
	return c, &peer{context: c, node: 2, most: 100}
}

func packet(tag uint32, rest int, data string) linkproto.Packet {
	return linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: tag, Rest: uint32(rest), Data: []byte(data)}
}

// TestJoin gives a receiver packets, and wants what they make.
func TestJoin(t *testing.T) {
	for _, c := range []struct {
		name    string
		packets []linkproto.Packet
		want    string // messages
		stats   Stats
		left    int // descriptors that still wait, of 4
	}{
		{"one packet", []linkproto.Packet{packet(1, 2, "ab")}, "1:ab", Stats{Received: 1}, 3},
		{"nothing in it", []linkproto.Packet{packet(1, 0, "")}, "1:", Stats{Received: 1}, 3},
		{"joined", []linkproto.Packet{packet(1, 5, "ab"), packet(1, 3, "cd"), packet(1, 1, "e")}, "1:abcde", Stats{Received: 1}, 3},
		{"rest is too little", []linkproto.Packet{packet(1, 1, "ab"), packet(1, 1, "c"), packet(2, 1, "d")}, "2:d", Stats{Received: 1, Malformed: 1}, 3},
		{"rest does not go on", []linkproto.Packet{packet(1, 5, "ab"), packet(1, 4, "cd"), packet(1, 2, "ef"), packet(2, 1, "g")}, "2:g", Stats{Received: 1, Malformed: 1}, 3},
		{"the tag changes", []linkproto.Packet{packet(1, 3, "ab"), packet(2, 1, "c"), packet(3, 1, "d")}, "3:d", Stats{Received: 1, Malformed: 1}, 3},
		{"no progress", []linkproto.Packet{packet(1, 3, ""), packet(1, 3, "abc"), packet(3, 1, "d")}, "3:d", Stats{Received: 1, Malformed: 1}, 3},
		{"another type", []linkproto.Packet{{Type: linkproto.TypeWrite, Data: []byte("x")}, packet(3, 1, "d")}, "3:d", Stats{Received: 1, Malformed: 1}, 3},
		{"too long for the context", []linkproto.Packet{packet(1, 21, "ab"), packet(1, 19, "0123456789012345678"), packet(3, 1, "d")}, "3:d", Stats{Received: 1, TooLong: 1}, 3},
		{"too long for the descriptor", []linkproto.Packet{packet(1, 11, "ab"), packet(1, 9, "012345678"), packet(3, 1, "d")}, "1!3:d", Stats{Received: 1, TooLong: 1}, 2},
	} {
		ctx, p := receiver(t, Options{Receives: 4, Longest: 20})
		for i := range 4 {
			check.Fatal(t, ctx.PostReceive(Receive{Data: make([]byte, 10), Cookie: uint64(i)}))
		}
		for _, m := range c.packets {
			if !p.Take(m) {
				t.Errorf("%s: left", c.name)
			}
		}
		have := ""
		for done := (Completion{}); ctx.Poll(&done); {
			if have += fmt.Sprint(done.Tag); done.Err != nil {
				check.Fails(t, c.name, done.Err, ErrTooLong, "node 2: ")
				have += "!"
				continue
			}
			have += ":" + string(done.Data)
		}
		check.Equal(t, c.name, have, c.want)
		check.Equal(t, c.name+", counts", ctx.Stats(), c.stats)
		check.Equal(t, c.name+", descriptors", ctx.posts.len(), c.left)
	}
}

// TestBrokenMessage: a message whose sender has ended gives its descriptor back, to the next message.
func TestBrokenMessage(t *testing.T) {
	c, p := receiver(t, Options{})
	check.Fatal(t, errors.Join(c.PostReceive(Receive{Data: make([]byte, 9), Cookie: 1}), c.PostReceive(Receive{Data: make([]byte, 9), Cookie: 2})))
	p.Take(packet(1, 5, "ab"))
	p.Broken()
	p.Take(packet(1, 3, "cde"))
	var done Completion
	if !c.Poll(&done) || done.Cookie != 1 || string(done.Data) != "cde" {
		t.Errorf("%+v", done)
	}
	check.Equal(t, "counts", c.Stats(), Stats{Received: 1, Broken: 1})
}

// TestRings: posts are refused when no descriptor is free, and Poll frees them.
func TestRings(t *testing.T) {
	c, p := receiver(t, Options{Receives: 2})
	check.Fatal(t, errors.Join(c.PostReceive(Receive{}), c.PostReceive(Receive{})))
	check.Fails(t, "a third receive", c.PostReceive(Receive{}), ErrFull, "2 receives are posted")
	p.Take(packet(1, 0, ""))
	check.Fails(t, "before Poll", c.PostReceive(Receive{}), ErrFull)
	var done Completion
	check.Equal(t, "polled", c.Poll(&done), true)
	check.Fatal(t, c.PostReceive(Receive{}))
	c.Close()
	check.Fails(t, "after Close", c.PostReceive(Receive{}), engine.ErrClosed)
}

// FuzzJoin: whatever a peer sends, what completes is what a message with its length would be, and no descriptor gets lost.
func FuzzJoin(f *testing.F) {
	f.Add([]byte{0, 3, 2, 0, 1, 1})
	f.Add([]byte{1, 200, 100, 0, 100, 100, 2, 0, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		const descriptors = 3
		c, p := receiver(t, Options{Receives: descriptors, Longest: 150})
		rng := rand.New(rand.NewPCG(1, 2))
		var room [100]byte
		for ; len(script) >= 3; script = script[3:] {
			if script[0]&0x80 != 0 {
				p.Broken()
			}
			data := bytes.Repeat([]byte{script[1]}, int(script[2]))
			m := linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: uint32(script[0] & 3), Rest: uint32(script[1]), Data: data}
			for !p.Take(m) {
				if c.posts.len() > 0 {
					t.Fatal("left though there is a descriptor")
				}
				c.starving, p.starves = nil, false
				c.left[1]--
				c.posts.push(Receive{Data: room[:rng.IntN(len(room))]})
			}
			for done := (Completion{}); c.Poll(&done); {
				if !done.Received || done.Node != 2 || done.Err != nil && len(done.Data) > 0 || len(done.Data) > len(room) {
					t.Fatalf("%+v", done)
				}
			}
			underway := 0
			if p.want > 0 {
				underway = 1
			}
			if have := c.left[1] + c.posts.len() + underway; have != descriptors {
				t.Fatalf("%d descriptors of %d are left", have, descriptors)
			}
		}
	})
}

// TestPeerErrors: what is wrong with a peer is an error of sockets too.
func TestPeerErrors(t *testing.T) {
	for why, want := range map[string]syscall.Errno{noAnswer: syscall.ETIMEDOUT, startedAgain: syscall.ECONNRESET, otherPages: syscall.EPROTO, noContext: syscall.ECONNREFUSED} {
		var err net.Error = &PeerError{2, why}
		check.Fails(t, why, err, ErrPeer, why)
		check.Fails(t, why, err, want)
		check.Equal(t, why, err.Timeout(), want == syscall.ETIMEDOUT)
	}
}
