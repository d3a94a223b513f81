package cluster_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// TestEngineEnds has network interfaces end contexts by themselves, and another program disable them: the programs that have them are told which and why, those of this process
// and of another one, and other contexts go on. Opened again they send and receive.
func TestEngineEnds(t *testing.T) {
	for name, connect := range map[string]func(*testing.T, []*hostdrv.NI) func(int) *hostdrv.Node{"this process": started, "another process": served} {
		t.Run(name, func(t *testing.T) {
			w, nis := programs(t, 2, engines)
			open := connect(t, nis)
			near, far := open(0), open(1)
			testEngineEnds(t, w, nis[0], near, far, linkproto.ContextRegSendTail, 0x7000, "FAULT TAIL: a tail was written")
			testEngineEnds(t, w, nis[0], near, far, linkproto.ContextRegStatus, 0, "STATUS is 0: another program has disabled it")
		})
	}
}

// started has a node of this process on each network interface.
func started(t *testing.T, nis []*hostdrv.NI) func(i int) *hostdrv.Node {
	return func(i int) *hostdrv.Node {
		return check.Must(hostdrv.Start(t.Context(), nis[i], hostdrv.NodeOptions{NoPorts: true}))(t)
	}
}

// testEngineEnds writes a register of a context, which ends it.
func testEngineEnds(t *testing.T, w *cluster.World, ni *hostdrv.NI, near, far *hostdrv.Node, reg linkproto.ContextReg, value uint32, why string) {
	t.Helper()
	open := func(node *hostdrv.Node, number int) *message.Context {
		return check.Must(message.Open(t.Context(), node, number, message.Options{Engine: true, Frames: 24, Longest: 1000, Patience: 2 * time.Millisecond}))(t)
	}
	ended, other, peer := open(near, 1), open(near, 2), open(far, 2)
	check.Fatal(t, ni.WriteRegister(t.Context(), reg.Reg(1), value))
	ctx, cancel := near.WithTimeout(t.Context(), 20*time.Millisecond)
	_, err := ended.Wait(ctx)
	cancel()
	check.Fails(t, "a wait", err, message.ErrEnded, "context 1: ", why, "open it again")
	check.Fails(t, "a send", ended.PostSend(message.Send{Node: number(w, 1)}), message.ErrEnded, why)
	check.Fatal(t, ended.Close())
	passes(t, w, other, peer, 1000)
	again, met := open(near, 1), open(far, 1)
	passes(t, w, again, met, 0)
	check.Fails(t, "a longer one than there is room for", again.PostSend(message.Send{Node: number(w, 1), Data: make([]byte, 1001)}), message.ErrTooLong, "at most 1000")
	for _, c := range []*message.Context{other, peer, again, met} {
		check.Fatal(t, c.Close())
	}
}

// passes wants a message of so many bytes from node 0 to node 1.
func passes(t *testing.T, w *cluster.World, from, to *message.Context, size int) {
	t.Helper()
	data := testbench.NewRand(uint64(size)).Bytes(size)
	check.Fatal(t, to.PostReceive(message.Receive{Data: make([]byte, size)}))
	check.Fatal(t, from.PostSend(message.Send{Node: number(w, 1), Data: data}))
	if got := check.Must(to.Wait(t.Context()))(t); got.Err != nil || !bytes.Equal(got.Data, data) {
		t.Errorf("a message of %d bytes: %d, %v", size, len(got.Data), got.Err)
	}
	check.Fatal(t, check.Must(from.Wait(t.Context()))(t).Err)
}

// TestEngineWidth refuses contexts of network interfaces of another width than their RTL has.
func TestEngineWidth(t *testing.T) {
	config := cluster.Config{Topology: check.Must(topology.Generate("star", []int{2}, 1))(t), Virtual: 3}
	config.Params.Contexts, config.Params.Width = 2, 4
	check.Fails(t, "contexts at width 4", check.Err(cluster.Open(t.Context(), config)), nil, "width 4", "at width 1", "leave contexts out")
}
