package linkproto_test

import (
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// A remote write becomes a packet, a frame, and bytes for a UART; and back.
func Example() {
	write := linkproto.Packet{Type: linkproto.TypeWrite, Via: 1, Addr: 0x400, Data: []byte("hello")}
	payload, err := write.Append(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	const key = 0x5EA1ED00 // the receiver's life
	line := linkproto.AppendStuffed(nil, linkproto.AppendFrame(nil, key, 0, payload))

	var unstuffer linkproto.Unstuffer
	deframer := linkproto.NewDeframer(linkproto.MaxPacket(1024))
	deframer.SetKey(key)
	event, _ := deframer.Next(unstuffer.Append(nil, line))
	var p linkproto.Packet
	if err := p.Decode(event.Payload); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("frame %d: %v via %d to 0x%X: %s\n", event.Seq, p.Type, p.Via, p.Addr, p.Data)
	// Output: frame 0: WRITE via 1 to 0x400: hello
}

// A link state word may stand between any two symbols of a frame.
func ExampleDeframer() {
	const key = 0x5EA1ED00 // the receiver's life
	f := linkproto.AppendFrame(nil, key, 5, []byte("abcdef"))
	word := linkproto.Word{Kind: linkproto.KindAck, Value: 17, Stop: true}
	line := append(linkproto.AppendWord(append([]linkproto.Symbol{}, f[:4]...), key, word), f[4:]...)

	deframer := linkproto.NewDeframer(100)
	deframer.SetKey(key)
	for len(line) > 0 {
		event, n := deframer.Next(line)
		line = line[n:]
		switch event.Kind {
		case linkproto.EventFrame:
			fmt.Printf("frame %d: %s\n", event.Seq, event.Payload)
		case linkproto.EventWord:
			fmt.Println(event.Word.Kind, event.Word.Value, "stop:", event.Word.Stop)
		case linkproto.EventBadFrame, linkproto.EventBadWord, linkproto.EventStray:
			fmt.Println(event.Reason)
		}
	}
	// Output:
	// ACK 17 stop: true
	// frame 5: abcdef
}
