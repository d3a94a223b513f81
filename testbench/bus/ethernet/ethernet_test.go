package ethernet_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/ethernet"
	"github.com/stafflink/lmmc/verilator"
)

var through = verilator.Design{Top: "mii_through", Sources: []string{"testdata/mii_through.v"}}

// The check value of CRC-32/ISO-HDLC, and the remainder that a frame with its frame check sequence leaves.
func TestFCS(t *testing.T) {
	check.Equal(t, "check value", ethernet.FCS([]byte("123456789")), 0xCBF43926)
	data := []byte("any frame")
	check.Equal(t, "remainder", ethernet.FCS(binary.LittleEndian.AppendUint32(data, ethernet.FCS(data))), 0x2144DF1C)
}

type ends struct {
	kind   string
	prefix string
	source func(*testbench.Bench, string, ethernet.Config) (*ethernet.Source, error)
	sink   func(*testbench.Bench, string, ethernet.Config) (*ethernet.Sink, error)
	speed  int
}

var interfaces = []ends{
	{"MII", "m", ethernet.NewGMIISource, ethernet.NewGMIISink, 0},
	{"GMII", "g", ethernet.NewGMIISource, ethernet.NewGMIISink, 0},
	{"RGMII", "r", ethernet.NewRGMIISource, ethernet.NewRGMIISink, 0},
	{"XGMII, 32 bits", "x", ethernet.NewXGMIISource, ethernet.NewXGMIISink, 0},
	{"XGMII, 64 bits", "y", ethernet.NewXGMIISource, ethernet.NewXGMIISink, 0},
	{"RGMII at 100 Mbit/s", "r", ethernet.NewRGMIISource, ethernet.NewRGMIISink, 100},
	{"RGMII at 10 Mbit/s, with TXC", "s", ethernet.NewRGMIISource, ethernet.NewRGMIISink, 10},
}

// open opens both models of an interface.
func (e ends) open(t *testing.T, b *testbench.Bench, c ethernet.Config) (*ethernet.Source, *ethernet.Sink) {
	c.Speed = e.speed
	in := ethernet.Config{Speed: e.speed}
	if e.prefix == "s" {
		in.Clock = check.Must(b.Clock("s_rxc", 50, 3))(t)
	}
	return check.Must(e.source(b, e.prefix, in))(t), check.Must(e.sink(b, e.prefix, c))(t)
}

// Frames of all sizes arrive as they were sent, with and without errors, at the shortest gap and others.
func TestFrames(t *testing.T) {
	for _, e := range interfaces {
		t.Run(e.kind, func(t *testing.T) {
			b := testbench.New(t, through, testbench.Config{})
			source, sink := e.open(t, b, ethernet.Config{Config: bus.Config{Waive: []string{ethernet.RuleFCS}}})
			check.Fatal(t, b.Reset("rst", 4))
			rng := b.Rand("frames")
			var sent []ethernet.Frame
			for i := range 60 {
				n := []int{60, 61, 1514, 0}[min(i, 3)]
				if n == 0 {
					n = rng.Between(60, 300)
				}
				sent = append(sent, ethernet.Frame{Data: rng.Bytes(n), BadFCS: i%10 == 8, Error: i%10 == 6 && e.kind != "MII"})
			}
			b.Go("send", func(c *testbench.Task) {
				source.Put(sent[:30]...)
				source.Drain(c)
				source.SetThrottle(0.8)
				source.Put(sent[30:]...)
			})
			b.Go("receive", func(c *testbench.Task) {
				for i, want := range sent {
					got := sink.Get(c)
					same := bytes.Equal(got.Data, want.Data) && got.BadFCS == want.BadFCS
					if got.Error != want.Error || !same && !want.Error || got.Preamble != 0 {
						c.Fatalf("frame %d: have %+v, want %+v", i, got, want)
					}
				}
			})
			check.Fatal(t, b.Run(500_000))
			unhit := sink.Coverage().Unhit()
			if e.kind == "MII" {
				unhit = slices.DeleteFunc(unhit, func(s string) bool { return s == "frame: error" })
			}
			check.Equal(t, "not covered", unhit, nil)
			if e.kind == "GMII" {
				check.Fatal(t, b.Step(40))
				good, bad := check.Must(b.Model().Peek("good"))(t), check.Must(b.Model().Peek("bad"))(t)
				if good+bad != 60 || bad != 6 {
					t.Errorf("the design counts %d frames good and %d bad, want 54 and 6", good, bad)
				}
			}
		})
	}
}

func TestViolations(t *testing.T) {
	good := ethernet.Frame{Data: make([]byte, 60)}
	for _, test := range []struct {
		rule   string
		ends   ends
		broken uint64
		frames []ethernet.Frame
	}{
		{ethernet.RuleFCS, interfaces[1], 0, []ethernet.Frame{{Data: good.Data, BadFCS: true}}},
		{ethernet.RuleSize, interfaces[1], 0, []ethernet.Frame{{Data: make([]byte, 59)}}},
		{ethernet.RuleSize, interfaces[2], 0, []ethernet.Frame{{Data: make([]byte, 1515)}}},
		{ethernet.RuleGap, interfaces[1], 0, []ethernet.Frame{good, {Data: good.Data, Gap: 11}}},
		{ethernet.RuleGap, interfaces[3], 0, []ethernet.Frame{good, {Data: good.Data, Gap: 8}}},
		{ethernet.RulePreamble, interfaces[1], 0, []ethernet.Frame{{Data: good.Data, Preamble: -1}}},
		{ethernet.RuleStartOf, interfaces[1], 1, []ethernet.Frame{good}},
		{ethernet.RuleGMII, interfaces[1], 2, nil},
		{ethernet.RuleOctets, interfaces[0], 3, []ethernet.Frame{good}},
		{ethernet.RuleStart, interfaces[3], 4, []ethernet.Frame{good}},
		{ethernet.RuleEnd, interfaces[3], 5, []ethernet.Frame{good}},
		{ethernet.RuleXGMII, interfaces[3], 6, []ethernet.Frame{good}},
		{ethernet.RuleStart, interfaces[3], 7, nil},
		{ethernet.RuleOctets, interfaces[6], 8, []ethernet.Frame{good}},
		{ethernet.RuleFCS, interfaces[5], 0, []ethernet.Frame{{Data: good.Data, BadFCS: true}}},
	} {
		t.Run(fmt.Sprint(test.rule, ", ", test.ends.kind, " ", test.broken), func(t *testing.T) {
			b := testbench.New(t, through, testbench.Config{})
			check.Fatal(t, b.Model().Poke("broken", test.broken))
			var rules []string
			source, _ := test.ends.open(t, b, ethernet.Config{Config: bus.Config{Violation: func(v bus.Violation) { rules = append(rules, v.Rule) }}})
			check.Fatal(t, b.Reset("rst", 4))
			source.Put(test.frames...)
			check.Fatal(t, b.Step(2000))
			if len(rules) == 0 || rules[0] != test.rule {
				t.Errorf("found %v", slices.Compact(rules))
			}
		})
	}
}

func TestPorts(t *testing.T) {
	b := check.Must(testbench.Open(t.Context(), through, testbench.Config{}))(t)
	defer b.Close()
	check.Fails(t, "prefix", check.Err(ethernet.NewGMIISink(b, "gmii", ethernet.Config{})), verilator.ErrPort, "gmii gmii: ", "no output for RXD")
	names := map[string]string{"rxd": "x_rxd", "rx_dv": "g_rx_dv"}
	check.Fails(t, "width", check.Err(ethernet.NewGMIISource(b, "g", ethernet.Config{Config: bus.Config{Names: names}})), verilator.ErrPort,
		"x_rxd has 32 bits, want 8, or 4 for MII")
	check.Fails(t, "speed", check.Err(ethernet.NewRGMIISource(b, "r", ethernet.Config{Speed: 1})), nil, "rgmii r: Config.Speed is 1 Mbit/s: want 1000, 100 or 10")
	check.Fails(t, "speed", check.Err(ethernet.NewGMIISink(b, "g", ethernet.Config{Speed: 100})), nil, "gmii g: Config.Speed is for RGMII")
	check.Fails(t, "width", check.Err(ethernet.NewXGMIISource(b, "g", ethernet.Config{Config: bus.Config{Names: map[string]string{"rxc": "g_rx_dv"}}})), verilator.ErrPort,
		"g_rxd has 8 bits and g_rx_dv has 1: want 32 and 4, or 64 and 8")
}

// What is written is read again, in either order of bytes.
func TestPcap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var file bytes.Buffer
		w := check.Must(ethernet.NewPcapWriter(&file))(t)
		frames := rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 100)).Draw(t, "frames")
		for i, f := range frames {
			check.Fatal(t, w.Write(time.Duration(i)*1500*time.Millisecond, ethernet.Frame{Data: f}))
		}
		got := check.Must(ethernet.ReadPcap(bytes.NewReader(file.Bytes())))(t)
		if len(got) != len(frames) {
			t.Fatalf("%d frames, want %d", len(got), len(frames))
		}
		for i, f := range got {
			if !bytes.Equal(f.Data, frames[i]) || f.At != time.Duration(i)*1500*time.Millisecond {
				t.Fatalf("frame %d: have %v, want %x", i, f, frames[i])
			}
		}
	})
}

func TestPcapErrors(t *testing.T) {
	header := func(order binary.ByteOrder, magic, link uint32) string {
		h := make([]byte, 24)
		order.PutUint32(h, magic)
		order.PutUint32(h[20:], link)
		return string(h)
	}
	micro := uint32(0xA1B2C3D4)
	record := "\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x03abc"
	got, err := ethernet.ReadPcap(strings.NewReader(header(binary.BigEndian, micro, 1) + record))
	if err != nil || len(got) != 1 || got[0].At != time.Second+2*time.Microsecond || string(got[0].Data) != "abc" {
		t.Errorf("big-endian: %v, %v", got, err)
	}
	checked := record[:8] + "\x00\x00\x00\x07\x00\x00\x00\x07abcdefg"
	got, err = ethernet.ReadPcap(strings.NewReader(header(binary.BigEndian, micro, 2<<28|1<<26|1) + checked)) // two words of check sequence
	if err != nil || len(got) != 1 || string(got[0].Data) != "abc" {
		t.Errorf("with frame check sequences: %v, %v", got, err)
	}
	for want, file := range map[string]string{
		"first 24 bytes":                "",
		"it is pcapng: convert it":      header(binary.LittleEndian, 0x0A0D0D0A, 0),
		"it begins with 0x1020304":      header(binary.BigEndian, 0x01020304, 0),
		"link type is 105, want 1":      header(binary.LittleEndian, micro, 105),
		"record 0: unexpected EOF":      header(binary.BigEndian, micro, 1) + record[:len(record)-1],
		"record 1: unexpected EOF":      header(binary.BigEndian, micro, 1) + record + "\x00",
		"record 0 has 1633837924 bytes": header(binary.BigEndian, micro, 1) + "abcdabcdabcdabcd",
		"record 1 has 3 bytes of 4":     header(binary.BigEndian, micro, 1) + record + record[:15] + "\x04abc",
	} {
		if _, err := ethernet.ReadPcap(strings.NewReader(file)); !errors.Is(err, ethernet.ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: have %v", want, err)
		}
	}
}

func FuzzReadPcap(f *testing.F) {
	f.Add([]byte("\xd4\xc3\xb2\xa1"))
	f.Fuzz(func(t *testing.T, file []byte) {
		frames, err := ethernet.ReadPcap(bytes.NewReader(file))
		n := 24
		for _, frame := range frames {
			n += 16 + cap(frame.Data) // with the check sequence
		}
		if err == nil && n != len(file) {
			t.Errorf("%d frames make %d bytes of %d", len(frames), n, len(file))
		}
	})
}
