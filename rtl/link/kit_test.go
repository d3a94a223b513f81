package link_test

import (
	"encoding/binary"
	"maps"
	"strconv"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

type params = map[string]int

// parts are the modules that each of ours is made of.
var parts = map[string][]string{
	"link_split":  {"common/crc16_3740_byte"},
	"link_rx":     {"common/at_least", "common/crc32c_byte", "common/fifo_commit", "common/ram_sdp", "common/skid_buffer"},
	"link_replay": {"common/at_least", "common/ram_sdp"},
	"link_framer": {"common/at_least", "common/crc32c_byte"},
	"link_mux":    {"common/at_least", "common/crc16_3740_byte"},
	"link_endpoint": {"common/at_least", "common/pass_buffer", "link/link_split", "link/link_state", "link/link_rx", "link/link_replay", "link/link_framer", "link/link_mux",
		"common/crc16_3740_byte", "common/crc32c_byte", "common/fifo_commit", "common/ram_sdp", "common/skid_buffer"},
}

// design is a module of this folder.
func design(top string, p params) verilator.Design {
	d := verilator.Design{Top: top, FS: rtl.FS, IncludeDirs: rtl.IncludeDirs, Sources: []string{"link/" + top + ".v"}, Params: text(p)}
	for _, part := range parts[top] {
		d.Sources = append(d.Sources, part+".v")
	}
	return d
}

func text(p params) map[string]string {
	s := map[string]string{}
	for name, v := range maps.All(p) {
		s[name] = strconv.Itoa(v)
	}
	return s
}

// open makes a bench, binds ports and resets. Outputs show what they are after a clock edge; inputs are seen at the next.
func open(t *testing.T, d verilator.Design, ports any) *testbench.Bench {
	t.Helper()
	b := testbench.New(t, d, testbench.Config{})
	b.Bind(ports)
	b.Reset("rst", 4)
	return b
}

// packet returns a good packet of n bytes, whose content follows from its serial number; from 5 bytes on it tells the number.
func packet(serial, n int) []byte {
	p := []byte{byte(linkproto.TypeWrite), byte(n - linkproto.HeaderBytes), byte((n - linkproto.HeaderBytes) >> 8)}
	p = binary.LittleEndian.AppendUint16(p, uint16(serial))
	for len(p) < n {
		p = append(p, byte(serial*31+len(p)*(serial>>3|1)))
	}
	return p[:n]
}

// eventsSeen adds up the pulses of link_endpoint's port events.
type eventsSeen [linkproto.NumCounters]int

func (e *eventsSeen) add(events uint16) {
	for i := range e {
		e[i] += int(events >> i & 1)
	}
}
