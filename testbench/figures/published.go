package figures

import "fmt"

// PublishedShare is a point of a curve that others have published: payload as a share of the physical rate.
type PublishedShare struct {
	Name  string
	Bytes int // of a message; 0: large ones
	Share float64
	Note  string
}

// What the predecessors of this network interface reached, each on its own hardware. GigaE PM carried 72.1 MB/s over the 125 MB/s
// of Gigabit Ethernet.
var (
	GigaEPM = PublishedShare{Name: "GigaE PM", Bytes: 1500, Share: 0.577, Note: "72.1 of 125 MB/s"}
	HXB     = PublishedShare{Name: "PM/Ethernet-HXB", Share: 0.979, Note: "trunk of 6"}
)

// fifoSwitch is what a large switch with plain FIFO queues at its inputs carries of uniform traffic.
const fifoSwitch = "58.6 % for FIFO queues at inputs (Karol, Hluchyj and Morgan 1987, calculated)"

// smallestRoundTrips are those that the same predecessors published. 125 MHz is a symbol rate of 125 MB/s.
const smallestRoundTrips = "round trip of the smallest message 35.4 µs GigaE PM, 30.1 µs PM/Ethernet-HXB, 8.3 µs PM/Myrinet (1,000 cycles and more at 125 MHz)"

// String names the share, whose it is, and at which size.
func (p PublishedShare) String() string {
	size := "large messages"
	if p.Bytes > 0 {
		size = fmt.Sprintf("%d-byte messages", p.Bytes)
	}
	return fmt.Sprintf("%.1f %%: %s, %s, %s", 100*p.Share, p.Name, size, p.Note)
}
