package capture_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/capture"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/linkproto"
)

// FuzzCable captures anything: what was sent and received is all there, in order, in records that are not too long for Wireshark.
func FuzzCable(f *testing.F) {
	f.Add([]byte{0xDB, 0x1C, 1, 2, 3, 0xDB, 0x9C, 1, 2, 3, 4, 5, 0xDB, 0x7C, 9}, uint8(3))
	f.Add(bytes.Repeat([]byte{0xDB, 0x9C, 0}, 30), uint8(7))
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
