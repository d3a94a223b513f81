package linkproto_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// registers is a network interface with some of its registers.
type registers map[linkproto.Reg]uint32

func (r registers) read(reg linkproto.Reg) (uint32, error) {
	v, ok := r[reg]
	if !ok {
		return 0, errors.New("no such register")
	}
	return v, nil
}

// recorded is a stopped trace buffer with these records in the order of writing; more were written before.
func recorded(depth, before int, mark uint32, records ...linkproto.TraceRecord) registers {
	r := registers{
		linkproto.RegFeatures:        linkproto.FeatureTrace.In(1),
		linkproto.TraceControl.Reg(): linkproto.TraceTriggered.In(1),
		linkproto.TraceDepth.Reg():   uint32(depth),
		linkproto.TraceCount.Reg():   uint32(before + len(records)),
		linkproto.TraceMark.Reg():    mark,
		linkproto.TraceLost.Reg():    0,
	}
	for i, rec := range records {
		words := rec.Words()
		r[linkproto.TraceRingReg((before+i)%depth, 0)], r[linkproto.TraceRingReg((before+i)%depth, 1)] = words[0], words[1]
	}
	return r
}

func rec(time uint32, port uint8, events ...linkproto.TraceEvent) linkproto.TraceRecord {
	r := linkproto.TraceRecord{Time: time, Port: port}
	for _, e := range events {
		r.Events |= e.Bit()
	}
	return r
}

func ExampleTrace_Format() {
	buffer := recorded(4, 3, 4,
		rec(1000, 1, linkproto.EvMissing, linkproto.TraceEvent(linkproto.CntRxCRC)),
		rec(1040, 1, linkproto.EvFound),
		rec(1100, 0, linkproto.TraceEvent(linkproto.CntRxPackets)),
		rec(1099, 1, linkproto.EvTrapped))
	trace, err := linkproto.ReadTrace(buffer.read)
	if err != nil {
		panic(err)
	}
	if err := trace.Format(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	//      clock  port    what happened
	//        -40  link 1  rx_crc, missing
	//          0  link 1  found  <- trigger
	//         59  link 1  trapped
	//         60  host    rx_packets
	// 3 older records were overwritten
}

func TestReadTrace(t *testing.T) {
	type entry struct {
		time    uint64
		port    int
		trigger bool
	}
	e := linkproto.EvUp
	for name, test := range map[string]struct {
		buffer registers
		want   []entry
	}{
		"empty":               {recorded(4, 0, 0), nil},
		"not full":            {recorded(4, 0, 1, rec(5, 0, e), rec(6, 1, e)), []entry{{5, 0, false}, {6, 1, true}}},
		"went round":          {recorded(2, 7, 2, rec(50, 0, e), rec(60, 1, e)), []entry{{50, 0, false}, {60, 1, false}}}, // the trigger's is gone
		"the clock's end":     {recorded(4, 0, 9, rec(0xFFFFFFF0, 0, e), rec(2, 0, e), rec(0xF0000000, 0, e), rec(1, 0, e)), []entry{{0xFFFFFFF0, 0, false}, {1<<32 + 2, 0, false}, {0x1F0000000, 0, false}, {2<<32 + 1, 0, false}}},
		"disorder":            {recorded(4, 0, 2, rec(100, 1, e), rec(98, 0, e), rec(100, 0, e)), []entry{{98, 0, false}, {100, 0, true}, {100, 1, false}}},
		"disorder at zero":    {recorded(4, 0, 9, rec(1, 1, e), rec(0xFFFFFFFF, 0, e), rec(3, 0, e)), []entry{{0xFFFFFFFF, 0, false}, {1<<32 + 1, 1, false}, {1<<32 + 3, 0, false}}},
		"a long time between": {recorded(4, 0, 9, rec(20, 1, e), rec(0xFFFFFFF0, 0, e)), []entry{{20, 1, false}, {0xFFFFFFF0, 0, false}}},
	} {
		trace, err := linkproto.ReadTrace(test.buffer.read)
		var got []entry
		for _, e := range trace.Entries {
			got = append(got, entry{e.Time, e.Port, e.Trigger})
		}
		check.Fatal(t, err)
		check.Equal(t, name, got, test.want)
	}
}

func TestReadTraceRefuses(t *testing.T) {
	none := registers{linkproto.RegFeatures: 3}
	check.Fails(t, "without a trace buffer", check.Err(linkproto.ReadTrace(none.read)), linkproto.ErrNoTrace)
	busy := recorded(4, 0, 0)
	busy[linkproto.TraceControl.Reg()] = 1
	check.Fails(t, "while recording", check.Err(linkproto.ReadTrace(busy.read)), linkproto.ErrRecording)
	for _, depth := range []uint32{0, 9000} {
		odd := recorded(4, 0, 0)
		odd[linkproto.TraceDepth.Reg()] = depth
		check.Fails(t, fmt.Sprint("a depth of ", depth), check.Err(linkproto.ReadTrace(odd.read)), nil)
	}
	broken := recorded(4, 0, 0, rec(1, 0, 1))
	delete(broken, linkproto.TraceRingReg(0, 1))
	check.Fails(t, "a read that fails", check.Err(linkproto.ReadTrace(broken.read)), nil)
}

func TestTraceSetup(t *testing.T) {
	written := registers{}
	s := linkproto.TraceSetup{Events: []linkproto.TraceEvent{1, 3}, Ports: []int{0, 2}, Trigger: []linkproto.TraceEvent{3}, TriggerPorts: []int{2}, Post: 9}
	write := func(r linkproto.Reg, v uint32) error {
		written[r] = v
		return nil
	}
	check.Fatal(t, s.Start(write))
	for _, port := range []int{-1, 8} {
		check.Fails(t, fmt.Sprint("port ", port), (linkproto.TraceSetup{TriggerPorts: []int{port}}).Start(write), nil)
	}
	want := registers{0x40: 1, 0x41: 0b1010, 0x42: 0b1000, 0x43: 0x0405, 0x44: 9}
	check.Equal(t, "registers written", written, want)
}

func TestTraceJSON(t *testing.T) {
	trace := linkproto.Trace{Entries: []linkproto.TraceEntry{{Time: 7, Port: 1, Events: []linkproto.TraceEvent{2, linkproto.EvInjected}}}, Written: 1}
	raw := check.Must(json.Marshal(trace))(t)
	check.Equal(t, "trace as JSON", string(raw), `{"entries":[{"time":7,"port":1,"events":["rx_crc","injected"]}],"triggered":false,"written":1,"lost":0}`)
	var back linkproto.Trace
	check.Fatal(t, json.Unmarshal(raw, &back))
	check.Equal(t, "trace from JSON", back, trace)
	check.Fails(t, "an unknown event", json.Unmarshal([]byte(`{"entries":[{"events":["melt"]}]}`), &back), nil)
}

func FuzzTraceRecord(f *testing.F) {
	f.Add(uint32(7), uint32(0x30000003))
	f.Fuzz(func(t *testing.T, time, word uint32) {
		if r := linkproto.DecodeTraceRecord([2]uint32{time, word}); r.Words() != [2]uint32{time, word} {
			t.Errorf("%08x %08x becomes %+v", time, word, r)
		}
	})
}
