// Package ni_test drives every module of the network interface against a model of it in Go.
package ni_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

type params = moduletest.Params

// settle lets combinational outputs follow inputs that were just set.
func settle(t *testing.T, b *testbench.Bench) {
	t.Helper()
	check.Fatal(t, b.Model().Eval())
}

// seedOf is the seed of a test, whose log has it if the test fails.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := testbench.TestSeed(t)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return seed
}

// set sets element i of a port that holds several of so many bits.
func set(t *testing.T, b *testbench.Bench, port string, bits, i int, v uint64) {
	t.Helper()
	check.Fatal(t, b.Model().Poke(fmt.Sprintf("%s[%d:%d]", port, bits*(i+1)-1, bits*i), v))
}

// offer is the port of a source of packets for ni_compose, which takes a packet's head and then the bytes behind it.
type offer struct {
	Valid, Ready, Last *bool   `port:"*"`
	Kind, Data         *uint8  `port:"*"`
	Length             *uint16 `port:"*"`

	packet  []byte // what has been taken of it, as ni_compose puts it together
	stalled bool   // what is offered was not taken
	shown   [4]int // what was offered
}

// clock looks at the port just before an edge: what waits must not change. It returns a packet that is whole then. what is for messages.
func (o *offer) clock(t *testing.T, what ...any) (whole []byte) {
	t.Helper()
	shown := [4]int{count(*o.Last), int(*o.Data)}
	if len(o.packet) == 0 {
		shown = [4]int{count(*o.Last), 0, int(*o.Kind), int(*o.Length)}
	}
	if o.stalled && (!*o.Valid || shown != o.shown) {
		t.Fatalf("%sbyte %d changed while it waited", fmt.Sprint(what...), len(o.packet))
	}
	o.stalled, o.shown = *o.Valid && !*o.Ready, shown
	switch {
	case !*o.Valid || !*o.Ready:
		return nil
	case len(o.packet) == 0:
		o.packet = append(o.packet, *o.Kind, byte(*o.Length), byte(*o.Length>>8))
	default:
		o.packet = append(o.packet, *o.Data)
	}
	if *o.Last {
		whole, o.packet = o.packet, nil
	}
	return whole
}
