package moduletest

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
)

// EachWidth runs a test with packets in beats of each WIDTH that a network interface may have.
func EachWidth(t *testing.T, body func(t *testing.T, width int)) {
	for _, width := range rtl.Widths {
		t.Run(fmt.Sprint("width ", width), func(t *testing.T) { body(t, width) })
	}
}

// Beats is a port that carries packets in beats, of up to eight bytes: PREFIX_data and PREFIX_keep.
type Beats struct {
	t          testing.TB
	b          *testbench.Bench
	data, keep string
	width      int
	rng        *testbench.Rand // for lanes without a byte
}

// NewBeats is the port of that prefix, whose beats have width bytes.
func NewBeats(t testing.TB, b *testbench.Bench, prefix string, width int) *Beats {
	return &Beats{t, b, prefix + "_data", prefix + "_keep", width, b.Rand("lanes of " + prefix)}
}

// NewBeatsAt is number i of ports that a module has in one vector.
func NewBeatsAt(t testing.TB, b *testbench.Bench, prefix string, width, i int) *Beats {
	p := NewBeats(t, b, fmt.Sprint(prefix, " ", i), width)
	p.data = fmt.Sprintf("%s_data[%d:%d]", prefix, 8*width*(i+1)-1, 8*width*i)
	p.keep = fmt.Sprintf("%s_keep[%d:%d]", prefix, width*(i+1)-1, width*i)
	return p
}

// Put puts the next beat of a packet on the port, given what is left of it, and returns how many bytes it has.
func (p *Beats) Put(left []byte) int {
	n := min(len(left), p.width)
	p.PutLanes(left[:n], 0)
	return n
}

// PutLanes puts bytes on the port, the first of them in that lane.
func (p *Beats) PutLanes(bytes []byte, lane int) {
	data, keep := p.rng.Uint64(), uint64(1)<<len(bytes)-1
	for i, b := range bytes {
		at := 8 * (lane + i)
		data = data&^(0xFF<<at) | uint64(b)<<at
	}
	if p.width < 8 {
		data &= 1<<(8*p.width) - 1
	}
	check.Fatal(p.t, p.b.Model().Poke(p.data, data))
	check.Fatal(p.t, p.b.Model().Poke(p.keep, keep<<lane))
}

// Get returns the bytes that are at the port.
func (p *Beats) Get() (bytes []byte) {
	data, keep := check.Must(p.b.Model().Peek(p.data))(p.t), check.Must(p.b.Model().Peek(p.keep))(p.t)
	for ; keep&1 != 0; keep, data = keep>>1, data>>8 {
		bytes = append(bytes, byte(data))
	}
	if keep != 0 {
		p.t.Fatalf("%s has a gap", p.keep)
	}
	return bytes
}
