package cluster_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// Environment of TestVictim: the served network interface, its peer, and whether the network interface carries the context out.
const victimTarget, victimPeer, victimEngine = "LMMC_TEST_VICTIM", "LMMC_TEST_VICTIM_PEER", "LMMC_TEST_VICTIM_ENGINE"

// engineOptions are those of a context that the network interface carries out: three of them have not enough frames.
var engineOptions = message.Options{Engine: true, Frames: 28, Longest: 3000}

const engineContext = 3 // the last one

// TestVictim is the program that TestMessagesKilled kills: with descriptors posted, and a message underway that its peer takes and one that it does not.
func TestVictim(t *testing.T) {
	target := os.Getenv(victimTarget)
	if target == "" {
		t.Skip("a program that TestMessagesKilled starts")
	}
	peer := check.Must(strconv.ParseUint(os.Getenv(victimPeer), 10, 16))(t)
	node := check.Must(hostdrv.OpenNode(t.Context(), target, hostdrv.Options{}, hostdrv.NodeOptions{}))(t)
	o, context, much := message.Options{}, 5, 500_000
	if os.Getenv(victimEngine) != "" {
		o, context, much = engineOptions, engineContext, engineOptions.Longest
	}
	c := check.Must(message.Open(t.Context(), node, context, o))(t)
	for range 3 {
		check.Fatal(t, c.PostReceive(message.Receive{Data: make([]byte, 5000)}))
	}
	check.Fatal(t, errors.Join(c.PostSend(message.Send{Node: uint16(peer), Data: make([]byte, 10)}), c.PostSend(message.Send{Node: uint16(peer), Data: make([]byte, much)})))
	check.Must(c.Wait(t.Context()))(t)
	fmt.Println("underway")
	check.Must(c.Wait(t.Context()))(t)
	t.Error("nobody killed it")
}

// TestMessagesKilled kills a program of a served network interface, in the middle of messages both ways: sends to it complete with an error, what came of its own is
// dropped, no virtual link stays open, and the next program has the context.
func TestMessagesKilled(t *testing.T) { onVirtual(t, testMessagesKilled) }

func testMessagesKilled(t *testing.T, rung string) {
	w, nis := programs(t, 2, rung)
	path := sockets(t, nis)
	open := func(i int) *message.Context {
		node := check.Must(hostdrv.OpenNode(t.Context(), "unix:"+path(i), hostdrv.Options{}, hostdrv.NodeOptions{}))(t)
		t.Cleanup(func() { check.Error(t, node.Close()) })
		return check.Must(message.Open(t.Context(), node, 5, message.Options{}))(t)
	}
	peer := open(1)
	for range 2 {
		check.Fatal(t, peer.PostReceive(message.Receive{Data: make([]byte, 500_000)}))
	}
	victim, said := startVictim(t, path(0), number(w, 1))
	check.Equal(t, "what came first", len(check.Must(peer.Wait(t.Context()))(t).Data), 10)
	const sends = 40 // more than there are descriptors for
	for range sends {
		check.Fatal(t, peer.PostSend(message.Send{Node: number(w, 0), Data: make([]byte, 5000)}))
	}
	killVictim(t, victim, said)

	arrived := 0
	for range sends {
		done := check.Must(peer.Wait(t.Context()))(t)
		if done.Received {
			t.Fatalf("%d bytes came", len(done.Data))
		}
		if done.Err == nil {
			arrived++
		} else if !errors.Is(done.Err, message.ErrPeer) {
			t.Fatal(done.Err)
		}
	}
	if window := 16; arrived > 3+window {
		t.Errorf("%d sends arrived at a program that had 3 descriptors", arrived)
	}
	if rung == offloading {
		for vl := 1; vl < int(check.Must(nis[0].ReadRegister(t.Context(), linkproto.RegVLNumbers))(t)); vl++ {
			check.Equal(t, fmt.Sprint("OPEN of virtual link ", vl), linkproto.VLOpen.Of(check.Must(nis[0].ReadRegister(t.Context(), linkproto.VLRegStatus.Reg(vl)))(t)), 0)
		}
	}
	next := open(0)
	check.Fatal(t, peer.PostSend(message.Send{Node: number(w, 0), Data: []byte("again")}))
	check.Fatal(t, next.PostReceive(message.Receive{Data: make([]byte, 10)}))
	check.Equal(t, "message after all", string(check.Must(next.Wait(t.Context()))(t).Data), "again")
	check.Fatal(t, next.PostSend(message.Send{Node: number(w, 1), Data: make([]byte, 400_000)}))
	for done := (message.Completion{}); !done.Received; { // in the descriptor that is free again
		done = check.Must(peer.Wait(t.Context()))(t)
		check.Fatal(t, done.Err)
	}
	check.Equal(t, "messages cut short", check.Must(peer.Stats())(t).Broken, 1)
}

// startVictim starts the program of TestVictim.
func startVictim(t *testing.T, path string, peer uint16, env ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	victim := exec.CommandContext(t.Context(), check.Must(os.Executable())(t), "-test.run=^TestVictim$")
	victim.Env = append(append(os.Environ(), victimTarget+"=unix:"+path, victimPeer+"="+strconv.Itoa(int(peer)), "GOCOVERDIR="+t.TempDir()), env...)
	victim.Stderr = os.Stderr
	said := check.Must(victim.StdoutPipe())(t)
	check.Fatal(t, victim.Start())
	return victim, said
}

// killVictim kills it when its messages are underway.
func killVictim(t *testing.T, victim *exec.Cmd, said io.Reader) {
	t.Helper()
	line := make([]byte, len("underway"))
	check.Must(io.ReadFull(said, line))(t)
	check.Equal(t, "what the program said", string(line), "underway")
	check.Fatal(t, victim.Process.Kill())
	victim.Wait()
}

// TestEngineKilled kills a program whose context the network interface carries out, with descriptors posted both ways: the context is disabled and its frames are free, its
// virtual link is closed and sends to it complete with an error, another context goes on, and the next program has this one.
func TestEngineKilled(t *testing.T) {
	w, nis := programs(t, 2, engines)
	path := sockets(t, nis)
	open := func(i, context int, o message.Options) *message.Context {
		node := check.Must(hostdrv.OpenNode(t.Context(), "unix:"+path(i), hostdrv.Options{}, hostdrv.NodeOptions{}))(t)
		t.Cleanup(func() { check.Error(t, node.Close()) })
		return check.Must(message.Open(t.Context(), node, context, o))(t)
	}
	near, far := open(0, engineContext-1, engineOptions), open(1, engineContext-1, engineOptions)
	for range 2 {
		peer := open(1, engineContext, engineOptions)
		check.Fatal(t, peer.PostReceive(message.Receive{Data: make([]byte, 10)}))
		victim, said := startVictim(t, path(0), number(w, 1), victimEngine+"=1")
		check.Equal(t, "what came first", len(check.Must(peer.Wait(t.Context()))(t).Data), 10)
		const sends, kept = 40, 4 // of which the network interface has room for few
		for range sends {
			check.Fatal(t, peer.PostSend(message.Send{Node: number(w, 0), Data: make([]byte, 3000)}))
		}
		killVictim(t, victim, said)
		arrived := 0
		for range sends {
			done := check.Must(peer.Wait(t.Context()))(t)
			if arrived += map[bool]int{true: 1}[done.Err == nil]; done.Received || done.Err != nil && !errors.Is(done.Err, message.ErrPeer) {
				t.Fatalf("%+v", done)
			}
		}
		if arrived > 3+kept+16 {
			t.Errorf("%d sends arrived at a program that had 3 descriptors", arrived)
		}
		check.Equal(t, "STATUS of its context", check.Must(nis[0].ReadRegister(t.Context(), linkproto.ContextRegStatus.Reg(engineContext)))(t), 0)
		passes(t, w, near, far, 1000)
		check.Fatal(t, peer.Close()) // which may have the other message of the victim
	}
	next, peer := open(0, engineContext, engineOptions), open(1, engineContext, engineOptions)
	passes(t, w, next, peer, 3000)
	check.Fatal(t, next.PostReceive(message.Receive{Data: make([]byte, 10)}))
	check.Fatal(t, peer.PostSend(message.Send{Node: number(w, 0), Data: []byte("again")}))
	check.Equal(t, "message after all", string(check.Must(next.Wait(t.Context()))(t).Data), "again")
}

// gone is a host whose program dies: it says nothing more.
type gone struct {
	hostdrv.Transport
	dead chan struct{}
}

func (g *gone) Exchange(x *hostdrv.Exchange) error {
	select {
	case <-g.dead:
		return errors.New("killed")
	default:
		return g.Transport.Exchange(x)
	}
}

// TestNextProgram: a program dies that has a network interface of its own, with sends to it that wait in STOP. The next program closes its virtual links before
// anything else, so peers hear within the time of all retries.
func TestNextProgram(t *testing.T) {
	w, nis := programs(t, 3, offloading)
	check.Fatal(t, nis[2].Close())
	cable := &gone{check.Must(w.Host(2))(t), make(chan struct{})}
	victim := check.Must(hostdrv.New(t.Context(), cable, hostdrv.Options{Seed: 7}))(t)
	list := contexts(t, append(nis[:2:2], victim), 1, message.Options{})
	for from := range 2 {
		for range 10 {
			check.Fatal(t, list[from].PostSend(message.Send{Node: number(w, 2), Data: make([]byte, 5000)}))
		}
	}
	check.Fatal(t, nis[0].Sleep(t.Context(), 2*time.Millisecond))
	close(cable.dead)
	check.Fails(t, "the program", victim.Sleep(t.Context(), time.Millisecond), hostdrv.ErrGone)
	check.Fatal(t, victim.Close())
	check.Fatal(t, nis[0].Sleep(t.Context(), 30*time.Millisecond))
	const taken = 3 // messages that fit a window whole: the network interface has them
	for _, p := range list[:2] {
		check.Equal(t, "sends to a dead program, while others wait", check.Must(p.Stats())(t), message.Stats{Sent: taken})
	}

	next := check.Must(hostdrv.New(t.Context(), check.Must(w.Host(2))(t), hostdrv.Options{Seed: 8}))(t)
	t.Cleanup(func() { check.Error(t, next.Close()) })
	node := check.Must(hostdrv.Start(t.Context(), next, hostdrv.NodeOptions{NoPorts: true}))(t)
	for vl := 1; vl <= 2; vl++ {
		check.Equal(t, "OPEN", linkproto.VLOpen.Of(check.Must(next.ReadRegister(t.Context(), linkproto.VLRegStatus.Reg(vl)))(t)), 0)
	}
	c := check.Must(message.Open(t.Context(), node, 1, message.Options{}))(t)
	check.Fatal(t, nis[0].Sleep(t.Context(), 20*time.Millisecond)) // 47 times RETRY are 12 ms
	for i, p := range list[:2] {
		check.Equal(t, "sends that failed", check.Must(p.Stats())(t), message.Stats{Sent: taken, Failed: 10 - taken})
		check.Fatal(t, errors.Join(c.PostReceive(message.Receive{Data: make([]byte, 10)}), p.PostSend(message.Send{Node: number(w, 2), Data: []byte{byte(i)}})))
		check.Equal(t, "message of the one after", check.Must(c.Wait(t.Context()))(t).Data, []byte{byte(i)})
	}
}

// TestCloseTellsPeers: a program that ends its network interface without closing contexts tells the peers, whoever carries out the virtual links, and whatever else it
// does meanwhile.
func TestCloseTellsPeers(t *testing.T) {
	for _, rung := range []string{cluster.Model, offloading, mixed} {
		t.Run(rung, func(t *testing.T) {
			w, nis := programs(t, 3, rung)
			list := contexts(t, nis, 1, message.Options{})
			for from := range 2 {
				for range 10 {
					check.Fatal(t, list[from].PostSend(message.Send{Node: number(w, 2), Data: make([]byte, 5000)}))
				}
			}
			check.Fatal(t, nis[0].Sleep(t.Context(), 2*time.Millisecond))
			var busy [4]<-chan error
			for i := range busy {
				busy[i] = check.Go(func() (err error) {
					for err == nil {
						err = nis[2].WriteBuffer(t.Context(), make([]byte, 900+10*i), 0)
					}
					return err
				})
			}
			begun := w.Ticks()
			check.Fatal(t, nis[2].Close())
			if took := w.Ticks() - begun; took > 100_000 {
				t.Errorf("Close took %d clocks", took)
			}
			for _, ended := range busy {
				check.Fails(t, "a request", <-ended, hostdrv.ErrClosed)
			}
			check.Fatal(t, nis[0].Sleep(t.Context(), 200*time.Microsecond)) // less than one RETRY
			for _, p := range list[:2] {
				if s := check.Must(p.Stats())(t); s.Failed == 0 || s.Failed+s.Sent != 10 {
					t.Errorf("%+v", s)
				}
			}
		})
	}
}
