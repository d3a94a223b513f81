package linkproto_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// TestTables: rows stand where code looks for them, values are unique and fit their widths.
func TestTables(t *testing.T) {
	for i, s := range linkproto.Statuses {
		check.Equal(t, "row of status "+s.Name, int(s.Status), i)
	}
	for i, c := range linkproto.Counters {
		check.Equal(t, "row of counter "+c.Name, int(c.Counter), i)
	}
	for i, k := range linkproto.Kinds {
		check.Equal(t, "row of kind "+k.Name, int(k.Kind), i)
	}
	for i, r := range linkproto.Registers {
		if i > 0 && r.Reg <= linkproto.Registers[i-1].Reg {
			t.Errorf("register %s is out of order", r.Name)
		}
	}
	for _, s := range linkproto.Symbols {
		if s.Symbol.IsData() || s.Symbol > 0x1FF || s.Symbol == linkproto.SymbolK|linkproto.ESC {
			t.Errorf("symbol %s is %03X", s.Name, uint16(s.Symbol))
		}
		check.Equal(t, fmt.Sprintf("name of symbol %03X", uint16(s.Symbol)), s.Symbol.String(), s.Name)
	}
	for i, info := range linkproto.Types {
		if i > 0 && info.Type <= linkproto.Types[i-1].Type || info.Type >= 1<<linkproto.TypeBits {
			t.Errorf("type %s is out of order or range", info.Name)
		}
		for k, f := range info.Fields {
			if f.Bytes == 0 && (k < len(info.Fields)-1 || f.ID != linkproto.FieldData) {
				t.Errorf("%s: field %s of variable length must be the last, and Data", info.Name, f.Name)
			}
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{linkproto.SymSOP.String(), "SOP"},
		{linkproto.Symbol(0x0A).String(), "0A"},
		{linkproto.Symbol(0x1F7).String(), "K(1F7)"},
		{linkproto.TypeWrite.String(), "WRITE"},
		{linkproto.Type(0x1F).String(), "TYPE(0x1F)"},
		{linkproto.KindLost.String(), "LOST"},
		{linkproto.KindBarrier.String(), "BARRIER"},
		{linkproto.StatusNoSpace.String(), "NO_SPACE"},
		{linkproto.Status(99).String(), "STATUS(99)"},
		{linkproto.CntRxCRC.String(), "rx_crc"},
		{linkproto.Counter(99).String(), "counter(99)"},
		{linkproto.RouterLate.String(), "LATE"},
		{linkproto.RouterCounter(4).String(), "router counter(4)"},
	} {
		check.Equal(t, "name", c.got, c.want)
	}
}

func TestReasons(t *testing.T) {
	for r := linkproto.ReasonNone; r <= linkproto.PacketCRC; r++ {
		c, counted := r.Counter()
		if r.Error() == "" || counted != (r != linkproto.ReasonNone) || counted && c >= linkproto.NumCounters {
			t.Errorf("%d: %q, counter %v %v", r, r, c, counted)
		}
	}
	if _, counted := linkproto.Reason(200).Counter(); counted || linkproto.Reason(200).Error() != "reason 200" {
		t.Error("an unknown reason is not handled as one")
	}
	check.Fails(t, "a reason as an error", error(linkproto.WordCut), linkproto.WordCut)
}

func TestRegisterNumbers(t *testing.T) {
	check.Equal(t, "counter register", linkproto.CounterReg(2, linkproto.CntRxGap), 0x124)
	check.Equal(t, "link status register", linkproto.LinkStatusReg(7), 0x027)
	check.Equal(t, "peer register", linkproto.PeerReg(7), 0x02F)
	check.Equal(t, "frame register", linkproto.FrameReg(3), 0x403)
	check.Equal(t, "router counter register", linkproto.RouterLate.Reg(16), 0x243)
	check.Equal(t, "port status register", linkproto.PortStatusReg(16), 0x310)
	check.Equal(t, "port peer register", linkproto.PortPeerReg(16), 0x330)
	check.Equal(t, "port counter register", linkproto.PortCounterReg(16, linkproto.CntRxDup), 0x703)
	check.Equal(t, "route register", linkproto.RouteReg(linkproto.MaxNode), 0x8FFF)
	check.Equal(t, "register of a virtual link", linkproto.VLRegExpect.Reg(1023), 0xBFFC)
	check.Equal(t, "last register of a virtual link", linkproto.VLRegCounts.Reg(1<<linkproto.MaxVLBits-1), 0xDFFD)
	check.Equal(t, "last register of a context", linkproto.ContextRegCompletions.Reg(1<<linkproto.MaxContextBits-1), 0x97FE)
	check.Equal(t, "group register", linkproto.GroupReg(15), 0xF00F)
	if v := linkproto.StatusEpoch.In(0x1AB); v != 0xAB00 || linkproto.StatusEpoch.Of(v|0xFF) != 0xAB {
		t.Errorf("%X", v)
	}
	check.Equal(t, "epoch after 255", linkproto.NextEpoch(255), 1)
}
