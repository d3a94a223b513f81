package verilator_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

var node = verilator.Design{Top: "node", Sources: []string{"testdata/node.v"}, Optimize: verilator.Full}

type nodePorts struct {
	Rst   *bool   `port:"rst"`
	ID    *uint32 `port:"id"`
	State *uint64 `port:"state"`
	Seen  *uint32 `port:"seen"`
}

// ringOf links n nodes in a ring and resets them.
func ringOf(t testing.TB, design verilator.Design, n, threads, latency int, rate float64) (*verilator.Network, []nodePorts, []*verilator.Link) {
	lib := build(t, design)
	models := make([]*verilator.Model, n)
	clocks := make([]*verilator.Clock, n)
	ports := make([]nodePorts, n)
	for i := range n {
		models[i] = start(t, lib, verilator.Config{Name: fmt.Sprint("node", i), Seed: uint64(i)})
		clocks[i] = must(models[i].Clock("clk", 4, 0))
		check.Fatal(t, models[i].Bind(&ports[i]))
		*ports[i].Rst, *ports[i].ID = true, uint32(i+1)
	}
	links := make([]*verilator.Link, n)
	for i := range n {
		links[i] = must(verilator.Connect(verilator.LinkConfig{From: clocks[i], To: clocks[(i+1)%n], Output: "right", Input: "left",
			Latency: latency, BitErrorRate: rate, Seed: uint64(i)}))
	}
	net := must(verilator.NewNetwork(threads, models...))
	t.Cleanup(func() { net.Close() })
	check.Fatal(t, net.Run(3))
	for i := range n {
		*ports[i].Rst = false
	}
	return net, ports, links
}

func TestNetworkDoesNotDependOnThreads(t *testing.T) {
	for _, latency := range []int{1, 3, 50} {
		var want string
		for _, threads := range []int{1, 2, 3} {
			for _, chunk := range []uint64{1, 37, 150} {
				net, ports, links := ringOf(t, node, 7, threads, latency, 0.01)
				for ran := uint64(0); ran < 150; ran += chunk {
					check.Fatal(t, net.Run(min(chunk, 150-ran)))
				}
				got := ""
				for i, p := range ports {
					got += fmt.Sprintf("%x %x %+v\n", *p.State, *p.Seen, links[i].Stats())
				}
				if want == "" {
					want = got
				}
				check.Equal(t, fmt.Sprintf("latency %d, %d threads, chunks of %d", latency, threads, chunk), got, want)
			}
		}
	}
}

// A ring cut in two networks, which exchange what crosses between them, does what the ring does.
func TestOutside(t *testing.T) {
	const nodes, cycles = 6, 200
	for _, latency := range []int{2, 5, 40} {
		for _, rate := range []float64{0, 0.01} {
			whole, wantPorts, wantLinks := ringOf(t, node, nodes, 1, latency, rate)
			check.Fatal(t, whole.Run(cycles))

			lib := build(t, node)
			ports := make([]nodePorts, nodes)
			links := make([]*verilator.Link, nodes)
			var outlets, inlets [2]*verilator.Link
			var nets [2]*verilator.Network
			for part := range nets {
				var models []*verilator.Model
				var clocks []*verilator.Clock
				for i := part * nodes / 2; i < (part+1)*nodes/2; i++ {
					m := start(t, lib, verilator.Config{Name: fmt.Sprint("node", i), Seed: uint64(i)})
					models, clocks = append(models, m), append(clocks, must(m.Clock("clk", 4, 0)))
					check.Fatal(t, m.Bind(&ports[i]))
					*ports[i].Rst, *ports[i].ID = true, uint32(i+1)
				}
				for k := range len(models) + 1 {
					c := verilator.LinkConfig{Output: "right", Input: "left", Latency: latency, BitErrorRate: rate}
					from := (part*nodes/2 + k + nodes - 1) % nodes
					c.Seed = uint64(from)
					if k > 0 {
						c.From = clocks[k-1]
					}
					if k < len(models) {
						c.To = clocks[k]
					}
					l := must(verilator.Connect(c))
					switch {
					case c.To == nil:
						outlets[part] = l
					case c.From == nil:
						inlets[part] = l
					}
					if c.To != nil {
						links[from] = l
					}
				}
				nets[part] = must(verilator.NewNetwork(1, models...))
				defer nets[part].Close()
			}
			run := func(cycles int) {
				for cycles > 0 {
					n := min(cycles, latency-1)
					for _, net := range nets {
						check.Fatal(t, net.Run(uint64(n)))
					}
					for part := range nets {
						samples := make([]uint64, n+1)
						check.Equal(t, "samples taken", outlets[part].Take(samples), n)
						check.Equal(t, "samples put", inlets[1-part].Put(samples[:n]), n)
					}
					cycles -= n
				}
			}
			run(3)
			for i := range ports {
				*ports[i].Rst = false
			}
			run(cycles)
			for i := range ports {
				check.Equal(t, fmt.Sprintf("latency %d, rate %v, node %d", latency, rate, i), fmt.Sprintf("%x %x %+v", *ports[i].State, *ports[i].Seen, links[i].Stats()),
					fmt.Sprintf("%x %x %+v", *wantPorts[i].State, *wantPorts[i].Seen, wantLinks[i].Stats()))
			}
			if err := nets[0].Run(uint64(latency)); err == nil {
				t.Errorf("latency %d: a network runs further than what comes from outside", latency)
			}
			if n := outlets[0].Put([]uint64{1}) + inlets[0].Take(make([]uint64, 1)); n != 0 {
				t.Errorf("%d samples go the wrong way", n)
			}
		}
	}
	if _, err := verilator.Connect(verilator.LinkConfig{Output: "right", Input: "left", Latency: 2}); err == nil {
		t.Error("a link from outside to outside is made")
	}
}

// A link of latency n is n registers: the ring is compared with one wired by hand, one cycle at a time.
func TestLinkLatency(t *testing.T) {
	for latency := 1; latency <= 4; latency++ {
		m := start(t, build(t, echo), verilator.Config{})
		clk := must(m.Clock("clk", 2, 0))
		must(verilator.Connect(verilator.LinkConfig{From: clk, To: clk, Output: "tx[20:12]", Input: "rx[8:0]", Latency: latency}))
		m.Poke("rx_valid", 1)
		for cycle := range uint64(20) {
			m.Poke("rx[20:12]", cycle)
			check.Fatal(t, m.Run(1))
			// One edge into tx, latency edges over the link, as seen just after an edge.
			want := int64(cycle) - int64(latency)
			if got := must(m.Peek("rx[8:0]")); want >= 0 && got != uint64(want) {
				t.Fatalf("latency %d, cycle %d: %d arrived, want %d", latency, cycle, got, want)
			}
		}
	}
}

func TestFaultPlan(t *testing.T) {
	m := start(t, build(t, echo), verilator.Config{})
	clk := must(m.Clock("clk", 2, 0))
	link := must(verilator.Connect(verilator.LinkConfig{From: clk, To: clk, Output: "tx[8:0]", Input: "rx[17:9]", Latency: 1, Idle: 0x55}))
	m.Poke("rx_valid", 1)
	m.Poke("rx[8:0]", 0x0F)
	m.Run(5)
	at := link.Stats().Samples
	check.Fatal(t, link.Inject(
		verilator.Fault{Kind: verilator.Stuck, At: at + 4, Cycles: 2, Value: 0x77},
		verilator.Fault{Kind: verilator.Flip, At: at + 1, Value: 0x30},
		verilator.Fault{Kind: verilator.Drop, At: at + 2},
		verilator.Fault{Kind: verilator.Cut, At: at + 7, Cycles: 2, Value: 0x1FF},
		verilator.Fault{Kind: verilator.Flip, At: at - 1, Value: 1},
		verilator.Fault{Kind: verilator.Repeat, At: at + 9},
	))
	for i, want := range []uint64{0x0F, 0x3F, 0x55, 0x0F, 0x77, 0x77, 0x0F, 0x1FF, 0x1FF, 0x1FF, 0x0F} {
		m.Run(1)
		check.Equal(t, fmt.Sprintf("sample %d", i), must(m.Peek("rx[17:9]")), want)
	}
	link.Unplug(0x100)
	m.Run(3)
	link.Plug()
	m.Run(1)
	want := verilator.LinkStats{Samples: at + 15, Flipped: 1, Dropped: 1, Stuck: 2, Unplugged: 5, Repeated: 1}
	check.Equal(t, "stats", link.Stats(), want)
	check.Fatal(t, link.SetBitErrorRate(0.1))
	m.Run(10000)
	if got := link.Stats().BitErrors; got < 8500 || got > 9500 {
		t.Errorf("%d bit errors in 90000 bits at 0.1", got)
	}
	link.SetBitErrorRate(1)
	before := link.Stats().BitErrors
	m.Run(100)
	check.Equal(t, "bit errors in 900 bits", link.Stats().BitErrors-before, 900)
}

// Two boards with their own oscillators.
func TestNetworkOfUnequalClocks(t *testing.T) {
	var want string
	for _, threads := range []int{1, 2} {
		lib := build(t, node)
		a, b := start(t, lib, verilator.Config{Name: "a"}), start(t, lib, verilator.Config{Name: "b"})
		ca, cb := must(a.Clock("clk", 1000, 0)), must(b.Clock("clk", 1003, 17))
		for _, l := range []verilator.LinkConfig{{From: ca, To: cb}, {From: cb, To: ca}} {
			l.Output, l.Input, l.Latency = "right", "left", 3
			must(verilator.Connect(l))
		}
		net := must(verilator.NewNetwork(threads, a, b))
		a.Poke("rst", 1)
		b.Poke("rst", 1)
		check.Fatal(t, net.Run(3))
		a.Poke("rst", 0)
		b.Poke("rst", 0)
		a.Poke("id", 3)
		check.Fatal(t, net.Run(2000))
		got := fmt.Sprintf("%x %x %d %d", must(a.Peek("state")), must(b.Peek("state")), ca.Cycles(), cb.Cycles())
		net.Close()
		if want == "" {
			want = got
		}
		if got != want || cb.Cycles() != 1996 {
			t.Errorf("%d threads: %s, want %s", threads, got, want)
		}
	}
}

func TestNetworkConditions(t *testing.T) {
	net, ports, _ := ringOf(t, node, 4, 2, 2, 0)
	last := net.Models()[3]
	stop, err := net.RunUntil(1000, verilator.At{Model: net.Models()[0], Until: verilator.Equal("right", 0x200-1)},
		verilator.At{Model: last, Until: verilator.NotEqual("seen", 0)})
	if err != nil || stop.Reason != verilator.Condition || stop.Index != 1 || *ports[3].Seen == 0 || stop.Ran == 0 {
		t.Fatal(stop, err, *ports[3].Seen)
	}
	check.Fails(t, "a step of a linked model", last.Step(), nil)
	check.Fails(t, "a second network of a model", check.Err(verilator.NewNetwork(1, last)), nil)
	net.Close()
	check.Fails(t, "run of a closed model", net.Run(1), verilator.ErrClosed)
	part := must(verilator.NewNetwork(1, last))
	defer part.Close()
	check.Fails(t, "run of a part", part.Run(1), nil, "not in the network")
}
