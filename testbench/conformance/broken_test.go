package conformance_test

import (
	"context"
	"net/url"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/conformance"
	"github.com/stafflink/lmmc/testbench/model"
)

// A broken target is a model with somebody between it and its host who understands every packet and passes on what they like. Its target is
// "broken:" and the name of the fault.
func init() { hostdrv.Register("broken", openBroken) }

type packet = linkproto.Packet

// fault is what is wrong with a target. Each function returns what becomes of a packet; nil passes all on.
type fault struct {
	name  string
	fails []string // cases that must find it
	alike bool     // in what Compare compares: or shows only when a link is full or the cable damages symbols
	down  func(b *broken, p packet) []packet
	up    func(b *broken, p packet) []packet
}

// broken is the simulation of one.
type broken struct {
	fault
	ni       *model.NI
	host, in *flowctl.Endpoint // to the host, and to the NI
	toHost   [][]byte
	toNI     [][]byte
	line     []linkproto.Symbol
	restarts uint32
	space    [4]packet // by link, the last
	err      error

	count int
	age   int                      // turns that held has not changed
	regs  map[linkproto.Reg]uint32 // for the fault to remember
	held  []packet
}

func openBroken(_ context.Context, target *url.URL) (hostdrv.Transport, error) {
	i := slices.IndexFunc(faults, func(f fault) bool { return f.name == target.Opaque })
	ni, err := model.New(model.Config{Links: 3, Frames: 8, PageBytes: 128, ReplayBytes: 512, RxBytes: 1024})
	if err != nil {
		return nil, err
	}
	b := &broken{fault: faults[i], ni: ni, line: make([]linkproto.Symbol, 64), regs: map[linkproto.Reg]uint32{}}
	c := flowctl.Config{MaxPacket: linkproto.MaxPacket(128), Silence: -1, Epoch: 9}
	if b.host, err = flowctl.New(c); err != nil {
		return nil, err
	}
	if b.in, err = flowctl.New(c); err != nil {
		return nil, err
	}
	return lockstep.New(b, 1, 64, 64, 125e6).Sole()
}

// Turn is for lockstep.
func (b *broken) Turn(n int, lines []lockstep.Line) (int, error) {
	b.host.Feed(lines[0].Out)
	b.pass()
	if now := b.host.Counter(linkproto.CntRestarts); now != b.restarts { // as the NI would
		b.restarts = now
		for link := 1; link < len(b.space); link++ {
			b.space[link].Type, b.space[link].Via = linkproto.TypeSpace, uint8(link)
			b.toHost = append(b.toHost, b.raw(b.space[link]))
		}
	}
	line := make([]linkproto.Symbol, n)
	lines[0].In = b.line[:b.host.Emit(b.line[:n])]
	b.ni.Port(0).Feed(line[:b.in.Emit(line)])
	b.in.Feed(line[:b.ni.Port(0).Emit(line)])
	for _, cable := range [][2]int{{1, 2}, {2, 1}, {3, 3}} {
		b.ni.Port(cable[1]).Feed(line[:b.ni.Port(cable[0]).Emit(line)])
	}
	for port := range 4 {
		b.ni.Port(port).Tick(n)
	}
	b.host.Tick(n)
	b.in.Tick(n)
	return n, b.err
}

// pass carries packets between the two.
func (b *broken) pass() {
	carry := func(from, to *flowctl.Endpoint, queue [][]byte, what func(*broken, packet) []packet) [][]byte {
		for {
			for len(queue) > 0 {
				to.Lost()
				if to.Send(queue[0]) != nil {
					return queue
				}
				queue = queue[1:]
			}
			raw, ok := from.Receive()
			if !ok {
				return nil
			}
			var p packet
			if err := p.Decode(slices.Clone(raw)); err != nil {
				b.err = err
				return nil
			}
			out := []packet{p}
			if what != nil {
				out = what(b, p)
			}
			if p.Type == linkproto.TypeSpace {
				b.space[p.Via] = p
			}
			for _, p := range out {
				queue = append(queue, b.raw(p))
			}
		}
	}
	before := len(b.held)
	b.toNI = carry(b.host, b.in, b.toNI, b.down)
	if b.age++; len(b.held) != before {
		b.age = 0
	}
	if b.age > 20 { // nothing is held for ever
		for _, p := range b.held {
			b.toNI = append(b.toNI, b.raw(p))
		}
		b.held = nil
	}
	b.toHost = carry(b.in, b.host, b.toHost, b.up)
}

func (b *broken) raw(p packet) []byte {
	raw, err := p.Append(nil)
	if err != nil {
		b.err = err
	}
	return raw
}

// Close is for lockstep.
func (b *broken) Close() error { return nil }

// each n-th packet that is, becomes something else.
func each(n int, is func(p packet) bool, other func(p packet) []packet) func(*broken, packet) []packet {
	return func(b *broken, p packet) []packet {
		if is(p) {
			if b.count++; b.count%n == 0 {
				return other(p)
			}
		}
		return []packet{p}
	}
}

func ofType(t linkproto.Type) func(packet) bool { return func(p packet) bool { return p.Type == t } }

func ofRegister(t linkproto.Type, r linkproto.Reg) func(packet) bool {
	return func(p packet) bool { return p.Type == t && p.Reg == r }
}

func isDenied(p packet) bool {
	return p.Type == linkproto.TypeRegData && p.Reg >= linkproto.RegCounters && p.Reg < linkproto.RegFrameTable &&
		(p.Reg-linkproto.RegCounters)%linkproto.CounterStride == linkproto.Reg(linkproto.CntDenied)
}

func isFrame(r linkproto.Reg) bool {
	return r >= linkproto.RegFrameTable && r < linkproto.RegFrameTable+8
}

func isWrite(p packet) bool { return p.Type == linkproto.TypeWrite && len(p.Data) > 0 }

func change(do func(p *packet)) func(packet) []packet {
	return func(p packet) []packet {
		do(&p)
		return []packet{p}
	}
}

func nothing(packet) []packet { return nil }

// allow has a request that was refused with a status answered as if it had been carried out.
func allow(status linkproto.Status) func(packet) []packet {
	return change(func(p *packet) {
		if p.Status == status {
			p.Status = linkproto.StatusOK
		}
	})
}

// behind returns a packet, and behind it those that were held.
func (b *broken) behind(p packet) []packet {
	out := append([]packet{p}, b.held...)
	b.held = nil
	return out
}

var faults = []fault{
	{name: "none"},
	{name: "unknown-feature", alike: true, fails: []string{"identity/fields"},
		up: each(1, ofRegister(linkproto.TypeRegData, linkproto.RegFeatures), change(func(p *packet) { p.Value |= 1 << 20 }))},
	{name: "identity-changes", fails: []string{"identity/fields", "restart/program"},
		up: each(2, ofRegister(linkproto.TypeRegData, linkproto.RegHashLo), change(func(p *packet) { p.Value ^= 1 << 3 }))},
	{name: "scratch-loses-a-bit", fails: []string{"registers/scratch"},
		down: each(1, ofRegister(linkproto.TypeRegWrite, linkproto.RegScratch), change(func(p *packet) { p.Value &^= 1 << 17 }))},
	{name: "no-node-id", alike: true, fails: []string{"identity/names"},
		down: each(1, ofRegister(linkproto.TypeRegWrite, linkproto.RegNodeID), change(func(p *packet) { p.Value &= 0xFF }))},
	{name: "peer-is-not-named", alike: true, fails: []string{"identity/names"},
		up: each(1, func(p packet) bool {
			return p.Type == linkproto.TypeRegData && p.Reg >= linkproto.RegPeer && p.Reg <= linkproto.PeerReg(3)
		}, change(func(p *packet) { p.Value &^= linkproto.PeerNode.In(1<<16 - 1) }))},
	{name: "always-a-nonce", alike: true, fails: []string{"identity/anonymous"}, down: func(b *broken, p packet) []packet {
		if p.Type == linkproto.TypeRegWrite && p.Reg == linkproto.RegNonce && p.Value == 0 {
			p.Value = 5
		}
		return []packet{p}
	}},
	{name: "nonce-is-not-forgotten", alike: true, fails: []string{"identity/names"}, down: func(b *broken, p packet) []packet {
		if p.Type == linkproto.TypeRegWrite && p.Reg == linkproto.RegNonce {
			if b.count++; b.count > 1 { // what the driver wrote stays
				p.Reg = linkproto.RegScratch
			}
		}
		return []packet{p}
	}},
	{name: "holes-can-be-written", fails: []string{"registers/holes", "identity/read-only"},
		up: each(1, ofType(linkproto.TypeDone), allow(linkproto.StatusBadAddress))},
	{name: "resume-without-trap", fails: []string{"registers/not-trapped"},
		up: each(1, ofType(linkproto.TypeDone), allow(linkproto.StatusNotTrapped))},
	// Reads of 8 bytes do not count: how often the bench looks for a token depends on the machine.
	{name: "wrong-byte-read", fails: []string{"buffer/sizes", "buffer/own"},
		up: each(20, func(p packet) bool { return p.Type == linkproto.TypeBufData && len(p.Data) > 3 && len(p.Data) != 8 }, change(func(p *packet) { p.Data[3] ^= 4 }))},
	{name: "byte-too-many", fails: []string{"writes/alignments"},
		down: each(1, func(p packet) bool { return isWrite(p) && len(p.Data) == 5 && p.Addr%128 < 120 },
			change(func(p *packet) { p.Data = append(p.Data, 0) }))},
	{name: "odd-address", fails: []string{"writes/alignments", "writes/frames"},
		down: each(1, func(p packet) bool { return isWrite(p) && p.Addr%8 == 7 }, change(func(p *packet) { p.Addr-- }))},
	{name: "wrong-frame", fails: []string{"writes/frames", "writes/many"},
		down: each(1, func(p packet) bool { return isWrite(p) && p.Addr/128 == 3 && p.Addr%128 < 100 }, change(func(p *packet) { p.Addr += 128 }))},
	{name: "write-gets-lost", fails: []string{"writes/sizes", "writes/many", "registers/counters"},
		down: each(20, ofType(linkproto.TypeWrite), nothing)},
	{name: "write-comes-twice", fails: []string{"identity/cables", "registers/counters"},
		down: each(10, ofType(linkproto.TypeWrite), func(p packet) []packet { return []packet{p, p} })},
	{name: "writes-change-places", fails: []string{"ordering/writes"}, down: func(b *broken, p packet) []packet {
		if p.Type != linkproto.TypeWrite {
			out := append(b.held, p)
			b.held = nil
			return out
		}
		if b.held == nil {
			b.held = []packet{p}
			return nil
		}
		return b.behind(p)
	}},
	{name: "no-protection", fails: []string{"protection/closed", "protection/foreign", "protection/revoked"},
		down: func(b *broken, p packet) []packet { // every link may write every frame, and the table reads as if it were obeyed
			switch {
			case p.Type == linkproto.TypeRegWrite && isFrame(p.Reg):
				b.regs[p.Reg] = p.Value
			case p.Type == linkproto.TypeWrite && p.Addr/128 < 8:
				link := uint32([]int{0, 2, 1, 3}[p.Via])
				grant := packet{Type: linkproto.TypeRegWrite, Tag: linkproto.TagNone, Reg: linkproto.FrameReg(int(p.Addr / 128)), Value: 1<<31 | link}
				return []packet{grant, p}
			}
			return []packet{p}
		},
		up: func(b *broken, p packet) []packet {
			switch {
			case p.Type == linkproto.TypeDone && p.Tag == linkproto.TagNone:
				return nil
			case p.Type == linkproto.TypeRegData && isFrame(p.Reg):
				p.Value = b.regs[p.Reg]
			}
			return []packet{p}
		}},
	{name: "address-wraps", fails: []string{"protection/astray"},
		down: each(1, isWrite, change(func(p *packet) { p.Addr &= 1<<16 - 1 }))},
	{name: "denied-is-not-counted", fails: []string{"protection/closed", "protection/astray"},
		up: each(1, isDenied, change(func(p *packet) { p.Value = 0 }))},
	{name: "resume-is-ignored", fails: []string{"ordering/trap", "ordering/connect", "ports/connect"}, down: func(b *broken, p packet) []packet {
		if p.Type != linkproto.TypeResume {
			return []packet{p}
		}
		b.toHost = append(b.toHost, b.raw(packet{Type: linkproto.TypeDone, Tag: p.Tag}))
		return nil
	}},
	{name: "trap-comes-too-late", fails: []string{"ordering/trap"}, down: func(b *broken, p packet) []packet {
		switch {
		case p.Type == linkproto.TypePage:
			b.held = append(b.held, p)
			return nil
		}
		return b.behind(p)
	}},
	{name: "trap-of-another-port", fails: []string{"ordering/trap", "paging/pressure"},
		up: each(5, ofType(linkproto.TypeTrap), change(func(p *packet) { p.Data[len(p.Data)-1] ^= 1 }))},
	{name: "notify-gets-lost", fails: []string{"notify/range", "waits/change"}, up: each(2, ofType(linkproto.TypeNotify), nothing)},
	{name: "notify-too-narrow", fails: []string{"notify/range", "notify/covers"},
		up: each(1, func(p packet) bool { return p.Type == linkproto.TypeNotify && p.Last > p.First }, change(func(p *packet) { p.Last-- }))},
	{name: "notify-cannot-be-cleared", fails: []string{"notify/off", "registers/control"},
		down: each(1, ofRegister(linkproto.TypeRegWrite, linkproto.RegControl), change(func(p *packet) { p.Value = 1 }))},
	{name: "page-is-not-restored", fails: []string{"paging/pressure", "paging/tables"},
		down: each(3, func(p packet) bool { return p.Type == linkproto.TypeBufWrite && len(p.Data) == 128 }, change(func(p *packet) { clear(p.Data) }))},
	{name: "stop-is-not-told", alike: true, fails: []string{"flow/stop", "flow/both"},
		up: each(1, func(p packet) bool {
			return p.Type == linkproto.TypeRegData && p.Reg >= linkproto.RegLinkStatus && p.Reg < linkproto.RegLinkStatus+4
		}, change(func(p *packet) { p.Value &^= linkproto.StatusOwnStop.In(1) }))},
	{name: "drops-when-full", fails: []string{"flow/stop"}, down: func(b *broken, p packet) []packet {
		switch p.Type {
		case linkproto.TypePage:
			b.count = 0
		case linkproto.TypeWrite:
			if b.count++; b.count > 4 && b.count < 12 {
				p.Addr = 1<<32 - 1 // to where it is denied
			}
		}
		return []packet{p}
	}},
	{name: "requests-change-places", fails: []string{"registers/pipelined", "buffer/own"}, down: func(b *broken, p packet) []packet {
		switch {
		case p.Type == linkproto.TypeRegWrite && p.Reg == linkproto.RegScratch, p.Type == linkproto.TypeBufWrite && len(p.Data) == 4:
			if b.count++; b.count%20 == 0 {
				b.held = append(b.held, p)
				return nil
			}
		default:
			return b.behind(p)
		}
		return []packet{p}
	}},
	{name: "answers-with-noise-in-them", alike: true, fails: []string{"cable/flips"}, // as if frames were not checked
		up: func(b *broken, p packet) []packet {
			if b.host.Counter(linkproto.CntRxCRC) > 0 && p.Type == linkproto.TypeRegData && p.Reg == linkproto.RegScratch {
				p.Value ^= 1
			}
			return []packet{p}
		}},
}

// TestFaultsAreFound runs the suite on targets that are broken in one way each, and on one that is not.
func TestFaultsAreFound(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			filter := ""
			for _, name := range f.fails {
				filter += "|^" + name + "$"
			}
			if filter != "" {
				filter = filter[1:]
			}
			r := check.Must(conformance.Execute(t.Context(), "broken:"+f.name, conformance.Options{Filter: filter, Transcripts: t.TempDir()}))(t)
			var passed []string
			for _, x := range r.Results {
				switch x.Verdict {
				case conformance.Fail:
					t.Logf("%s: %s", x.Name, x.Reason)
					if sessions, err := record.ReadFile(x.Transcript); err != nil || len(sessions) != 1 {
						t.Errorf("%s left a transcript of %d sessions, %v", x.Name, len(sessions), err)
					}
				case conformance.Pass:
					passed = append(passed, x.Name)
				}
			}
			switch {
			case len(f.fails) > 0 && len(passed) > 0:
				t.Errorf("not found by %v", passed)
			case len(f.fails) == 0 && r.Count(conformance.Fail) > 0:
				t.Error("the suite finds faults where there are none")
			case len(f.fails) > 0 && r.Count(conformance.Fail) != len(f.fails):
				t.Errorf("%d of %d cases failed", r.Count(conformance.Fail), len(f.fails))
			}
		})
	}
}
