// Package ethernettap tests a design with GMII: frames from a model of the interface, frames with errors, and frames of the kernel over a TAP.
package ethernettap

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/ethernet"
	"github.com/stafflink/lmmc/verilator"
)

// open opens a bench of a reflector with both ends of its GMII.
func open(t *testing.T) (*testbench.Bench, *ethernet.Source, *ethernet.Sink) {
	t.Helper()
	b := testbench.New(t, verilator.Design{Top: "reflector", Sources: []string{"reflector.v"}}, testbench.Config{})
	source, err := ethernet.NewGMIISource(b, "g", ethernet.Config{})
	if err != nil {
		t.Fatal(err)
	}
	sink, err := ethernet.NewGMIISink(b, "g", ethernet.Config{})
	if err != nil {
		t.Fatal(err)
	}
	b.Reset("rst", 4)
	return b, source, sink
}

// reflected is a frame on its way back.
func reflected(frame []byte) []byte {
	back := bytes.Clone(frame)
	copy(back, frame[6:12])
	copy(back[6:], frame[:6])
	return back
}

func TestFrames(t *testing.T) {
	b, source, sink := open(t)
	b.Go("frames", func(task *testbench.Task) {
		random := b.Rand("frames")
		for range 60 {
			sent := random.Bytes(random.Between(60, 1514))
			switch random.IntN(4) {
			case 0:
				source.Put(ethernet.Frame{Data: sent, BadFCS: true})
			case 1:
				source.Put(ethernet.Frame{Data: sent, Error: true})
			default:
				source.Put(ethernet.Frame{Data: sent})
				if got := sink.Get(task); got.BadFCS || got.Error || !bytes.Equal(got.Data, reflected(sent)) {
					task.Fatalf("%x came back as %x", sent, got.Data)
				}
			}
			source.Drain(task)
		}
	})
	b.Run(1_000_000)
	good := sink.Count()
	b.Step(4000)
	if good == 0 || sink.Count() != good {
		t.Errorf("%d frames came back, %d later: a bad one was sent back", good, sink.Count()-good)
	}
}
