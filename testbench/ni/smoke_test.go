package ni

import (
	"bytes"
	"context"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/verilator"
)

func TestSmoke(t *testing.T) {
	p := Params{}.WithDefaults()
	lib, err := verilator.Build(context.Background(), p.Design())
	if err != nil {
		t.Fatal(err)
	}
	m, err := lib.New(verilator.Config{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.Clock("clk", 10, 0)
	var pins struct {
		Rst *bool `port:"rst"`
	}
	if err := m.Bind(&pins); err != nil {
		t.Fatal(err)
	}
	host, err := NewHost(m, p, 9)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := NewPort(m, 1, flowctl.Config{MaxPacket: p.MaxPacket(), Epoch: 77})
	if err != nil {
		t.Fatal(err)
	}
	*pins.Rst = true
	m.Run(64)
	*pins.Rst = false
	host.sink.Discard()
	peer.sink.Discard()
	run := func(n int) {
		for range n / 16 {
			host.before(16)
			peer.before(16)
			if err := m.Run(16); err != nil {
				t.Fatal(err)
			}
			host.after(16)
			peer.after(16)
			host.poll()
		}
	}
	run(1000)
	t.Log(host.Link.Status(), peer.Link.Status())
	show := func(p linkproto.Packet) { t.Logf("%+v", p) }
	host.Request(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: 0}, show)
	host.Request(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: 6}, show)
	host.Request(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: 0x21}, show)
	host.Request(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: 0x402, Value: 1<<31 | 1}, show)
	run(2000)
	data := []byte("hello, link memory! 0123456789")
	w := linkproto.Packet{Type: linkproto.TypeWrite, Addr: 2049, Data: data}
	raw, _ := w.Append(nil)
	peer.Link.Send(raw)
	run(1000)
	var got []byte
	host.Request(linkproto.Packet{Type: linkproto.TypeBufRead, Addr: 2049, Count: uint16(len(data))}, func(p linkproto.Packet) { got = bytes.Clone(p.Data) })
	if err := host.Write(1, 5, data); err != nil {
		t.Fatal(err)
	}
	run(2000)
	if !bytes.Equal(got, data) {
		t.Errorf("got %q", got)
	}
	r, ok := peer.Link.Receive()
	t.Logf("%x %v", r, ok)
	for c := range linkproto.NumCounters {
		host.Request(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.CounterReg(1, linkproto.Counter(c))}, func(p linkproto.Packet) {
			t.Logf("%v = %d", linkproto.Counter(c), p.Value)
		})
	}
	run(4000)
	t.Log(host.err, host.Outstanding(1), host.Freed(1))
}
