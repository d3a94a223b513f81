package linkproto

import "fmt"

// Type is a packet's type, the low five bits of its first byte.
type Type uint8

// Packet types.
const (
	TypeWrite     Type = 0x01
	TypePage      Type = 0x02
	TypeConnect   Type = 0x03
	TypeMessage   Type = 0x04
	TypeBarrier   Type = 0x05 // reserved
	TypeRoute     Type = 0x06 // laid down, and refused until it is carried out
	TypeVirtual   Type = 0x07
	TypeRegRead   Type = 0x10
	TypeRegWrite  Type = 0x11
	TypeBufRead   Type = 0x12
	TypeBufWrite  Type = 0x13
	TypeResume    Type = 0x14
	TypeRetrap    Type = 0x15
	TypeRegData   Type = 0x18
	TypeBufData   Type = 0x19
	TypeDone      Type = 0x1A
	TypeTrap      Type = 0x1B
	TypeNotify    Type = 0x1C
	TypeSpace     Type = 0x1D
	TypeCompleted Type = 0x1E
)

// Layout of a packet's first byte.
const (
	TypeBits = 5 // bits 4:0
	ViaBits  = 3 // bits 7:5
	MaxVia   = 1<<ViaBits - 1
)

// Direction is a set of the places where a packet type may appear.
type Direction uint8

// Places where a packet may appear.
const (
	OnLink Direction = 1 << iota // between two network interfaces; via is 0
	ToNI                         // from the host to its network interface
	ToHost                       // from the network interface to its host
	Routed                       // between two hosts, as the packet of a ROUTE
)

// String lists the places in words.
func (d Direction) String() string {
	switch d {
	case 0:
		return "reserved"
	case OnLink | ToNI | ToHost:
		return "link; host port with via"
	case ToNI | ToHost:
		return "host port"
	case ToNI:
		return "host to NI"
	case ToHost:
		return "NI to host"
	case Routed:
		return "in a ROUTE"
	}
	return fmt.Sprintf("Direction(%d)", uint8(d))
}

// FieldID names the member of Packet that a field is stored in.
type FieldID uint8

// The members of Packet.
const (
	FieldTag FieldID = iota
	FieldAddr
	FieldReg
	FieldValue
	FieldCount
	FieldStatus
	FieldFrame
	FieldPort
	FieldFirst
	FieldLast
	FieldBytes
	FieldPackets
	FieldMsgTag
	FieldRest
	FieldVL
	FieldContext
	FieldData
	FieldRoute // of a reserved type: Packet has no member for it yet
)

// Field is one field of a packet. Fields follow the header in the order of the table, little endian, without gaps.
type Field struct {
	ID    FieldID
	Name  string
	Bytes int // width; 0 means the rest of the packet
	Max   int // for the rest of the packet: most bytes, 0 if only the longest packet bounds it
	Doc   string
}

// TypeInfo is a row of Types.
type TypeInfo struct {
	Type   Type
	Name   string // as in Verilog: LP_TYPE_<Name>
	Dir    Direction
	Fields []Field
	Doc    string
}

var (
	fieldTag  = Field{FieldTag, "tag", 1, 0, "copied to the answer"}
	fieldAddr = Field{FieldAddr, "addr", 4, 0, "byte address in the receive buffer"}
	fieldReg  = Field{FieldReg, "reg", 2, 0, "register number"}
	fieldVal  = Field{FieldValue, "value", 4, 0, "the register's content"}
)

// Types lists the packet types in order of their value. Not to be modified.
var Types = [...]TypeInfo{
	{TypeWrite, "WRITE", OnLink | ToNI | ToHost, []Field{fieldAddr,
		{FieldData, "data", 0, 0, "at most a page, and not across a page's end"}},
		"remote write into the peer's receive buffer"},
	{TypePage, "PAGE", OnLink | ToNI | ToHost, []Field{
		{FieldFrame, "frame", 2, 0, "frame of the peer's receive buffer"},
		{FieldPort, "port", 4, 0, "port that is to have the frame from here on"}},
		"page a port in; traps at the receiver"},
	{TypeConnect, "CONNECT", OnLink | ToNI | ToHost, []Field{
		{FieldPort, "port", 4, 0, "port to establish"},
		{FieldData, "params", 0, MaxParams, "for the receiver's host"}},
		"establish a channel; traps at the receiver"},
	{TypeMessage, "MESSAGE", Routed, []Field{
		{FieldMsgTag, "msg_tag", 4, 0, "the sender's, for the receiver; of a datagram the EtherType of the IP frame in data"},
		{FieldRest, "rest", 4, 0, "bytes of the message from the first one of data to its end; of a datagram as many as data has"},
		{FieldData, "data", 0, 0, "part of a message, the rest of it in the last one"}},
		"part of a message from host to host"},
	{TypeBarrier, "BARRIER", 0, nil, "reserved"},
	{TypeRoute, "ROUTE", 0, []Field{
		{FieldRoute, "dest", 2, 0, "node to which it goes; from 0xF000 on, a multicast group"},
		{FieldRoute, "src", 2, 0, "node from which it comes"},
		{FieldRoute, "path", 1, 0, "bits 5:0 hops left, bits 7:6 class"},
		{FieldRoute, "vl", 2, 0, "virtual link: its number at dest"},
		{FieldRoute, "state", 1, 0, "of the sender's end of it; 0xC1: a datagram"},
		{FieldRoute, "next", 1, 0, "of ACK and LOST: number expected next, its low bits; of INIT: protocol version"},
		{FieldRoute, "vl_seq", 1, 0, "number of the packet, its low bits"},
		{FieldData, "routed", 0, 0, "the packet, or an INIT's fields, and CRC-32C (4 bytes)"}},
		"reserved for routed packets, see below; refused and counted as bad_packet without the feature ROUTES"},
	{TypeVirtual, "VIRTUAL", ToNI | ToHost, []Field{
		{FieldVL, "vl", 2, 0, "virtual link: its number at this interface"},
		{FieldData, "packet", 0, 0, "a packet of the virtual link, header and fields"}},
		"packet to or from a virtual link that the interface carries out; of no allowed type without the feature VIRTUAL"},
	{TypeRegRead, "REG_READ", ToNI, []Field{fieldTag, fieldReg}, "read a register; answered by REG_DATA"},
	{TypeRegWrite, "REG_WRITE", ToNI, []Field{fieldTag, fieldReg, fieldVal}, "write a register; answered by DONE"},
	{TypeBufRead, "BUF_READ", ToNI, []Field{fieldTag, fieldAddr,
		{FieldCount, "count", 2, 0, "bytes to read, at most a page"}},
		"read the receive buffer; answered by BUF_DATA"},
	{TypeBufWrite, "BUF_WRITE", ToNI, []Field{fieldTag, fieldAddr,
		{FieldData, "data", 0, 0, "bytes to write, at most a page"}},
		"write the receive buffer, as when a page is restored; answered by DONE"},
	{TypeResume, "RESUME", ToNI, []Field{fieldTag},
		"the trap of link via has been served: receive again; answered by DONE"},
	{TypeRetrap, "RETRAP", ToNI, []Field{fieldTag},
		"tell the trap of link via again; answered by DONE, and by a TRAP"},
	{TypeRegData, "REG_DATA", ToHost, []Field{fieldTag, fieldReg, fieldVal}, "answer to REG_READ"},
	{TypeBufData, "BUF_DATA", ToHost, []Field{fieldTag, fieldAddr,
		{FieldData, "data", 0, 0, "what the buffer holds"}},
		"answer to BUF_READ"},
	{TypeDone, "DONE", ToHost, []Field{fieldTag,
		{FieldStatus, "status", 1, 0, "see the table of statuses"}},
		"a request has been carried out, or refused"},
	{TypeTrap, "TRAP", ToHost, []Field{
		{FieldData, "packet", 0, 0, "the packet that trapped, header and fields; of a CONNECT told again, without params"}},
		"link via has stopped receiving at this packet until RESUME"},
	{TypeNotify, "NOTIFY", ToHost, []Field{
		{FieldFrame, "frame", 2, 0, "frame that was written"},
		{FieldFirst, "first", 2, 0, "offset of the first byte written"},
		{FieldLast, "last", 2, 0, "offset of the last byte written"}},
		"remote writes have changed a frame"},
	{TypeSpace, "SPACE", ToHost, []Field{
		{FieldBytes, "bytes", 2, 0, "bytes of packets freed since reset, modulo 2^16"},
		{FieldPackets, "packets", 1, 0, "packets freed since reset, modulo 2^8"}},
		"what the transmit queue of link via has freed, cumulative"},
	{TypeCompleted, "COMPLETED", ToHost, []Field{
		{FieldContext, "context", 2, 0, "context of messages"},
		{FieldCount, "count", 2, 0, "its COMPLETIONS"}},
		"a context that the interface carries out has completed descriptors"},
}

// Status is the result in a DONE packet.
type Status uint8

// Statuses of DONE.
const (
	StatusOK         Status = 0
	StatusBadType    Status = 1
	StatusBadLength  Status = 2
	StatusBadAddress Status = 3
	StatusBadLink    Status = 4
	StatusNoSpace    Status = 5
	StatusNotTrapped Status = 6
)

// TagNone is the tag of a DONE that refuses a packet which carries no readable tag.
const TagNone = 0xFF

// StatusInfo is a row of Statuses.
type StatusInfo struct {
	Status Status
	Name   string // as in Verilog: LP_STATUS_<Name>
	Doc    string
}

// Statuses lists the results of DONE in order of their value. Not to be modified.
var Statuses = [...]StatusInfo{
	{StatusOK, "OK", "carried out"},
	{StatusBadType, "BAD_TYPE", "the packet's type is unknown or not allowed here"},
	{StatusBadLength, "BAD_LENGTH", "the length field or the length of the data does not fit the type"},
	{StatusBadAddress, "BAD_ADDRESS", "no such register or address, or the access crosses the page end"},
	{StatusBadLink, "BAD_LINK", "no such link"},
	{StatusNoSpace, "NO_SPACE", "not forwarded: the link has LOST packets, or the host sent more than SPACE allowed"},
	{StatusNotTrapped, "NOT_TRAPPED", "RESUME or RETRAP for a link that is not trapped"},
}

// String returns the status's name in the tables.
func (s Status) String() string {
	if int(s) < len(Statuses) {
		return Statuses[s].Name
	}
	return fmt.Sprintf("STATUS(%d)", uint8(s))
}
