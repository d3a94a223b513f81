package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/socket"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// TestIdleNetworkRests counts the clocks of a live network in ten seconds of real time, in which its programs wait for messages and connections: a thousandth of what a simulation
// does that runs all the time. A message that is posted then passes at once, and so does time that somebody waits for.
func TestIdleNetworkRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: check.Must(topology.Generate("star", []int{2}, 1))(t), Seed: 1, Rung: cluster.Model}))(t)
		check.Fatal(t, c.Watch())
		w := c.LivePrograms()
		var contexts []*message.Context
		var nis []*hostdrv.NI
		for i := range c.NIs {
			n := check.Must(hostdrv.New(t.Context(), check.Must(w.Host(i))(t), hostdrv.Options{Seed: uint64(1 + i)}))(t)
			node := check.Must(hostdrv.Start(t.Context(), n, hostdrv.NodeOptions{NoPorts: true}))(t)
			s := check.Must(socket.Open(t.Context(), node, socket.Options{Seed: 1}))(t)
			defer s.Close()
			l := check.Must(s.Listen("tcp", ":9"))(t)
			go l.Accept()
			contexts, nis = append(contexts, check.Must(message.Open(t.Context(), node, 1, message.Options{Seed: 1}))(t)), append(nis, n)
		}
		came := make(chan message.Completion, 1)
		check.Fatal(t, contexts[1].PostReceive(message.Receive{Data: make([]byte, 10)}))
		go func() { came <- check.Must(contexts[1].Wait(t.Context()))(t) }()
		time.Sleep(time.Second)
		synctest.Wait()
		const idle = 10 * time.Second
		before := w.Ticks()
		time.Sleep(idle)
		if ticks := w.Ticks() - before; ticks == 0 || ticks > 600*uint64(idle/(2*time.Millisecond)) {
			t.Errorf("%d clocks in %v, want some 512 in each 2 ms", ticks, idle)
		}
		begun := time.Now()
		check.Fatal(t, contexts[0].PostSend(message.Send{Node: number(w, 1), Data: []byte("hello")}))
		if done := <-came; string(done.Data) != "hello" || time.Since(begun) > 0 {
			t.Errorf("%q came after %v", done.Data, time.Since(begun))
		}
		check.Fatal(t, nis[0].Sleep(t.Context(), 10*time.Millisecond))
		if took := time.Since(begun); took > 10*time.Millisecond {
			t.Errorf("10 ms of the network's time took %v with rests", took)
		}
		for i, n := range nis {
			check.Fatal(t, contexts[i].Close())
			defer func() { check.Error(t, n.Close()) }()
		}
		go w.Close()
	})
}
