package sharing

import (
	"encoding/binary"
	"fmt"
)

// Write is a write to a port, one of those in the Data of an OpWrite.
type Write struct {
	Port    uint32 // its handle
	Attempt uint8  // how many OpWriteFaileds of this port the program has reported to its user, modulo 256
	Offset  int
	Data    []byte
}

// WriteOverhead is how many bytes a Write takes besides its Data.
const WriteOverhead = 4 + 1 + 2 + 2

// WriteWindow is how many bytes of OpWrites by one link a program may have sent that no OpWritten has reported. The server tells at the
// latest when it is a quarter of that, so there is always room for a Write again.
const WriteWindow = 2 * MaxData

// Append appends a Write's bytes.
func (w Write) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, w.Port)
	b = append(b, w.Attempt)
	b = binary.LittleEndian.AppendUint16(b, uint16(w.Offset))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(w.Data)))
	return append(b, w.Data...)
}

// NextWrite reads the first Write of b, whose Data is a part of b, and returns what follows.
func NextWrite(b []byte) (w Write, rest []byte, err error) {
	if len(b) < WriteOverhead {
		return w, nil, fmt.Errorf("a write of %d bytes, at least %d are wanted", len(b), WriteOverhead)
	}
	size := int(binary.LittleEndian.Uint16(b[7:]))
	w = Write{Port: binary.LittleEndian.Uint32(b), Attempt: b[4], Offset: int(binary.LittleEndian.Uint16(b[5:]))}
	if b = b[WriteOverhead:]; size > len(b) {
		return w, nil, fmt.Errorf("a write of %d bytes, %d of them there", size, len(b))
	}
	w.Data = b[:size]
	return w, b[size:], nil
}
