package collective_test

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// TestTwo: over two networks, where members have other numbers in the second, all algorithms make barriers and what other calls send stays in order; both networks carry messages.
func TestTwo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "members")
		seed := rapid.Uint64().Draw(t, "seed")
		o := collective.Options{Members: members(n), Barrier: rapid.SampledFrom(collective.Barriers()).Draw(t, "algorithm"), Multicast: linkproto.MulticastBase}
		f := newFake(2*n, seed)
		var seconds []uint16
		for i := range n {
			seconds = append(seconds, uint16(2*n-i))
		}
		var groups []*collective.Group
		for i := range n {
			twin := collective.NewTwin(f.ends[i], f.ends[2*n-i-1], i, o.Members, seconds)
			groups = append(groups, check.Must(collective.Over(twin, uint16(i+1), o))(t))
		}
		run := barriers(context.Background(), 3)
		for rank, err := range each(groups, func(g *collective.Group) error {
			if err := run(g); err != nil {
				return err
			}
			data := make([]byte, 8*2000)
			data[0] = 1
			for range 2 {
				if err := g.AllReduce(context.Background(), data, sum); err != nil {
					return err
				}
			}
			if int(data[0])+256*int(data[1]) != n*n {
				return fmt.Errorf("the sum is % x", data[:8])
			}
			return g.Close(context.Background())
		}) {
			if err != nil {
				t.Fatalf("member %d: %v", rank, err)
			}
		}
		sent := [2]int{}
		for i, e := range f.ends {
			sent[i/n] += e.sent
		}
		if sent[0] == 0 || n > 2 && sent[1] == 0 {
			t.Errorf("messages by the two networks: %v", sent)
		}
	})
}

// TestTwoCluster opens groups by two network interfaces of each node.
func TestTwoCluster(t *testing.T) {
	top := check.Must(topology.Generate("star", []int{6}, 1))(t)
	nodes := openNodes(t, cluster.Config{Topology: top, Seed: 1, Rung: cluster.Model, Barriers: true})
	seconds := []uint16{4, 5, 6}
	for context, o := range map[int]collective.Options{1: {Barrier: "shuffle"}, 2: {Barrier: "concurrent"}, 3: {Topology: top}} {
		o.Members, o.Context = members(3), context
		var groups []*collective.Group
		for i := range o.Members {
			groups = append(groups, check.Must(collective.OpenTwo(t.Context(), nodes[i], nodes[3+i], seconds, o))(t))
		}
		want(t, o.Barrier, each(groups, barriers(t.Context(), 3)))
		closed(t, groups)
	}
	o := collective.Options{Members: members(3), Context: 5}
	for text, open := range map[string]func() (*collective.Group, error){
		"3 members have 2 numbers": func() (*collective.Group, error) {
			return collective.OpenTwo(t.Context(), nodes[0], nodes[3], seconds[:2], o)
		},
		"node 1 is member 0 in the first network, and node 5 another": func() (*collective.Group, error) {
			return collective.OpenTwo(t.Context(), nodes[0], nodes[4], seconds, o)
		},
		"node 1 is no member": func() (*collective.Group, error) {
			return collective.OpenTwo(t.Context(), nodes[0], nodes[0], seconds, o)
		},
	} {
		check.Fails(t, text, check.Err(open()), collective.ErrOption, text)
	}
	for _, node := range []*hostdrv.Node{nodes[0], nodes[3]} { // what was opened meanwhile is closed
		o.Members = []uint16{1, 4}
		want(t, "free again", []error{check.Must(collective.Open(t.Context(), node, o))(t).Close(t.Context())})
	}
}
