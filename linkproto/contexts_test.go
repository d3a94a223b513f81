package linkproto_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

func TestRingEntries(t *testing.T) {
	posted := linkproto.Posted{Addr: 0x04030201, Length: 0x08070605, Tag: 0x0C0B0A09, VL: 0x0E0D, Cookie: 0x100F}
	bytes := "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\x0C\x0D\x0E\x0F\x10"
	check.Equal(t, "descriptor", string(posted.Append(nil)), bytes)
	check.Equal(t, "descriptor", linkproto.DecodePosted([]byte(bytes)), posted)
	for status := range linkproto.CompletionStatuses {
		for _, receive := range []bool{false, true} {
			want := linkproto.Completion{Length: 0x04030201, Tag: 0x08070605, VL: 0x0A09, Cookie: 0x0C0B, Receive: receive, Status: linkproto.CompletionStatus(status)}
			have, ok := linkproto.DecodeCompletion(want.Append(nil))
			check.Equal(t, "completion", have, want)
			check.Equal(t, "completion can be", ok, true)
		}
	}
	bytes = "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\x0C\x84\x00\x00\x00"
	check.Equal(t, "completion", string(linkproto.Completion{Length: 0x04030201, Tag: 0x08070605, VL: 0x0A09, Cookie: 0x0C0B, Receive: true, Status: linkproto.CompletionTooLong}.Append(nil)), bytes)
	for at, b := range map[int]byte{12: 6, 13: 1, 14: 1, 15: 0x80} {
		wrong := []byte(bytes)
		wrong[at] = b
		if _, ok := linkproto.DecodeCompletion(wrong); ok {
			t.Errorf("% x is taken for a completion", wrong)
		}
	}
}
