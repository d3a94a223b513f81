package engine

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// TestSlotsAreKept: however many packets of links whose peers say STOP the NI holds, each link without any finds a slot, and no more are held than there are.
func TestSlotsAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := check.Must(New(Config{Epoch: 1}))(t)
		c.id = Identity{Links: 1, PageBytes: 1024}
		slots, window := rapid.IntRange(4, 16).Draw(t, "slots"), rapid.IntRange(1, 8).Draw(t, "window")
		c.Offloading(slots, window, make([]uint32, 20), 0)
		var links []*Offload
		for most := rapid.IntRange(1, 16).Draw(t, "links"); c.CanOffload() && len(links) < most; {
			o := check.Must(c.NewOffload(VirtualConfig{Via: 1, Node: 1, Peer: uint16(2 + len(links)), NewLife: func() linkproto.Life { return 1 }}))(t)
			links = append(links, o)
		}
		q := &c.offloads
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			o := links[rapid.IntRange(0, len(links)-1).Draw(t, "link")]
			if rapid.Bool().Draw(t, "sends") {
				if o.hasSlot() && o.sent-o.freed < uint64(window) {
					o.hold()
				}
			} else if o.sent > o.freed {
				o.free(1)
			}
			held := 0
			for _, o := range links {
				n := int(o.sent - o.freed)
				held += n
				if n == 0 && (!o.hasSlot() || q.held >= slots) {
					t.Fatalf("a link that holds nothing finds no slot: %d of %d are held", q.held, slots)
				}
			}
			if held != q.held || q.held+q.empty > slots {
				t.Fatalf("%d packets are held, %d counted, and %d slots kept, of %d", held, q.held, q.empty, slots)
			}
		}
	})
}
