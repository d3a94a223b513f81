package msg

import (
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// TestManyStreams: a node begins streams to groups alone, and to so many, and keeps no other node from doing so.
func TestManyStreams(t *testing.T) {
	c, _ := receiver(t, Options{})
	join := func(src, group uint16) bool {
		w := flowctl.CastWord{Kind: flowctl.CastJoin, Group: group, Life: 1}
		return c.Cast(src, &linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: 1<<castShift | streamMark, Rest: flowctl.CastWordBytes, Data: w.Append(nil)})
	}
	taken := 0
	for group := range 1 << 16 {
		if join(2, uint16(group)) {
			taken++
		}
	}
	check.Equal(t, "streams of a node", taken, mostMembers)
	check.Equal(t, "once more", join(2, linkproto.MulticastBase), true)
	check.Equal(t, "of another node", join(3, 0xFFFF), true)
	check.Equal(t, "nodes with streams", len(c.members), 2)
	c.Close()
	check.Fails(t, "more groups", Options{Groups: make([]Group, mostMembers+1)}.Check(1, 1), nil, "257 multicast groups, at most 256")
}
