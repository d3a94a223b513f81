package cluster_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// post is a message of messageWorld.
type post struct {
	from, to, size   int
	completed, taken bool
	err              error
	life             int // of the addressee's context when it was posted
}

// messageWorld is three nodes whose cables damage bits and are cut, and whose programs end and start again.
type messageWorld struct {
	t        *rapid.T
	world    *cluster.World
	nis      []*hostdrv.NI
	nodes    []*hostdrv.Node
	contexts []*message.Context
	lives    [3]int
	posts    []post
	last     [3][3]int // serial number that came last, by addressee and sender
	cut      [3]bool
	engine   bool // the NIs carry the contexts out
}

func newMessageWorld(t *rapid.T, top *topology.Topology, seed uint64, virtual int, engine bool) *messageWorld {
	config := cluster.Config{Topology: top, Seed: seed, Rung: cluster.Model, Virtual: virtual}
	if engine {
		config.Params.Contexts = 2
	}
	c := check.Must(cluster.Open(t.Context(), config))(t)
	m := &messageWorld{t: t, world: c.Programs(), engine: engine}
	t.Cleanup(func() { check.Error(t, m.world.Close()) })
	for i := range c.NIs {
		n := check.Must(hostdrv.New(t.Context(), check.Must(m.world.Host(i))(t), hostdrv.Options{Seed: seed + uint64(i)}))(t)
		t.Cleanup(func() { check.Error(t, n.Close()) })
		m.nis = append(m.nis, n)
		m.nodes = append(m.nodes, check.Must(hostdrv.Start(t.Context(), n, hostdrv.NodeOptions{NoPorts: true}))(t))
		m.contexts = append(m.contexts, nil)
		m.open(i)
	}
	return m
}

func (m *messageWorld) open(i int) {
	m.lives[i]++
	o := message.Options{Sends: 8, Receives: 4, Patience: 4 * time.Millisecond, Seed: uint64(1 + i + 10*m.lives[i])}
	if m.engine {
		o.Engine, o.Frames, o.Longest = true, 32, 6000
	}
	m.contexts[i] = check.Must(message.Open(m.t.Context(), m.nodes[i], 1, o))(m.t)
}

// restart ends a node's program and starts another one: what becomes of its sends nobody tells.
func (m *messageWorld) restart(i int) {
	check.Fatal(m.t, m.contexts[i].Close())
	for k := range m.posts {
		if m.posts[k].from == i {
			m.posts[k].completed = true
		}
	}
	m.open(i)
}

// data of a message is its serial number, over and over.
func data(serial, size int) []byte {
	return testbench.NewRand(uint64(serial)).Bytes(size)
}

func (m *messageWorld) send(from, to, size int) {
	serial := len(m.posts)
	err := m.contexts[from].PostSend(message.Send{Node: number(m.world, to), Tag: uint32(serial), Data: data(serial, size), Cookie: uint64(serial)})
	if err == nil {
		m.posts = append(m.posts, post{from: from, to: to, size: size, life: m.lives[to]})
	} else if !errors.Is(err, message.ErrFull) {
		m.t.Fatal(err)
	}
}

func (m *messageWorld) receive(i int) {
	if err := m.contexts[i].PostReceive(message.Receive{Data: make([]byte, 6000)}); err != nil && !errors.Is(err, message.ErrFull) {
		m.t.Fatal(err)
	}
}

// poll takes what has completed, and checks that each message comes once, whole and behind those of its sender that came before.
func (m *messageWorld) poll(i int) {
	for {
		var done message.Completion
		if !check.Must(m.contexts[i].Poll(&done))(m.t) {
			return
		}
		if !done.Received {
			m.posts[done.Cookie].completed, m.posts[done.Cookie].err = true, done.Err
			continue
		}
		serial := int(done.Tag)
		if done.Err != nil || serial >= len(m.posts) {
			m.t.Fatalf("%+v", done)
		}
		p := &m.posts[serial]
		if number(m.world, p.from) != done.Node || p.to != i || serial < m.last[i][p.from] || p.taken || string(done.Data) != string(data(serial, p.size)) {
			m.t.Fatalf("message %d of %+v came to %d from node %d with %d bytes, after %d", serial, *p, i, done.Node, len(done.Data), m.last[i][p.from])
		}
		p.taken, m.last[i][p.from] = true, serial
	}
}

func (m *messageWorld) sleep(d time.Duration) { check.Fatal(m.t, m.nis[0].Sleep(m.t.Context(), d)) }

func (m *messageWorld) pull(i int, cut bool) {
	m.cut[i] = cut
	check.Fatal(m.t, m.world.Between(func() error { return m.world.Cluster.Cut(i, cut) }))
}

// TestMessageWorld: whatever happens, messages come once, whole and in order, or their sends complete with an error; and those that completed without one have
// come, unless the addressee's program has ended.
func TestMessageWorld(t *testing.T) {
	top := check.Must(topology.Generate("star", []int{3}, 1))(t)
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.SampledFrom([]float64{0, 1e-5, 1e-4}).Draw(t, "bit error rate")
		for i := range top.Cables {
			top.Cables[i].BitErrorRate = rate
		}
		virtual := rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "numbers of virtual links")
		m := newMessageWorld(t, top, rapid.Uint64Range(1, 1000).Draw(t, "seed"), virtual, virtual > 0 && rapid.Bool().Draw(t, "contexts of the NIs"))
		node := func(what string) int { return rapid.IntRange(0, 2).Draw(t, what) }
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			i := node("node")
			switch rapid.SampledFrom([]string{"send", "send", "send", "receive", "receive", "sleep", "cut", "restart"}).Draw(t, "step") {
			case "send":
				m.send(i, (i+1+rapid.IntRange(0, 1).Draw(t, "to"))%3, rapid.SampledFrom([]int{0, 1, 64, 1021, 1022, 1500, 6000}).Draw(t, "size"))
			case "receive":
				m.receive(i)
			case "sleep":
				m.sleep(time.Duration(rapid.IntRange(1, 200).Draw(t, "µs")) * time.Microsecond)
			case "cut":
				m.pull(i, !m.cut[i])
			case "restart":
				m.restart(i)
			}
			m.poll(i)
		}
		for i := range m.cut {
			m.pull(i, false)
		}
		for rounds := 0; !m.over(); rounds++ {
			if rounds > 400 {
				t.Fatalf("%+v do not complete", m.posts)
			}
			for i := range m.nis {
				m.receive(i)
				m.poll(i)
			}
			m.sleep(100 * time.Microsecond)
		}
		for serial, p := range m.posts {
			if p.err != nil && !errors.Is(p.err, message.ErrPeer) || p.err == nil && p.life == m.lives[p.to] && m.lives[p.from] == 1 && !p.taken {
				t.Fatalf("message %d: %+v", serial, p)
			}
		}
	})
}

// over reports whether all sends have completed, and all that arrived is taken.
func (m *messageWorld) over() bool {
	for _, p := range m.posts {
		if !p.completed || p.err == nil && !p.taken && p.life == m.lives[p.to] && m.lives[p.from] == 1 {
			return false
		}
	}
	return true
}
