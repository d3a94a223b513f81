// Package sharing is the protocol between a program that uses another process's network interface (NI) and the server of that NI: messages
// over a Unix socket that keeps their borders, and the memory of pages that both map.
package sharing

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// ErrLimit is too much of what the server allows.
var ErrLimit = errors.New("too much for one program")

// Version is that of all in this package. Both sides must have the same one.
const Version = 13

// Op says what a message wants or tells.
type Op uint8

// What programs ask for. Each but OpWrite, OpMessagePosted and OpCancel is answered by one OpDone or OpFailed with its Call, in any order; what fields mean
// stands behind, those of the answer after the arrow.
const (
	OpHello         Op = 1 + iota // Value: Version -> Data: a Welcome. It comes first and only once
	OpCreate                      // Value: link << 1 | direction -> Port: a handle; Value: the port's number
	OpConnect                     // Port; Data: parameters
	OpAccept                      // Data: what the parameters begin with -> Port: a handle; Value: the port's number; Data: an Offer
	OpTake                        // Port: of an OpAccept, which becomes a port -> Port and Value as of OpCreate
	OpRefuse                      // Port: of an OpAccept, which is gone then; Data: the reason
	OpMap                         // Port -> of a receive port, the first time, with the file of its page
	OpWrite                       // Port: a link, not a handle; Data: one Write after the other, carried out in this order; answered by OpWritten and OpWriteFailed
	OpFlush                       // Port -> once what was written to it before has been carried out, or OpWriteFailed has said why not
	OpSync                        // Port -> the same, and acknowledged
	OpWait                        // Port; Value: the page's version -> as soon as it is another
	OpDelete                      // Port, whose handle is gone then; what was written to it before is carried out all the same
	OpSleep                       // Value: nanoseconds of the target's time; Port: 1 for who is in no hurry
	OpReport                      // -> with a file that holds a report in JSON
	OpCapture                     // Value: 1 for words that repeat -> with a pipe that a capture comes out of; Value: when the NI was opened, in ns since 1970
	OpCaptureEnd                  // ends it: the pipe ends after what there is
	OpTraceStart                  // Data: a linkproto.TraceSetup in JSON
	OpTraceState                  // -> Data: a hostdrv.TraceState in JSON
	OpTraceRead                   // -> with a file that holds a linkproto.Trace in JSON
	OpRegRead                     // Value: a register -> Value: what it holds
	OpRegWrite                    // Port: a register; Value: what it is to hold
	OpBufRead                     // Port: an address; Value: a number of bytes, at most MaxData -> Data
	OpBufWrite                    // Port: an address; Data
	OpRouted                      // Port: a link; Value: a node; Data: a packet, header first -> once it is on its way
	OpLinkSync                    // Port: a link -> once all that was sent by it is acknowledged
	OpDatagrams                   // Port: a link -> with a socket for Datagrams, which go both ways, those of the program by that link
	OpContext                     // Value: number of a context; Data: a msg.Options in JSON -> Port: a handle; Data: a ContextInfo in JSON, with a file that holds its Rings
	OpMessagePosted               // Port, in whose Rings something is posted, or waited for
	OpMessageStats                // Port -> Data: a msg.Stats in JSON
	OpContextClose                // Port, whose handle is gone then
	OpBarriers                    // Value: numbers, a bit each; Data: switches, each in 2 bytes -> Port: those that are free; Value: a generation that is
	OpBarrier                     // Data: a hostdrv.BarrierGroup in JSON -> Port: a handle
	OpBarrierEnter                // Port
	OpBarrierWait                 // Port
	OpBarrierStates               // Port -> with a file that holds []hostdrv.BarrierState in JSON
	OpBarrierClose                // Port, whose handle is gone then; Value: 1 to dissolve the group
	OpCancel                      // Call: a call that nobody waits for any more

	opAsked // one more than the last
)

// What the server sends. With Call 0 come OpWritten, OpWriteFailed, OpEnded and OpMessageCame, and OpRefused instead of all else when it does not serve.
const (
	OpDone        Op = 0x80 + iota
	OpFailed         // Data: a Failure
	OpRefused        // Data: a Failure; the connection ends
	OpWritten        // Port: a link; Value: bytes of OpWrites by it that have been carried out, or dropped, in all
	OpWriteFailed    // Port; Value: an Attempt; Data: a Failure, of a Write. It and all later ones of this Attempt are dropped
	OpEnded          // Port; Data: a Failure, why the port, or the context, has ended
	OpMessageCame    // Port, in whose Rings is what was waited for

	opSaid // one more than the last
)

// Message is a message.
type Message struct {
	Op    Op
	Call  uint32
	Port  uint32 // the handle of a port or of a request to connect, for this connection alone; 0 for none
	Value uint64
	Data  []byte
}

const headerBytes = 1 + 4 + 4 + 8

// MaxData is how many bytes of Data a message has at most, and MaxMessage how many a message.
const (
	MaxData    = 4 * linkproto.MaxPageBytes
	MaxMessage = headerBytes + MaxData
)

// Append appends a message's bytes. Data that is too long is cut.
func (m Message) Append(b []byte) []byte {
	b = append(b, byte(m.Op))
	b = binary.LittleEndian.AppendUint32(b, m.Call)
	b = binary.LittleEndian.AppendUint32(b, m.Port)
	b = binary.LittleEndian.AppendUint64(b, m.Value)
	return append(b, m.Data[:min(len(m.Data), MaxData)]...)
}

// Decode reads a message. Its Data is a part of b.
func Decode(b []byte) (m Message, err error) {
	if len(b) < headerBytes || len(b) > MaxMessage {
		return m, fmt.Errorf("a message of %d bytes, want %d to %d", len(b), headerBytes, MaxMessage)
	}
	m = Message{Op: Op(b[0]), Call: binary.LittleEndian.Uint32(b[1:]), Port: binary.LittleEndian.Uint32(b[5:]), Value: binary.LittleEndian.Uint64(b[9:]), Data: b[headerBytes:]}
	if m.Op == 0 || m.Op >= opAsked && m.Op < OpDone || m.Op >= opSaid {
		return m, fmt.Errorf("a message of unknown kind %d", m.Op)
	}
	return m, nil
}

// Welcome answers OpHello.
type Welcome struct {
	Identity    json.RawMessage `json:"identity"` // of the NI
	VirtualTime bool            `json:"stands"`   // the target's time, while nothing waits for it
	Calls       int             `json:"calls"`    // most that may be underway
	Links       []Link          `json:"links"`    // of the node
}

// Link is a link of the node: what it is called, and the node at the far end of a virtual one.
type Link struct {
	Link int    `json:"link"`
	Peer uint16 `json:"peer"`
}

// Offer is a request to connect.
type Offer struct {
	Link      int    `json:"link"`
	Direction uint8  `json:"direction"` // of the end that the program is to have
	Params    []byte `json:"params"`
}

// Failure is an error.
type Failure struct {
	Text string   `json:"text"`
	Is   []string `json:"is,omitempty"` // names of the errors that it wraps, outermost first
	// What some of them have besides.
	Link   int    `json:"link,omitempty"`
	Lost   uint64 `json:"lost,omitempty"`
	Port   uint32 `json:"port,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Describe makes a Failure of an error. Package hostdrv, whose errors they are, sets it.
var Describe func(error) Failure

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
