package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/drivertest"
	models "github.com/stafflink/lmmc/testbench/model"
	"github.com/stafflink/lmmc/testbench/modelsim"
)

// hurried is a simulation whose time counts as that of a board: servers and programs look at memory before they sleep.
type hurried struct{ hostdrv.Transport }

func (h hurried) Timing() hostdrv.Timing {
	timing := h.Transport.Timing()
	timing.VirtualTime = false
	return timing
}

// onEachTime runs a test where time stands still unless somebody waits, and where it does not.
func onEachTime(t *testing.T, run func(t *testing.T, s *served, far *hostdrv.Node)) {
	for name, wrap := range map[string]func(string, hostdrv.Transport) hostdrv.Transport{
		"virtual": nil, "real": func(_ string, t hostdrv.Transport) hostdrv.Transport { return hurried{t} },
	} {
		t.Run(name, func(t *testing.T) {
			s, far := pair(t, models.Config{Routes: true}, wrap)
			run(t, s, far)
		})
	}
}

// pair is a network interface that is served, and the node of another one at its first link.
func pair(t *testing.T, config models.Config, wrap func(string, hostdrv.Transport) hostdrv.Transport) (*served, *hostdrv.Node) {
	t.Helper()
	network := check.Must(modelsim.New(modelsim.Config{NI: config, NIs: 2, Cables: []modelsim.Cable{{A: 0, LinkA: 1, B: 1, LinkB: 1}}}))(t)
	t.Cleanup(func() { network.Close() })
	var nodes [2]*hostdrv.Node
	for i := range nodes {
		o := hostdrv.Options{NodeID: uint16(1 + i), Seed: uint64(1 + i), Wrap: wrap}
		n := check.Must(hostdrv.New(t.Context(), check.Must(network.Host(i))(t), o))(t)
		t.Cleanup(func() { n.Close() })
		nodes[i] = check.Must(hostdrv.Start(t.Context(), n, hostdrv.NodeOptions{NoPorts: true}))(t)
	}
	return beginNode(t, nodes[0], serve.Options{}), nodes[1]
}

const patience = 20 * time.Millisecond

// exchanges has a program send to the other node, and wants what comes there.
func exchanges(t *testing.T, from, to *message.Context) {
	t.Helper()
	for i := range 3 {
		text := fmt.Sprint("message ", i)
		check.Fatal(t, to.PostReceive(message.Receive{Data: make([]byte, 100)}))
		check.Fatal(t, from.PostSend(message.Send{Node: 2, Data: []byte(text)}))
		if done := check.Must(to.Wait(t.Context()))(t); string(done.Data) != text || done.Err != nil {
			t.Fatalf("%q: %+v", text, done)
		}
		if done := check.Must(from.Wait(t.Context()))(t); done.Received || done.Err != nil {
			t.Fatalf("%q was sent: %+v", text, done)
		}
	}
}

// rings is a context of a raw client.
func (r *raw) rings(number uint64) (handle uint32, rings *sharing.Rings, memory []byte) {
	r.t.Helper()
	r.say(sharing.Message{Op: sharing.OpContext, Value: number, Data: []byte("{}")})
	a, fd := r.hear()
	for a.Op == sharing.OpMessageCame { // of one before
		a, fd = r.hear()
	}
	r.done(a, fd)
	var info sharing.ContextInfo
	check.Fatal(r.t, json.Unmarshal(a.Data, &info))
	memory = check.Must(unix.Mmap(fd, 0, info.Bytes(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED))(r.t)
	r.t.Cleanup(func() { unix.Munmap(memory) })
	if err := unix.Ftruncate(fd, 0); !errors.Is(err, syscall.EPERM) {
		r.t.Errorf("a program makes the memory shorter: %v", err)
	}
	return a.Port, check.Must(info.Rings(memory))(r.t), memory
}

// TestRingsAreChecked has programs post what they must not: their contexts end, with why, and nothing else does.
func TestRingsAreChecked(t *testing.T) {
	onEachTime(t, func(t *testing.T, s *served, far *hostdrv.Node) {
		near := check.Must(message.Open(t.Context(), s.open(t), 1, message.Options{}))(t)
		to := check.Must(message.Open(t.Context(), far, 1, message.Options{}))(t)
		exchanges(t, near, to)
		r := s.greeted(t)
		for _, c := range []struct {
			post func(*sharing.Rings)
			want string
		}{
			{func(x *sharing.Rings) { x.Sends.Post(64, sharing.Post{Node: 2}) }, "65 are posted after 0, in a ring of 64"},
			{func(x *sharing.Rings) { x.Receives.Post(1<<40, sharing.Post{}) }, "in a ring of 64"},
			{func(x *sharing.Rings) { x.Sends.Post(0, sharing.Post{Node: 2, Offset: sharing.AreaBytes, Length: 1}) }, "bytes 16777216 to 16777217, there are 16777216"},
			{func(x *sharing.Rings) { x.Receives.Post(0, sharing.Post{Offset: 1<<32 - 1, Length: 1<<32 - 1}) }, "number 0 is of bytes 4294967295 to 6442450942"},
			{func(x *sharing.Rings) { x.Sends.Post(0, sharing.Post{Node: 2, Length: message.MaxMessage + 1}) }, "the message is too long"},
			{func(x *sharing.Rings) { x.Sends.Post(0, sharing.Post{}) }, "node 0, for context 9 of node 1"},
			{func(x *sharing.Rings) { x.Sends.Post(0, sharing.Post{Node: 1}) }, "node 1, for context 9 of node 1"},
		} {
			handle, rings, _ := r.rings(9)
			c.post(rings)
			if !rings.Wake() {
				t.Fatal("the server looks at rings in which nothing was posted")
			}
			r.say(sharing.Message{Op: sharing.OpMessagePosted, Port: handle})
			m, _ := r.hear()
			if f := failure(t, m); m.Op != sharing.OpEnded || m.Port != handle || !strings.Contains(f.Text, c.want) {
				t.Errorf("told %d %q, want %q", m.Op, f.Text, c.want)
			}
			r.done(r.ask(sharing.Message{Op: sharing.OpContextClose, Port: handle}))
		}
		handle, rings, _ := r.rings(9)
		for i := range uint64(64) {
			rings.Receives.Post(i, sharing.Post{})
		}
		rings.Wake()
		r.say(sharing.Message{Op: sharing.OpMessagePosted, Port: handle})
		for !rings.Wake() { // until it has looked
		}
		rings.Receives.Post(64, sharing.Post{})
		rings.Want(1 << 60) // which never comes, and harms nobody
		if f := failure(t, first(r.ask(sharing.Message{Op: sharing.OpMessagePosted, Port: handle}))); !strings.Contains(f.Text, "number 64: the ring has no free descriptor") {
			t.Errorf("more than there are descriptors: %q", f.Text)
		}
		exchanges(t, near, to)
	})
}

func first(m sharing.Message, _ int) sharing.Message { return m }

// answer is hear without what is told to who waits.
func (r *raw) answer() sharing.Message {
	for {
		if m, _ := r.hear(); m.Op != sharing.OpMessageCame {
			return m
		}
	}
}

// beside is ask for a client whose rings may say that it waits.
func (r *raw) beside(m sharing.Message) sharing.Message {
	r.say(m)
	return r.answer()
}

// TestPostedWithoutCall: of descriptors that are posted while the server looks it need not be told.
func TestPostedWithoutCall(t *testing.T) {
	onEachTime(t, func(t *testing.T, s *served, far *hostdrv.Node) {
		to := check.Must(message.Open(t.Context(), far, 3, message.Options{}))(t)
		r := s.greeted(t)
		handle, rings, _ := r.rings(3)
		for i := range uint64(8) {
			check.Fatal(t, to.PostReceive(message.Receive{Data: make([]byte, 1)}))
			rings.Sends.Post(i, sharing.Post{Index: uint16(i), Node: 2, Tag: uint32(i), Length: 1})
			check.Equal(t, "the server is to be told", rings.Wake(), i == 0)
		}
		r.say(sharing.Message{Op: sharing.OpMessagePosted, Port: handle})
		for i := range uint32(8) {
			check.Equal(t, "tag", check.Must(to.Wait(t.Context()))(t).Tag, i)
		}
		for seen := uint64(0); seen < 8; seen = rings.Done.Count() {
			if rings.Want(seen); rings.Wake() {
				r.say(sharing.Message{Op: sharing.OpMessagePosted, Port: handle})
			}
			if m, _ := r.hear(); m.Op != sharing.OpMessageCame || m.Port != handle {
				t.Fatalf("told %+v", m)
			}
		}
		check.Equal(t, "completion", rings.Done.Completed(7), sharing.Done{Index: 7, Node: 2, Tag: 7, Length: 1})
		for !rings.Wake() { // it has looked for long enough
		}
	})
}

// TestPollAlone has a program only poll for what it has posted one by one: the server hears of all of it, though it looks no more when the second one is posted.
func TestPollAlone(t *testing.T) {
	onEachTime(t, func(t *testing.T, s *served, far *hostdrv.Node) {
		near := check.Must(message.Open(t.Context(), s.open(t), 4, message.Options{}))(t)
		from := check.Must(message.Open(t.Context(), far, 4, message.Options{}))(t)
		for range 2 {
			check.Fatal(t, near.PostReceive(message.Receive{Data: make([]byte, 1)}))
			time.Sleep(time.Millisecond)
			check.Fatal(t, from.PostSend(message.Send{Node: 1, Data: make([]byte, 1)}))
		}
		over := check.Go(func() error { return far.NI().Sleep(t.Context(), 10*patience) })
		var done message.Completion
		for came := 0; came < 2; {
			if check.Must(near.Poll(&done))(t) {
				came++
			}
			select {
			case err := <-over:
				t.Fatalf("%d messages came: %v", came, err)
			default:
			}
		}
	})
}

// TestCastRefused: a message to a multicast group that does not go in one packet is refused, and the context goes on.
func TestCastRefused(t *testing.T) {
	onEachTime(t, func(t *testing.T, s *served, far *hostdrv.Node) {
		near := check.Must(message.Open(t.Context(), s.open(t), 1, message.Options{}))(t)
		to := check.Must(message.Open(t.Context(), far, 1, message.Options{}))(t)
		most := linkproto.MaxPacket(far.Identity().PageBytes) - linkproto.HeaderBytes - linkproto.TypeMessage.Info().MinLength() - 4 // the tag
		for _, c := range []*message.Context{near, to} {
			check.Fails(t, "more than goes in a packet", c.PostSend(message.Send{Node: linkproto.MulticastBase, Data: make([]byte, most+1)}), message.ErrTooLong, "multicast group")
			check.Fatal(t, c.PostSend(message.Send{Node: linkproto.MulticastBase, Data: make([]byte, most)}))
			check.Error(t, check.Must(c.Wait(t.Context()))(t).Err)
		}
		exchanges(t, near, to)
	})
}

// TestSendIntoSilence posts a message to a multicast group when the network interface does not answer: it has not been sent.
func TestSendIntoSilence(t *testing.T) {
	c := &drivertest.Cable{}
	o := hostdrv.Options{NodeID: 1, LinkTimeout: 20 * time.Millisecond, Wrap: func(_ string, inner hostdrv.Transport) hostdrv.Transport { c.Transport = inner; return c }}
	node := check.Must(hostdrv.OpenNode(t.Context(), "model:?routes=1", o, hostdrv.NodeOptions{NoPorts: true}))(t)
	near := check.Must(message.Open(t.Context(), beginNode(t, node, serve.Options{}).open(t), 1, message.Options{}))(t)
	c.CutAfter(0, 1<<29, true, true)
	check.Fails(t, "a cut cable", check.Err(node.NI().ReadRegister(t.Context(), linkproto.RegScratch)), hostdrv.ErrSilent)
	check.Fatal(t, near.PostSend(message.Send{Node: linkproto.MulticastBase, Data: []byte{1}}))
	check.Fails(t, "a message by it", check.Must(near.Wait(t.Context()))(t).Err, hostdrv.ErrSilent)
}

// TestMessageBuffers sends of memory that the server sees, and receives into it: what comes is where it was wanted, and stays there.
func TestMessageBuffers(t *testing.T) {
	onEachTime(t, func(t *testing.T, s *served, far *hostdrv.Node) {
		near := check.Must(message.Open(t.Context(), s.open(t), 2, message.Options{}))(t)
		to := check.Must(message.Open(t.Context(), far, 2, message.Options{}))(t)
		out, in := check.Must(near.Buffer(5000))(t), check.Must(near.Buffer(5000))(t)
		copy(out, testbench.NewRand(1).Bytes(len(out)))
		check.Fatal(t, to.PostReceive(message.Receive{Data: make([]byte, 5000)}))
		check.Fatal(t, near.PostSend(message.Send{Node: 2, Data: out[1:]}))
		got := check.Must(to.Wait(t.Context()))(t)
		check.Equal(t, "what was sent", string(got.Data), string(out[1:]))
		check.Fatal(t, near.PostReceive(message.Receive{Data: in[1:]}))
		check.Fatal(t, to.PostSend(message.Send{Node: 1, Data: got.Data}))
		for done := check.Must(near.Wait(t.Context()))(t); !done.Received; {
			done = check.Must(near.Wait(t.Context()))(t)
		}
		check.Fatal(t, near.Close())
		check.Equal(t, "what came", string(in[1:]), string(out[1:]))
		_, err := near.Buffer(1)
		check.Fails(t, "memory of a closed context", err, hostdrv.ErrClosed)
	})
}

// TestRingsScribbled writes anything into the memory of contexts, while the server uses it.
func TestRingsScribbled(t *testing.T) {
	onEachTime(t, func(t *testing.T, s *served, far *hostdrv.Node) {
		near := check.Must(message.Open(t.Context(), s.open(t), 1, message.Options{}))(t)
		to := check.Must(message.Open(t.Context(), far, 1, message.Options{}))(t)
		r, ended := s.greeted(t), 0
		handle, _, memory := r.rings(9)
		descriptors := memory[:len(memory)-sharing.AreaBytes]
		rng := testbench.NewRand(testbench.TestSeed(t))
		for range 300 {
			for range 1 + rng.IntN(8) { // counts more often than anything else
				at := rng.IntN(3) * 64
				if rng.IntN(2) == 0 {
					at = rng.IntN(len(descriptors)/4) * 4
				}
				descriptors[at+rng.IntN(4)] = byte(rng.IntN(70))
			}
			r.say(sharing.Message{Op: sharing.OpMessagePosted, Port: handle})
			if a := r.beside(sharing.Message{Op: sharing.OpMessageStats, Port: handle}); a.Op == sharing.OpEnded {
				r.answer()
				r.done(r.beside(sharing.Message{Op: sharing.OpContextClose, Port: handle}), -1)
				handle, _, memory = r.rings(9)
				descriptors = memory[:len(memory)-sharing.AreaBytes]
				ended++
			}
		}
		if ended < 10 {
			t.Errorf("%d contexts ended", ended)
		}
		exchanges(t, near, to)
	})
}

// chat exchanges messages with node 2 until it is killed.
func chat(ctx context.Context, node *hostdrv.Node) {
	c := try.Get(message.Open(ctx, node, 7, message.Options{}))
	for range 32 {
		try.OK(c.PostReceive(message.Receive{Data: make([]byte, 5000)}))
	}
	send := func() { try.OK(c.PostSend(message.Send{Node: 2, Data: make([]byte, 5000)})) }
	for range 32 {
		send()
	}
	fmt.Println("chatting")
	for {
		if done := try.Get(c.Wait(ctx)); !done.Received {
			send()
		}
	}
}

// mappings is how many memories of contexts this process has mapped.
func mappings(t *testing.T) int {
	t.Helper()
	return strings.Count(string(check.Must(os.ReadFile("/proc/self/maps"))(t)), "memfd:lmmc-messages")
}

// TestMessagesKilled kills a program in the middle of its messages: its peer is told, its descriptors and memory are given back, other programs go on, and the next one has
// the context as if it were the first.
func TestMessagesKilled(t *testing.T) {
	onEachTime(t, func(t *testing.T, s *served, far *hostdrv.Node) {
		near := check.Must(message.Open(t.Context(), s.open(t), 1, message.Options{}))(t)
		to := check.Must(message.Open(t.Context(), far, 1, message.Options{}))(t)
		s.expect(t, "came")
		before := mappings(t)
		for range 2 {
			peer := check.Must(message.Open(t.Context(), far, 7, message.Options{Patience: patience}))(t)
			victim := start(t, s.command(t, "chat"))
			victim.says(t, "chatting")
			for range 40 {
				check.Fatal(t, peer.PostReceive(message.Receive{Data: make([]byte, 5000)}))
				if done := check.Must(peer.Wait(t.Context()))(t); !done.Received || len(done.Data) != 5000 {
					t.Fatalf("%+v", done)
				}
			}
			for range 40 { // more than it takes
				check.Fatal(t, peer.PostSend(message.Send{Node: 1, Data: make([]byte, 5000)}))
			}
			check.Fatal(t, victim.Process.Signal(syscall.SIGKILL))
			lost := 0
			for range 40 {
				if done := check.Must(peer.Wait(t.Context()))(t); errors.Is(done.Err, message.ErrPeer) {
					lost++
				}
			}
			if lost == 0 {
				t.Error("all sends to a program with 32 descriptors, which was killed, completed without an error")
			}
			s.expect(t, "came", "went")
			exchanges(t, near, to)
			check.Fatal(t, peer.Close())
		}
		check.Equal(t, "mappings of contexts", mappings(t), before)
	})
}
