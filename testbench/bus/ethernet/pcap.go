package ethernet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// The pcap format (draft-ietf-opsawg-pcap): its numbers say the order of bytes and the resolution of times.
const (
	pcapNanoseconds  = 0xA1B23C4D
	pcapMicroseconds = 0xA1B2C3D4
	pcapNG           = 0x0A0D0D0A
	pcapEthernet     = 1
	pcapLongest      = 1 << 18
	pcapSequence     = 1 << 26 // of the link type: the top four bits say how many words of 16 bits a frame check sequence has
)

// ErrFormat is wrapped by errors about what is no pcap file of Ethernet frames.
var ErrFormat = errors.New("ethernet: not a pcap file of Ethernet frames")

// PcapWriter writes frames as a pcap file, without frame check sequences, for Wireshark and its kin.
type PcapWriter struct{ w io.Writer }

// NewPcapWriter begins a file.
func NewPcapWriter(w io.Writer) (*PcapWriter, error) {
	var head [24]byte
	for i, v := range []uint32{pcapNanoseconds, 2 | 4<<16, 0, 0, pcapLongest, pcapEthernet} {
		binary.LittleEndian.PutUint32(head[4*i:], v)
	}
	_, err := w.Write(head[:])
	return &PcapWriter{w}, err
}

// Write writes a frame that came at a time since the beginning of the run.
func (p *PcapWriter) Write(at time.Duration, f Frame) error {
	record := make([]byte, 16, 16+len(f.Data))
	for i, v := range []uint32{uint32(at / time.Second), uint32(at % time.Second), uint32(len(f.Data)), uint32(len(f.Data))} {
		binary.LittleEndian.PutUint32(record[4*i:], v)
	}
	_, err := p.w.Write(append(record, f.Data...))
	return err
}

// PcapFrame is a frame of a pcap file.
type PcapFrame struct {
	At   time.Duration // since 1970, as a rule
	Data []byte
}

// ReadPcap reads all frames of a pcap file, of either order of bytes, without frame check sequences. Errors wrap ErrFormat or are those of reading; frames before
// one are returned. A frame that was not kept whole is one.
func ReadPcap(r io.Reader) ([]PcapFrame, error) {
	var head [24]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("%w: %w in its first 24 bytes", ErrFormat, err)
	}
	var order binary.ByteOrder = binary.LittleEndian
	magic := order.Uint32(head[:])
	if magic != pcapNanoseconds && magic != pcapMicroseconds {
		order = binary.BigEndian
		magic = order.Uint32(head[:])
	}
	unit := time.Nanosecond
	switch magic {
	case pcapNanoseconds:
	case pcapMicroseconds:
		unit = time.Microsecond
	case pcapNG:
		return nil, fmt.Errorf("%w: it is pcapng: convert it by editcap -F pcap", ErrFormat)
	default:
		return nil, fmt.Errorf("%w: it begins with %#x, want %#x or %#x", ErrFormat, magic, uint32(pcapMicroseconds), uint32(pcapNanoseconds))
	}
	link := order.Uint32(head[20:])
	if link&0xFFFF != pcapEthernet {
		return nil, fmt.Errorf("%w: its link type is %d, want %d", ErrFormat, link&0xFFFF, pcapEthernet)
	}
	var sequence int // bytes of frame check sequence at the end of each frame
	if link&pcapSequence != 0 {
		sequence = 2 * int(link>>28)
	}
	var frames []PcapFrame
	for {
		var record [16]byte
		if _, err := io.ReadFull(r, record[:]); err == io.EOF {
			return frames, nil
		} else if err != nil {
			return frames, fmt.Errorf("%w: record %d: %w", ErrFormat, len(frames), err)
		}
		n := order.Uint32(record[8:])
		if n > pcapLongest {
			return frames, fmt.Errorf("%w: record %d has %d bytes, want up to %d", ErrFormat, len(frames), n, pcapLongest)
		}
		if whole := order.Uint32(record[12:]); n < whole {
			return frames, fmt.Errorf("%w: record %d has %d bytes of %d: capture whole frames (tcpdump -s 0)", ErrFormat, len(frames), n, whole)
		}
		f := PcapFrame{time.Duration(order.Uint32(record[:]))*time.Second + time.Duration(order.Uint32(record[4:]))*unit, make([]byte, n)}
		if _, err := io.ReadFull(r, f.Data); err != nil {
			return frames, fmt.Errorf("%w: record %d: %w", ErrFormat, len(frames), err)
		}
		f.Data = f.Data[:max(len(f.Data)-sequence, 0)]
		frames = append(frames, f)
	}
}
