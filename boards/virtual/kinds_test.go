package virtual

import (
	"strings"
	"testing"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/internal/check"
)

// TestKindsAreBoards compares virtual boards with board.toml; each board with bitstreams has one.
func TestKindsAreBoards(t *testing.T) {
	all := check.Must(boards.All())(t)
	found := 0
	for _, b := range all {
		if b.FPGA.Family != "ice40" {
			continue
		}
		k, known := kinds[b.Name]
		if !known {
			t.Errorf("there is no virtual %s", b.Name)
			continue
		}
		found++
		if k.usb.Vendor != b.USB.Vendor || k.usb.Product != b.USB.Product || !strings.Contains(k.usb.Strings[1], b.USB.Name) {
			t.Errorf("%s is %04x:%04x %q; board.toml says %04x:%04x %q", b.Name, k.usb.Vendor, k.usb.Product, k.usb.Strings[1],
				b.USB.Vendor, b.USB.Product, b.USB.Name)
		}
		check.Equal(t, "device of "+b.Name, k.device, bitstream.Die(b.FPGA.Device))
	}
	check.Equal(t, "virtual boards with a board.toml", found, len(kinds))
}
