package capture_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/capture"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	_ "github.com/stafflink/lmmc/testbench/modelsim"
	_ "github.com/stafflink/lmmc/testbench/rtlsim"
)

// key is one whose halves are the same: that of both directions.
const key linkproto.Key = 0x00070007

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tshark returns fields of each record of a capture, joined by "|".
func tshark(t *testing.T, file []byte, fields ...string) (records []string) {
	t.Helper()
	program, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed: captures are not read")
	}
	dir := t.TempDir()
	path, lua := filepath.Join(dir, "x.pcapng"), filepath.Join(dir, "lmmc.lua")
	check.Fatal(t, errors.Join(os.WriteFile(path, file, 0o600), os.WriteFile(lua, []byte(linkproto.Dissector), 0o600)))
	args := []string{"-n", "-r", path, "-X", "lua_script:" + lua, "-T", "fields", "-E", "separator=|"}
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || strings.Contains(stderr.String(), "Lua") || strings.Contains(stderr.String(), "corrupt") || strings.Contains(stderr.String(), "cut short") {
		t.Fatalf("tshark: %v\n%s", err, stderr.String())
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

var began = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func done(seq uint8, tag uint8) []linkproto.Symbol {
	p := linkproto.Packet{Type: linkproto.TypeDone, Tag: tag}
	raw, err := p.Append(nil)
	if err != nil {
		panic(err)
	}
	return linkproto.AppendFrame(nil, key, seq, raw)
}

// TestRecords: a record is a frame or a word, wherever the exchanges cut them, and has the time of its last symbol.
func TestRecords(t *testing.T) {
	ack := func(n uint8) []linkproto.Symbol {
		return linkproto.AppendWord(nil, key, linkproto.Word{Kind: linkproto.KindAck, Value: n})
	}
	hello := linkproto.AppendInit(nil, linkproto.Init{Version: linkproto.Version, Node: 3, Life: 5 << linkproto.LifeEpochShift, Page: 10, Lanes: 1})
	frame, idle, abort := done(3, 9), []linkproto.Symbol{linkproto.SymIdle}, []linkproto.Symbol{linkproto.SymAbort}
	join := func(parts ...[]linkproto.Symbol) (line []linkproto.Symbol) {
		for _, p := range parts {
			line = append(line, p...)
		}
		return line
	}
	type exchange struct {
		out, in []linkproto.Symbol
		ticks   uint64
	}
	for _, c := range []struct {
		name    string
		repeats bool
		list    []exchange
		want    []string // time in ticks, direction, what
	}{
		{"two frames", false, []exchange{{join(frame, done(4, 8)), nil, 100}},
			[]string{"11|0|sent: DONE seq=3", "23|0|sent: DONE seq=4"}},
		{"a word inside", false, []exchange{{nil, join(frame[:5], ack(1), frame[5:]), 50}},
			[]string{"50|1|received: ACK 1, DONE seq=3"}},
		{"cut in two", false, []exchange{{frame[:4], frame[:7], 10}, {nil, nil, 10}, {frame[4:], frame[7:], 10}},
			[]string{"27|0|sent: DONE seq=3", "30|1|received: DONE seq=3"}},
		{"idle between", false, []exchange{{join(idle, idle, frame, idle), nil, 50}}, []string{"13|0|sent: DONE seq=3"}},
		{"words that repeat", false, []exchange{{join(ack(1), ack(1), ack(2), ack(1)), ack(2), 50}, {ack(1), ack(2), 10}},
			[]string{"6|0|sent: ACK 1", "20|0|sent: ACK 2", "27|0|sent: ACK 1", "50|1|received: ACK 2"}},
		{"an INIT, of another length", false, []exchange{{join(hello, hello, ack(1)), nil, 50}}, []string{"12|0|sent: INIT node 3 life 05000000", "32|0|sent: ACK 1"}},
		{"all words", true, []exchange{{join(ack(1), ack(1)), nil, 50}}, []string{"6|0|sent: ACK 1", "13|0|sent: ACK 1"}},
		{"a frame taken back", false, []exchange{{join(frame[:5], abort, frame), nil, 50}},
			[]string{"5|0|sent: aborted frame seq=3", "17|0|sent: DONE seq=3"}},
		{"ABORT elsewhere", false, []exchange{{nil, join(frame[:5], ack(1), abort, ack(1)[:3], abort, abort, frame), 50}},
			[]string{"50|1|received: ACK 1, aborted frame seq=3", "50|1|received: word cut off, ABORT", "50|1|received: ABORT",
				"50|1|received: DONE seq=3"}},
		{"damage", false, []exchange{{nil, join([]linkproto.Symbol{1, 2}, frame[:5], frame, ack(1)[:3], frame, []linkproto.Symbol{linkproto.SymErr, 5}), 9}},
			[]string{"9|1|received: stray data, stray data", "9|1|received: incomplete", "9|1|received: DONE seq=3", "9|1|received: incomplete",
				"9|1|received: DONE seq=3", "9|1|received: undecodable symbol", "9|1|received: stray data"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var file bytes.Buffer
			w := capture.NewWriter(&file)
			cable := w.Cable(record.Header{Target: "test", Time: began, TicksPerSecond: 1e6}, c.repeats)
			for _, x := range c.list {
				cable.Exchange(x.out, x.in, x.ticks)
			}
			check.Fatal(t, w.Err())
			var got []string
			for _, line := range tshark(t, file.Bytes(), "frame.time_epoch", "lmmc.direction", "_ws.col.Info") {
				at, rest, _ := strings.Cut(line, "|")
				seconds, ns, _ := strings.Cut(at, ".")
				s := check.Must(strconv.ParseInt(seconds, 10, 64))(t)
				n := check.Must(strconv.ParseInt(ns, 10, 64))(t)
				got = append(got, fmt.Sprintf("%d|%s", time.Unix(s, n).Sub(began).Microseconds(), rest))
			}
			check.Equal(t, "tshark", got, c.want)
		})
	}
}

// small is a file with room for a few blocks.
type small struct {
	bytes.Buffer
	room int
}

func (s *small) Write(p []byte) (int, error) {
	if s.room == 0 {
		return 0, fmt.Errorf("small: %w", capture.ErrFull)
	}
	s.room--
	return s.Buffer.Write(p)
}

// TestDropped: what there was no room for is counted in the next record; any other error ends the capture.
func TestDropped(t *testing.T) {
	file := &small{room: 3}
	w := capture.NewWriter(file)
	cable := w.Cable(record.Header{Time: began, TicksPerSecond: 1e6}, false)
	for seq := range uint8(4) {
		cable.Exchange(done(seq, 1), nil, 100)
	}
	file.room = 2
	cable.Exchange(done(4, 1), done(5, 1), 100)
	check.Fatal(t, w.Err())
	check.Equal(t, "tshark", tshark(t, file.Bytes(), "lmmc.seq", "frame.drop_count"), []string{"0|", "4|3", "5|"})
	closed := check.Must(os.CreateTemp(t.TempDir(), ""))(t)
	check.Fatal(t, closed.Close())
	check.Fails(t, "a file that is closed", capture.NewWriter(closed).Err(), os.ErrClosed)
}

// TestTap listens from the beginning, and to a part, and finds what a recording of the same session has.
func TestTap(t *testing.T) {
	var whole, part, recording, converted bytes.Buffer
	tap, recorder := capture.NewTap("model:"), record.New(&recording)
	stop := tap.Listen(&whole, true)
	n := check.Must(hostdrv.Open(t.Context(), "model:?links=2", recorder.Options(tap.Options(hostdrv.Options{Seed: 4}))))(t)
	check.Fatal(t, n.SetFrame(t.Context(), 0, hostdrv.FrameEntry{Link: 2}))
	stopPart := tap.Listen(&part, false)
	check.Fatal(t, n.Write(t.Context(), 1, 0, []byte("overheard")))
	check.Fatal(t, n.Sync(t.Context(), 1))
	check.Fatal(t, stopPart())
	check.Fatal(t, n.Write(t.Context(), 1, 0, []byte("later")))
	check.Fatal(t, n.Sync(t.Context(), 1))
	check.Fatal(t, n.Close())
	check.Fatal(t, stop())
	check.Fatal(t, recorder.Close())

	sessions := check.Must(record.Read(&recording))(t)
	w := capture.NewWriter(&converted)
	sessions[0].Time = tap.Began()
	w.Session(sessions[0], true)
	check.Fatal(t, w.Err())
	columns := []string{"frame.time_epoch", "frame.interface_name", "lmmc.direction", "_ws.col.Info", "frame.packet_flags_direction"}
	all := tshark(t, whole.Bytes(), columns...)
	check.Equal(t, "capture, and the recording", all, tshark(t, converted.Bytes(), columns...))
	if text := strings.Join(all, "\n"); !strings.Contains(text, "INIT") || !strings.Contains(text, "|cable|0|sent: REG_READ MAGIC seq=2|0x00000002") ||
		!strings.Contains(text, "|cable|1|received: REG_DATA MAGIC seq=2|0x00000001") {
		t.Errorf("the beginning is missing in\n%s", text)
	}
	at := 0
	for _, line := range tshark(t, part.Bytes(), columns...) {
		for at < len(all) && all[at] != line { // each in its order, with its time
			at++
		}
	}
	data := tshark(t, part.Bytes(), "lmmc.data")
	if at == len(all) || !strings.Contains(strings.Join(data, "\n"), fmt.Sprintf("%x", "overheard")) || strings.Contains(strings.Join(data, "\n"), fmt.Sprintf("%x", "later")) {
		t.Errorf("a part of the capture has\n%s\nin\n%s", strings.Join(tshark(t, part.Bytes(), columns...), "\n"), strings.Join(all, "\n"))
	}
}

// TestTrace has the events of the RTL's trace buffer in one time with what goes over the cable.
func TestTrace(t *testing.T) {
	var file bytes.Buffer
	tap := capture.NewTap("rtl:")
	stop := tap.Listen(&file, false)
	n, err := hostdrv.Open(t.Context(), "rtl:?links=2&frames=4&page=128&replay=512&rx=512&trace=256", tap.Options(hostdrv.Options{Seed: 4}))
	check.Fatal(t, err)
	check.Fatal(t, n.SetFrame(t.Context(), 0, hostdrv.FrameEntry{Link: 2}))
	arrived := linkproto.TraceEvent(linkproto.CntRxPackets)
	check.Fatal(t, n.StartTrace(t.Context(), linkproto.TraceSetup{Events: []linkproto.TraceEvent{arrived}, Trigger: []linkproto.TraceEvent{arrived}, TriggerPorts: []int{2}, Post: 500}))
	var clock capture.Clock
	look := func() hostdrv.TraceState {
		s := check.Must(n.TraceState(t.Context()))(t)
		clock.Add(s)
		return s
	}
	if s := look(); !s.Recording || s.Triggered {
		t.Errorf("at first the buffer is %+v", s)
	}
	check.Fatal(t, n.Write(t.Context(), 1, 0, []byte("traced")))
	check.Fatal(t, n.Sync(t.Context(), 1))
	if s := look(); !s.Recording || !s.Triggered || s.Written < 3 {
		t.Errorf("after a packet the buffer is %+v", s)
	}
	trace := check.Must(n.ReadTrace(t.Context()))(t)
	check.Fatal(t, n.Close())
	check.Fatal(t, stop())
	w := capture.Continue(&file, 1)
	w.Trace(trace, &clock, tap.Began())
	check.Fatal(t, w.Err())

	var sent, arrivedAt float64
	for _, line := range tshark(t, file.Bytes(), "frame.time_epoch", "frame.interface_name", "lmmc.event.port", "lmmc.event.rx_packets", "frame.comment", "_ws.col.Info") {
		f := strings.Split(line, "|")
		at := check.Must(strconv.ParseFloat(f[0][strings.Index(f[0], ".")-4:], 64))(t) // the last seconds: ns do not fit otherwise
		switch {
		case f[1] == "cable" && strings.HasPrefix(f[5], "sent: WRITE"):
			sent = at
		case f[1] == "link 2" && f[2] == "2" && f[3] == "1" && f[4] == "trigger" && f[5] == "link 2: rx_packets":
			arrivedAt = at
		}
	}
	const off = 2e-6 // by which the mean of two looks at the target's time may be wrong
	if sent == 0 || math.Abs(arrivedAt-sent) > off {
		t.Errorf("sent at %.9f, arrived at %.9f", sent, arrivedAt)
	}
}

// TestTracer: requests to the trace buffer, their answers, and words that acknowledge nothing else are left out unless all is asked for.
func TestTracer(t *testing.T) {
	frame := func(seq uint8, p linkproto.Packet) []linkproto.Symbol {
		raw := check.Must(p.Append(nil))(t)
		return linkproto.AppendFrame(nil, key, seq, raw)
	}
	ack := func(n uint8) []linkproto.Symbol {
		return linkproto.AppendWord(nil, key, linkproto.Word{Kind: linkproto.KindAck, Value: n})
	}
	look, scratch := linkproto.TraceNow.Reg(), linkproto.RegScratch
	hello := linkproto.AppendInit(nil, linkproto.Init{Version: linkproto.Version, Life: 7, Page: 10, Lanes: 1})
	line := [][2][]linkproto.Symbol{
		{hello, hello},
		{ack(0), ack(0)},
		{frame(0, linkproto.Packet{Type: linkproto.TypeRegRead, Tag: 1, Reg: look}), nil},
		{nil, slices.Concat(ack(1), frame(0, linkproto.Packet{Type: linkproto.TypeRegData, Tag: 1, Reg: look}))},
		{slices.Concat(ack(1), frame(1, linkproto.Packet{Type: linkproto.TypeRegWrite, Tag: 2, Reg: linkproto.TraceControl.Reg()})), nil},
		{frame(2, linkproto.Packet{Type: linkproto.TypeRegWrite, Tag: 1, Reg: scratch}), nil},
		{nil, slices.Concat(ack(2), frame(1, linkproto.Packet{Type: linkproto.TypeDone, Tag: 2}), ack(3), frame(2, linkproto.Packet{Type: linkproto.TypeDone, Tag: 1}))},
		{ack(3), nil},
		{frame(3, linkproto.Packet{Type: linkproto.TypeRegRead, Tag: 3, Reg: linkproto.TraceRingReg(5, 1)}), nil},
		{nil, frame(3, linkproto.Packet{Type: linkproto.TypeRegData, Tag: 3, Reg: linkproto.TraceRingReg(5, 1)})},
		// Nobody knows what is sealed for another life: it is shown.
		{linkproto.AppendFrame(nil, key+1, 4, check.Must((&linkproto.Packet{Type: linkproto.TypeRegRead, Reg: look}).Append(nil))(t)), nil},
		{ack(4), linkproto.AppendWord(nil, key, linkproto.Word{Kind: linkproto.KindAck, Value: 4, Stop: true})},
	}
	for all, want := range map[bool][]string{
		false: {"sent: INIT node 0 life 00000007", "received: INIT node 0 life 00000007", "sent: ACK 0", "received: ACK 0", "sent: REG_WRITE SCRATCH seq=2", "received: ACK 3", "received: DONE seq=2", "sent: ACK 3", "sent: REG_READ TRACE NOW (wrong CRC) seq=4",
			"received: ACK 4 STOP"},
		true: {"sent: INIT node 0 life 00000007", "received: INIT node 0 life 00000007", "sent: ACK 0", "received: ACK 0", "sent: REG_READ TRACE NOW seq=0", "received: ACK 1", "received: REG_DATA TRACE NOW seq=0", "sent: ACK 1",
			"sent: REG_WRITE TRACE CONTROL seq=1", "sent: REG_WRITE SCRATCH seq=2", "received: ACK 2", "received: DONE seq=1", "received: ACK 3", "received: DONE seq=2", "sent: ACK 3",
			"sent: REG_READ TRACE_RING of place 5, word 1 seq=3", "received: REG_DATA TRACE_RING of place 5, word 1 seq=3",
			"sent: REG_READ TRACE NOW (wrong CRC) seq=4", "sent: ACK 4", "received: ACK 4 STOP"},
	} {
		var file bytes.Buffer
		w := capture.NewWriter(&file)
		cable := w.Cable(record.Header{Target: "test", Time: began, TicksPerSecond: 1e6}, all)
		for _, x := range line {
			cable.Exchange(x[0], x[1], 100)
		}
		check.Fatal(t, w.Err())
		check.Equal(t, fmt.Sprintf("all %v", all), tshark(t, file.Bytes(), "_ws.col.Info"), want)
	}
}

// FuzzCable captures anything: what was sent and received is all there, in order, in records that are not too long for Wireshark.
func FuzzCable(f *testing.F) {
	f.Add([]byte{0xDB, 0x1C, 1, 2, 3, 0xDB, 0x9C, 1, 2, 3, 4, 5, 0xDB, 0x7C, 9}, uint8(3))
	f.Add(bytes.Repeat([]byte{0xDB, 0x9C, 0}, 30), uint8(7))
	f.Add([]byte{0xDB, 0x1C, 1, 0xDB, 0x5C, 0xDB, 0x5C, 0xDB, 0x9C, 1, 0xDB, 0x5C, 9}, uint8(3))
	f.Add(append([]byte{0xDB, 0x1C}, make([]byte, 1<<17)...), uint8(255))
	f.Fuzz(func(t *testing.T, stuffed []byte, piece uint8) {
		var file bytes.Buffer
		w := capture.NewWriter(&file)
		cable := w.Cable(record.Header{Target: "any", Time: began, TicksPerSecond: 1e6}, true)
		var unstuff linkproto.Unstuffer
		symbols := unstuff.Append(nil, stuffed)
		for rest := symbols; len(rest) > 0; {
			n := min(int(piece)+1, len(rest))
			cable.Exchange(rest[:n], rest[:n], uint64(piece))
			rest = rest[n:]
		}
		end := []linkproto.Symbol{linkproto.SymSOP, linkproto.SymSOP} // what is in progress ends, and so does the first of these
		cable.Exchange(end, end, 1)
		var got [2][]byte
		for blocks := file.Bytes(); len(blocks) > 0; {
			size := binary.LittleEndian.Uint32(blocks[4:])
			if size%4 != 0 || int(size) > len(blocks) || binary.LittleEndian.Uint32(blocks[size-4:]) != size {
				t.Fatalf("a block of %d bytes", size)
			}
			if binary.LittleEndian.Uint32(blocks) == 6 {
				captured := binary.LittleEndian.Uint32(blocks[20:])
				if captured > 262144 || captured < 2 {
					t.Fatalf("a record of %d bytes", captured)
				}
				data := blocks[28 : 28+captured]
				got[data[0]] = append(got[data[0]], data[1:]...)
			}
			blocks = blocks[size:]
		}
		want := linkproto.AppendStuffed(nil, append(symbols, linkproto.SymSOP))
		if w.Err() != nil || !bytes.Equal(got[0], want) || !bytes.Equal(got[1], want) {
			t.Fatalf("%v: captured % x and % x\nof % x", w.Err(), got[0], got[1], want)
		}
	})
}

// TestBetween captures a cable between two nodes of a network: its ends are named, and times are clocks.
func TestBetween(t *testing.T) {
	var file bytes.Buffer
	w := capture.NewWriter(&file)
	cable := w.Between("n0:1", "s0:2", false)
	write := check.Must((&linkproto.Packet{Type: linkproto.TypeWrite, Data: []byte{5}}).Append(nil))(t)
	route := linkproto.Route{Dest: 9, Src: 4, State: linkproto.RouteDatagram, Packet: write}
	frame := linkproto.AppendFrame(nil, 0, 3, check.Must(route.Append(nil))(t))
	cable.Symbol(false, 7, 1) // of a frame that began before
	var want []string
	for _, clock := range []uint64{15, 30, 63} { // which a quotient of floating point may be below
		for i, s := range linkproto.AppendWord(nil, 0, linkproto.Word{Kind: linkproto.KindAck, Value: uint8(clock)}) {
			cable.Symbol(false, s, clock-linkproto.WordSymbols+1+uint64(i))
		}
		want = append(want, fmt.Sprintf("0.%09d|n0:1|s0:2|sent: ACK %d", clock, clock))
	}
	for i, s := range frame {
		cable.Symbol(false, s, uint64(1000+i))
		cable.Symbol(true, s, uint64(1500+2*i))
	}
	check.Fatal(t, w.Err())
	check.Equal(t, "tshark", tshark(t, file.Bytes(), "frame.time_epoch", "_ws.col.Source", "_ws.col.Destination", "_ws.col.Info"), append(want,
		fmt.Sprintf("0.%09d|n0:1|s0:2|sent: ROUTE 4 -> 9 WRITE seq=3", 1000+len(frame)-1),
		fmt.Sprintf("0.%09d|s0:2|n0:1|received: ROUTE 4 -> 9 WRITE seq=3", 1500+2*len(frame)-2),
	))
}
