// Package bare moves bytes through a chip of FTDI as a program in C does that has nothing else to do: it is what the driver over USB is compared with.
// Like package usb it needs the tag usb.
package bare

// Loop is what Run does: it sends bytes to a channel at whose serial line is somebody that sends them back, and counts what comes. Transfers in both directions are
// submitted ahead, without a copy but that which takes the chip's status out of what has come.
type Loop struct {
	Serial  string // number, of the chip
	Channel int    // 0 for A
	Data    []byte // sent over and over
	Bytes   int    // to be sent, and to come back
	In, Out int    // transfers underway at a time
	InSize  int    // bytes in one; a multiple of the packet's size
	OutSize int
	Latency int // of the chip, in ms
}
