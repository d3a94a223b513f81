package common_test

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// A grant goes to one source and holds to the end of the packet; then the next source behind it is served, and none starves.
func TestArbiter(t *testing.T) {
	for _, n := range []int{1, 3, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var p struct {
				Last                  *bool  `port:"*"`
				Request, Grant, Index *uint8 `port:"*"`
			}
			b := moduletest.Open(t, "arbiter_rr", params{"N": n}, &p)
			r := b.Rand("requests")
			waiting := make([]int, n) // packets of others granted meanwhile
			granted := make([]int, n)
			for now := range 80000 {
				dense := []float64{0.02, 0.06, 0.2, 1}[now/2000%4]
				request := *p.Request // a source that waits goes on waiting
				for i := range n {
					bit := uint8(1) << i
					if *p.Grant&bit != 0 && r.Chance(0.5) {
						request &^= bit
					} else if r.Chance(dense) {
						request |= bit
					}
				}
				*p.Request, *p.Last = request, r.Chance(0.4)
				before, decided := *p.Grant, *p.Grant == 0 || *p.Last
				b.Step(1)
				switch want := request &^ before; {
				case !decided && *p.Grant != before:
					t.Fatalf("clock %d: grant %b left before the packet's end, now %b", now, before, *p.Grant)
				case decided && (*p.Grant&^want != 0 || (*p.Grant == 0) != (want == 0)):
					t.Fatalf("clock %d: grant %b of %b", now, *p.Grant, want)
				case *p.Grant != 0 && *p.Grant != 1<<*p.Index:
					t.Fatalf("clock %d: grant %b, index %d", now, *p.Grant, *p.Index)
				}
				if decided && before != 0 && *p.Grant != 0 {
					next := bits.TrailingZeros8(before) + 1 // the first of those behind the holder, else the first of all
					want := request &^ before
					if behind := want >> next << next; behind != 0 {
						want = behind
					}
					if *p.Grant != want&-want {
						t.Fatalf("clock %d: after %b of %b, grant %b", now, before, request, *p.Grant)
					}
				}
				for i := range n {
					switch {
					case *p.Grant>>i&1 != 0:
						waiting[i] = 0
						if decided {
							granted[i]++
						}
					case decided && *p.Grant != 0 && request>>i&1 != 0 && before>>i&1 == 0:
						if waiting[i]++; waiting[i] > n-1 {
							t.Fatalf("clock %d: source %d passed over %d times", now, i, waiting[i])
						}
					}
				}
			}
			for i, g := range granted {
				if g < 100 {
					t.Errorf("source %d was granted only %d times", i, g)
				}
			}
		})
	}
}
