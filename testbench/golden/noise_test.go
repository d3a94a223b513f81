package golden

import (
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// Of words each of which noise would hit, one gets through as soon as there was none for as long as the noise's patience, and not sooner.
func TestNoiseSparesWords(t *testing.T) {
	const every, patience, line = 100, 1000, 20 * 1000
	for _, test := range []struct{ patience, spared int }{{0, 0}, {patience, line / (patience + every)}} {
		rates := testbench.FaultRates{Symbols: line, Duplicate: 1. / 8, BitError: 1. / 36, Unplug: 1. / 8, UnplugLength: 32768, Open: uint64(linkproto.SymIdle)}
		n := noise{injector: testbench.GenerateFaults(testbench.NewRand(1), rates).Injector(9), patience: test.patience}
		d, spared := linkproto.NewDeframer(100), 0
		d.SetKey(0)
		for at := 0; at < line; at += every {
			symbols := linkproto.AppendWord(nil, 0, linkproto.Word{Value: uint8(at / every)})
			for len(symbols) < every {
				symbols = append(symbols, linkproto.SymIdle)
			}
			events := n.pass(symbols)
			for len(events) > 0 {
				ev, used := d.Next(events)
				if events = events[used:]; ev.Kind == linkproto.EventWord && ev.Word.Value == uint8(at/every) {
					spared++
				}
			}
		}
		if spared != test.spared {
			t.Errorf("patience %d: %d words of %d got through, want %d", test.patience, spared, line/every, test.spared)
		}
	}
}
