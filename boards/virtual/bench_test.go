package virtual_test

import (
	"testing"

	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/internal/check"
)

// benchSPI measures transfers of 4096 bytes by an MPSSE command on a board's first channel.
func benchSPI(b *testing.B, op byte) {
	board := check.Must(virtual.New(virtual.Config{Kind: "hx8k"}))(b)
	p := plugIn(b, board)
	defer p.bus.Close()
	p.pins(cs | reset)
	data := append([]byte{op, 0xFF, 0x0F, 0x03}, make([]byte, 4095)...)
	b.SetBytes(4096)
	for b.Loop() {
		p.send(data...)
		if op&0x20 != 0 {
			p.receive(4096)
		}
	}
}

func BenchmarkSend(b *testing.B)     { benchSPI(b, 0x11) }
func BenchmarkExchange(b *testing.B) { benchSPI(b, 0x31) }
