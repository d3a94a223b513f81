package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
	lp "github.com/stafflink/lmmc/linkproto"
)

// Link types of the pcap format.
const (
	linkTypeRaw   = 101 // IP packets
	linkTypeUser0 = 147
	linkTypeUser1 = 148
)

// What one end of the cable sends to the other in the captures is sealed with key.
const host, ni lp.Life = 0x12345678, 0x5EA1ED00

var key = lp.KeyOf(host, ni)

// initOf is the record of an INIT.
func initOf(direction byte, life lp.Life) []byte {
	return record(direction, lp.AppendInit(nil, lp.Init{Version: lp.Version, Life: life, Lanes: 1}))
}

// pcap writes a capture file with one record for each packet.
func pcap(linkType uint32, packets ...[]byte) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 0xA1B2C3D4)
	b = le.AppendUint16(b, 2)
	b = le.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = le.AppendUint32(b, 65535)
	b = le.AppendUint32(b, linkType)
	for i, p := range packets {
		b = le.AppendUint32(b, uint32(i))
		b = le.AppendUint32(b, 0)
		b = le.AppendUint32(b, uint32(len(p)))
		b = le.AppendUint32(b, uint32(len(p)))
		b = append(b, p...)
	}
	return b
}

// record is a direction byte and the stuffed symbols.
func record(direction byte, symbols []lp.Symbol) []byte {
	return lp.AppendStuffed([]byte{direction}, symbols)
}

func packet(t *testing.T, p lp.Packet) []byte {
	t.Helper()
	return check.Must(p.Append(nil))(t)
}

// tshark runs tshark with the dissector on a capture and returns the fields of each packet, joined by "|".
func tshark(t *testing.T, capture []byte, options []string, fields ...string) []string {
	t.Helper()
	args := append([]string{"-T", "fields", "-E", "separator=|"}, options...)
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	return strings.Split(strings.TrimSuffix(dissect(t, capture, args...), "\n"), "\n")
}

// dissect runs tshark with the dissector on a capture.
func dissect(t *testing.T, capture []byte, options ...string) string {
	t.Helper()
	program, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed: the dissector is not tested")
	}
	file := filepath.Join(t.TempDir(), "capture.pcap")
	check.Fatal(t, os.WriteFile(file, capture, 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := append([]string{"-n", "-r", file, "-X", "lua_script:" + filepath.Join(root, "linkproto/lmmc.lua")}, options...)
	cmd := exec.CommandContext(ctx, program, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || strings.Contains(stderr.String(), "Lua") {
		t.Fatalf("tshark: %v\n%s", err, stderr.String())
	}
	return string(out)
}

func TestDissector(t *testing.T) {
	write := packet(t, lp.Packet{Type: lp.TypeWrite, Via: 1, Addr: 0x1234DB, Data: []byte{0xDB, 0x01}})
	writeFrame := lp.AppendFrame(nil, key, 200, write)
	word := lp.AppendWord(nil, key, lp.Word{Kind: lp.KindLost, Stop: true, Value: 17})
	nested := append(append(append([]lp.Symbol{}, writeFrame[:5]...), word...), writeFrame[5:]...)
	badCRC := append([]lp.Symbol{}, writeFrame...)
	badCRC[4] ^= 1
	badWord := append([]lp.Symbol{}, word...)
	badWord[5] ^= 1
	frameOf := func(p lp.Packet) []lp.Symbol { return lp.AppendFrame(nil, key, 1, packet(t, p)) }
	connect := packet(t, lp.Packet{Type: lp.TypeConnect, Port: 77, Data: []byte("hi")})
	routeOf := func(r lp.Route) []byte { return check.Must(r.Append(nil))(t) }
	frameOfRoute := func(r lp.Route) []lp.Symbol { return lp.AppendFrame(nil, key, 1, routeOf(r)) }
	datagram := lp.Route{Dest: 3, Src: 2, Hops: 7, Class: 3, State: lp.RouteDatagram, Packet: packet(t, lp.Packet{Type: lp.TypeWrite, Addr: 0x1234DB, Data: []byte{0xDB, 0x01}})}
	damagedRoute := routeOf(datagram)
	damagedRoute[len(damagedRoute)-5] ^= 1 // in the packet

	cases := []struct {
		name    string
		symbols []lp.Symbol
		fields  []string
		want    string
	}{
		{"write", writeFrame,
			[]string{"lmmc.direction", "lmmc.seq", "lmmc.type", "lmmc.via", "lmmc.length", "lmmc.addr", "lmmc.data", "lmmc.crc.good"},
			"1|200|0x01|1|6|0x001234db|db01|1"},
		{"wrong CRC", badCRC, []string{"lmmc.seq", "lmmc.crc.good"}, "200|0"},
		{"word", word,
			[]string{"lmmc.word.kind", "lmmc.word.stop", "lmmc.word.next", "lmmc.word.key", "lmmc.word.check.good"}, fmt.Sprintf("1|1|17|0x%08x|1", uint32(key))},
		{"damaged word", badWord, []string{"lmmc.word.check.good"}, "0"},
		{"INIT", lp.AppendInit(nil, lp.Init{Version: lp.Version, Node: 5, Life: ni, Page: 10, Routes: true, Lanes: 8, Lane: 7}),
			[]string{"lmmc.word.kind", "lmmc.word.version", "lmmc.word.node", "lmmc.word.life", "lmmc.word.page", "lmmc.word.routes", "lmmc.word.lanes", "lmmc.word.lane", "lmmc.word.check.good",
				"lmmc.word.next", "_ws.col.Info"}, "2|3|5|0x5ea1ed00|10|1|7|7|1||received: INIT node 5 life 5ea1ed00"},
		{"barrier", lp.AppendWord(nil, key, lp.Word{Kind: lp.KindBarrier, Group: 3, Value: 200}), []string{"lmmc.word.group", "lmmc.word.generation", "lmmc.word.phase", "_ws.col.Info"},
			"3|12|8|received: BARRIER group 3 phase 8"},
		{"word in a frame", nested, []string{"lmmc.word.next", "lmmc.seq", "lmmc.addr", "lmmc.crc.good", "_ws.col.Info"},
			"17|200|0x001234db|1|received: LOST 17 STOP, WRITE seq=200"},
		{"register", frameOf(lp.Packet{Type: lp.TypeRegWrite, Tag: 3, Reg: lp.CounterReg(2, lp.CntRxGap), Value: 0xCAFE}),
			[]string{"lmmc.tag", "lmmc.reg", "lmmc.value"}, "3|0x0124|0x0000cafe"},
		{"done", frameOf(lp.Packet{Type: lp.TypeDone, Tag: 3, Status: lp.StatusNoSpace}), []string{"lmmc.tag", "lmmc.status"}, "3|5"},
		{"trap", frameOf(lp.Packet{Type: lp.TypeTrap, Via: 2, Data: connect}),
			[]string{"lmmc.via", "lmmc.port", "lmmc.params", "_ws.col.Info"}, "2,0|77|6869|received: TRAP CONNECT seq=1"},
		{"node", frameOf(lp.Packet{Type: lp.TypeConnect, Port: 5, Data: (&lp.NodeMessage{Kind: lp.NodeRefuse, Role: 1, Text: []byte("no room")}).Append(nil)}),
			[]string{"lmmc.node", "lmmc.node.role", "lmmc.node.text", "_ws.col.Info"}, "4|1|no room|received: CONNECT REFUSE seq=1"},
		{"trapped hello", frameOf(lp.Packet{Type: lp.TypeTrap, Via: 1, Data: packet(t, lp.Packet{Type: lp.TypeConnect, Data: (&lp.NodeMessage{Kind: lp.NodeHello,
			Flags: lp.NodeFlagAgain, Session: 0xABCDEF01, PageBytes: 1024, FirstFrame: 4, Frames: 12}).Append(nil)})}),
			[]string{"lmmc.node.version", "lmmc.node.flags", "lmmc.node.session", "lmmc.node.page_bytes", "lmmc.node.first_frame", "lmmc.node.frames", "_ws.col.Info"},
			fmt.Sprint(lp.NodeVersion, "|0x01|0xabcdef01|1024|4|12|received: TRAP CONNECT HELLO seq=1")},
		{"hello of another version", frameOf(lp.Packet{Type: lp.TypeConnect, Data: []byte{byte(lp.NodeHello), lp.NodeVersion + 1, 1, 7, 7}}),
			[]string{"lmmc.node.version", "lmmc.node.flags", "lmmc.node.session", "_ws.col.Info"}, fmt.Sprint(lp.NodeVersion+1, "|0x01||received: CONNECT HELLO seq=1")},
		{"no node's", frameOf(lp.Packet{Type: lp.TypeConnect, Data: []byte{byte(lp.NodeMissed), 1, 2}}), []string{"lmmc.params", "lmmc.node", "_ws.col.Info"}, "060102||received: CONNECT seq=1"},
		{"notify", frameOf(lp.Packet{Type: lp.TypeNotify, Frame: 3, First: 4, Last: 5}),
			[]string{"lmmc.frame", "lmmc.first", "lmmc.last"}, "3|4|5"},
		{"space", frameOf(lp.Packet{Type: lp.TypeSpace, Bytes: 300, Packets: 5}), []string{"lmmc.bytes", "lmmc.packets"}, "300|5"},
		{"routed", lp.AppendFrame(nil, key, 1, []byte{byte(lp.TypeRoute), 12, 0, 1, 2, 3, 4, 0xC5, 6, 7, 1, 8, 9, 0xAA, 0xBB}),
			[]string{"lmmc.dest", "lmmc.src", "lmmc.path", "lmmc.vl", "lmmc.state", "lmmc.next", "lmmc.vl_seq", "lmmc.routed", "_ws.col.Info"},
			"513|1027|197|1798|1|8|9|aabb|received: ROUTE 1027 -> 513 seq=1"},
		{"datagram", frameOfRoute(datagram), []string{"lmmc.dest", "lmmc.type", "lmmc.addr", "lmmc.data", "lmmc.route.crc.good", "_ws.expert", "_ws.col.Info"},
			"3|0x06,0x01|0x001234db|db01|1||received: ROUTE 2 -> 3 WRITE seq=1"},
		{"datagram that a router has damaged", lp.AppendFrame(nil, key, 1, damagedRoute), []string{"lmmc.route.crc.good", "_ws.col.Info"},
			"0|received: ROUTE 2 -> 3 WRITE (wrong CRC of the ROUTE) seq=1"},
		{"packet of a virtual link", frameOfRoute(lp.Route{Dest: 3, Src: 2, VL: 5, State: 1, Packet: connect}), []string{"lmmc.params", "lmmc.route.crc.good", "_ws.col.Info"},
			"6869||received: ROUTE 2 -> 3 VL 5 ACK 0 CONNECT seq=1"},
		{"acknowledgement of a virtual link", frameOfRoute(lp.Route{Dest: 3, Src: 2, VL: 5, Next: 4, State: lp.VLState{Kind: lp.KindLost, Stop: true}.Byte()}),
			[]string{"lmmc.vl.kind", "lmmc.vl.stop", "_ws.expert", "_ws.col.Info"}, "1|1||received: ROUTE 2 -> 3 VL 5 LOST 4 STOP seq=1"},
		{"INIT of a virtual link", frameOfRoute(lp.Route{Dest: 3, Src: 2, Next: lp.Version, State: lp.VLState{Kind: lp.KindInit}.Byte(),
			Packet: lp.VLInit{Number: 9, Life: 0xABCDEF01, Heard: 7, Page: 10, Channel: 5}.Append(nil)}),
			[]string{"lmmc.vl.number", "lmmc.vl.life", "lmmc.vl.heard", "lmmc.vl.page", "lmmc.vl.channel", "_ws.expert", "_ws.col.Info"},
			"9|0xabcdef01|0x00000007|10|5||received: ROUTE 2 -> 3 INIT channel 5 life abcdef01 seq=1"},
		{"aborted frame", slices.Concat(writeFrame[:9], []lp.Symbol{lp.SymAbort}),
			[]string{"lmmc.seq", "lmmc.type", "_ws.expert", "_ws.col.Info"}, "200|||received: aborted frame seq=200"},
		{"ABORT alone", []lp.Symbol{lp.SymAbort, lp.SymSOP, lp.SymAbort},
			[]string{"lmmc.seq", "_ws.expert", "_ws.col.Info"}, "||received: ABORT, aborted frame"},
		{"garbage", []lp.Symbol{7, lp.SymErr, lp.SymEOP, lp.SymSOP, lp.SymEOP, lp.SymSOP, lp.SymLSW, 1, lp.SymSOP},
			[]string{"_ws.col.Info"},
			"received: stray data, undecodable symbol, stray EOP, short frame, word cut off, frame cut off, incomplete"},
	}
	// One capture with all of them, and all fields of each: tshark takes a second to start.
	records := [][]byte{initOf(0, host), initOf(1, ni)}
	var fields []string
	for _, c := range cases {
		records = append(records, record(1, c.symbols))
		fields = append(fields, c.fields...)
	}
	slices.Sort(fields)
	fields = slices.Compact(fields)
	rows := tshark(t, pcap(linkTypeUser0, records...), nil, fields...)[2:]
	for i, c := range cases {
		columns, got := strings.Split(rows[i], "|"), []string{}
		for _, f := range c.fields {
			got = append(got, columns[slices.Index(fields, f)])
		}
		check.Equal(t, c.name, strings.Join(got, "|"), c.want)
	}
}

// TestDissectorDeframer: the dissector finds in any line what a Deframer does. It alone also names what is no event of a Deframer's.
func TestDissectorDeframer(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	whole := lp.AppendFrame(nil, key, 9, packet(t, lp.Packet{Type: lp.TypeWrite, Data: []byte{1}}))
	damaged := slices.Clone(whole)
	damaged[6] ^= 1
	word := lp.AppendWord(nil, key, lp.Word{Value: 5})
	pieces := [][]lp.Symbol{whole, whole, damaged, word, {lp.SymSOP}, {lp.SymEOP}, {lp.SymAbort}, {lp.SymAbort}, {lp.SymErr}, {7}}
	texts := map[lp.Reason]string{lp.FrameCRC: "WRITE (wrong CRC) seq=9", lp.FrameShort: "short frame", lp.FrameStart: "frame cut off",
		lp.WordCut: "word cut off", lp.StrayData: "stray data", lp.StrayEOP: "stray EOP"}
	deframer := lp.NewDeframer(lp.MaxPacket(lp.MaxPageBytes))
	deframer.SetKey(key)

	records := [][]byte{initOf(0, host), initOf(1, ni)}
	var want []string
	for range 300 {
		var line []lp.Symbol
		for range 1 + rng.IntN(8) {
			piece := pieces[rng.IntN(len(pieces))]
			line = append(line, piece[:1+rng.IntN(len(piece))]...) // often cut
		}
		records = append(records, record(1, line))
		found := []string{}
		deframer.Reset()
		for len(line) > 0 {
			event, n := deframer.Next(line)
			line = line[n:]
			switch text := texts[event.Reason]; {
			case event.Kind == lp.EventFrame:
				found = append(found, "WRITE seq=9")
			case event.Kind == lp.EventWord:
				found = append(found, "ACK 5")
			case text != "":
				found = append(found, text)
			}
		}
		want = append(want, strings.Join(found, ", "))
	}
	own := regexp.MustCompile(`^(|aborted frame( seq=\d+)?|ABORT|undecodable symbol|incomplete)$`)
	for i, info := range tshark(t, pcap(linkTypeUser0, records...), nil, "_ws.col.Info")[2:] {
		found := slices.DeleteFunc(strings.Split(strings.TrimPrefix(info, "received: "), ", "), own.MatchString)
		check.Equal(t, fmt.Sprintf("line %x: %s", records[2+i], info), strings.Join(found, ", "), want[i])
	}
}

// TestEnds: the columns for source and destination name the ends of the cable, the link that a packet goes by, or the port that was recorded.
func TestEnds(t *testing.T) {
	write := lp.AppendFrame(nil, 0, 1, packet(t, lp.Packet{Type: lp.TypeWrite, Via: 3, Data: []byte{1}}))
	read := lp.AppendFrame(nil, 0, 2, packet(t, lp.Packet{Type: lp.TypeRegRead, Tag: 1}))
	word := lp.AppendWord(nil, 0, lp.Word{Kind: lp.KindAck})
	for _, c := range []struct {
		capture []byte
		want    []string
	}{
		{pcap(linkTypeUser0, record(0, write), record(0, read), record(1, write), record(1, word)), []string{"host|link 3", "host|NI", "link 3|host", "NI|host"}},
		{pcap(linkTypeUser1, binary.LittleEndian.AppendUint64(nil, 0), binary.LittleEndian.AppendUint64(nil, uint64(lp.TraceWordPort.In(2))<<32)),
			[]string{"host port|trace buffer", "link 2|trace buffer"}},
	} {
		check.Equal(t, "tshark", tshark(t, c.capture, nil, "_ws.col.Source", "_ws.col.Destination"), c.want)
	}
}

// tcp makes an IPv4 packet with a TCP segment from port 4000 to port 5000.
func tcp(seq uint32, payload []byte) []byte {
	be := binary.BigEndian
	b := be.AppendUint16([]byte{0x45, 0}, uint16(40+len(payload)))
	b = append(b, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2)
	b = be.AppendUint16(b, 4000)
	b = be.AppendUint16(b, 5000)
	b = be.AppendUint32(b, seq)
	b = append(b, 0, 0, 0, 1, 0x50, 0x18, 0x10, 0, 0, 0, 0, 0)
	return append(b, payload...)
}

// TestDissectorTCP: a frame that runs over two segments is put together.
func TestDissectorTCP(t *testing.T) {
	done := packet(t, lp.Packet{Type: lp.TypeDone, Tag: 3})
	stream := lp.AppendStuffed(nil, lp.AppendFrame(lp.AppendFrame(nil, 0, 4, done), 0, 5, done))
	cut := len(stream) - 6
	capture := pcap(linkTypeRaw, tcp(1, stream[:cut]), tcp(uint32(1+cut), stream[cut:]))
	got := tshark(t, capture, []string{"-d", "tcp.port==5000,lmmc_pipe"}, "lmmc.seq", "lmmc.tag", "lmmc.crc.good")
	check.Equal(t, "tshark", got, []string{"4|3|", "5|3|"})
}

// TestDissectorKeys: the keys are those of the last INITs of both ends, or without them what two words of one end agree on.
func TestDissectorKeys(t *testing.T) {
	word := func(k lp.Key) []lp.Symbol { return lp.AppendWord(nil, k, lp.Word{Value: 1}) }
	frame := func(k lp.Key) []lp.Symbol {
		return lp.AppendFrame(nil, k, 1, packet(t, lp.Packet{Type: lp.TypeDone}))
	}
	const again = ni ^ 1<<24
	for _, c := range []struct {
		name    string
		records [][]byte
		good    []string // of a word's check, and of a frame's CRC
	}{
		{"two words", [][]byte{record(1, frame(key)), record(1, word(key)), record(1, word(key)), record(1, frame(key)), record(1, word(key^4))},
			[]string{"|", "|", "1|", "|1", "0|"}},
		{"words that differ", [][]byte{record(1, word(key^4)), record(1, word(key)), record(1, frame(key)), record(1, word(key)), record(1, frame(key))},
			[]string{"|", "|", "|", "1|", "|1"}},
		{"the other direction", [][]byte{record(0, word(key)), record(0, word(key)), record(1, frame(key)), record(1, frame(key.Back())), record(0, frame(key))},
			[]string{"|", "1|", "|0", "|1", "|1"}},
		{"another life", [][]byte{initOf(0, host), record(1, word(key)), initOf(1, ni), record(1, word(key)), record(0, frame(key.Back())), initOf(1, again),
			record(1, word(key)), record(1, word(lp.KeyOf(host, again)))}, []string{"1|", "|", "1|", "1|", "|1", "1|", "0|", "1|"}},
	} {
		twice := []string{"-2"} // in the order of the capture, and then what was seen is shown again
		check.Equal(t, c.name, tshark(t, pcap(linkTypeUser0, c.records...), twice, "lmmc.word.check.good", "lmmc.crc.good"), c.good)
	}
	stream := tcp(1, lp.AppendStuffed(nil, slices.Concat(word(key), word(key), frame(key))))
	check.Equal(t, "TCP", tshark(t, pcap(linkTypeRaw, stream), []string{"-d", "tcp.port==5000,lmmc_pipe"}, "lmmc.crc.good"), []string{"1"})
}

// TestRegisterNames: the dissector names the registers of all blocks.
func TestRegisterNames(t *testing.T) {
	var records [][]byte
	var want []string
	for _, c := range []struct {
		reg  lp.Reg
		name string
	}{
		{lp.RegScratch, "SCRATCH"},
		{lp.LinkStatusReg(2), "LINK_STATUS of link 2"},
		{lp.PeerReg(7), "PEER of link 7"},
		{lp.RegNonce, "NONCE"},
		{lp.CounterReg(1, lp.CntRxCRC), "rx_crc of link 1"},
		{lp.TraceNow.Reg(), "TRACE NOW"},
		{lp.TraceNow.Reg() + 1, "unknown"},
		{lp.InjectReg(4).Reg(7), "INJECT FLIP of link 7"},
		{lp.InjectReg(15).Reg(7), "unknown"},
		{lp.FrameReg(3), "FRAME_TABLE + 3"},
		{lp.RouterHops.Reg(16), "router HOPS of port 16"},
		{lp.PortStatusReg(16), "PORT_STATUS of port 16"},
		{lp.PortPeerReg(0), "PORT_PEER of port 0"},
		{lp.PortPeerReg(17), "unknown"},
		{lp.PortCounterReg(16, lp.CntReplays), "replays of port 16"},
		{lp.RouteReg(lp.MaxNode), "ROUTE_TABLE of node 4095"},
		{lp.GroupReg(3), "GROUP_TABLE + 3"},
		{lp.TraceRingReg(100, 1), "TRACE_RING of place 100, word 1"},
	} {
		records = append(records, record(0, lp.AppendFrame(nil, 0, 1, packet(t, lp.Packet{Type: lp.TypeRegRead, Reg: c.reg}))))
		want = append(want, c.name)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^ +reg: .*?\((.*)\)$`).FindAllStringSubmatch(dissect(t, pcap(linkTypeUser0, records...), "-V"), -1) {
		got = append(got, m[1])
	}
	check.Equal(t, "tshark", got, want)
}

// TestDissectorTrace: records of a trace buffer.
func TestDissectorTrace(t *testing.T) {
	words := lp.TraceRecord{Time: 0x12345678, Port: 5, Lost: true, Events: lp.EvTrapped.Bit() | lp.TraceEvent(lp.CntRxCRC).Bit()}.Words()
	raw := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, words[0]), words[1])
	got := tshark(t, pcap(linkTypeUser1, raw), nil, "lmmc.event.clock", "lmmc.event.port", "lmmc.event.lost", "lmmc.event.trapped", "lmmc.event.rx_crc",
		"lmmc.event.up", "_ws.col.Info")
	check.Equal(t, "tshark", got, []string{"305419896|5|1|1|1||link 5: rx_crc, trapped"})
}
