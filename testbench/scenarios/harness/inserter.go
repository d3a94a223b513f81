package harness

import (
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
)

// Inserter inserts symbols on the way from an endpoint to the network interface, between its words and frames.
type Inserter struct {
	Insert       []linkproto.Symbol // what is to be inserted
	port         *ni.Port
	quantum      int // symbols
	pending, out []linkproto.Symbol
}

// Insert puts an inserter at a port.
func (s *Harness) Insert(p *ni.Port) *Inserter {
	x := &Inserter{port: p, quantum: s.Config.Quantum / p.SymbolClocks}
	p.Mangle = x.mangle
	return x
}

func (x *Inserter) mangle(line []linkproto.Symbol) []linkproto.Symbol {
	x.pending = append(x.pending, line...)
	if x.port.Link.IdleFor() > 0 { // the endpoint has nothing more to say
		x.pending = append(x.pending, x.Insert...)
		x.Insert = nil
	}
	n := min(x.quantum, len(x.pending))
	if u := x.port.UART; u != nil { // which may take two bytes for a symbol
		n = min(n, max(x.quantum-u.Pending()/x.port.SymbolClocks, 0))
	}
	x.out = append(x.out[:0], x.pending[:n]...)
	x.pending = x.pending[:copy(x.pending, x.pending[n:])]
	return x.out
}

// Idle reports whether everything has passed.
func (x *Inserter) Idle() bool { return len(x.pending) == 0 && len(x.Insert) == 0 }

// Send inserts symbols and waits until they have passed and had their effect.
func (s *Harness) Send(x *Inserter, symbols []linkproto.Symbol) {
	x.Insert = append(x.Insert, symbols...)
	try.OK(s.Until(100_000+4*len(symbols), "the symbols to pass", x.Idle))
	try.OK(s.RunClocks(max(2000, 6*s.Config.Quantum)))
}

// Garbage is n random symbols, rich in K symbols.
func Garbage(rng *testbench.Rand, n int) []linkproto.Symbol {
	symbols := make([]linkproto.Symbol, n)
	for i := range symbols {
		symbols[i] = linkproto.Symbol(rng.IntN(512))
		if rng.IntN(4) == 0 {
			symbols[i] = linkproto.Symbols[rng.IntN(len(linkproto.Symbols))].Symbol
		}
	}
	return symbols
}
