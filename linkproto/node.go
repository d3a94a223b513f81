package linkproto

import (
	"cmp"
	"encoding/binary"
	"fmt"
)

// NodeVersion is the version of what nodes, the hosts that have ports, say to each other. Both must have the same one.
const NodeVersion = 3

// NodeKind says what a message between nodes is: the first byte of a CONNECT's params.
type NodeKind uint8

// Messages between nodes.
const (
	NodeHello NodeKind = 1 + iota
	NodeOpen
	NodeAccept
	NodeRefuse
	NodeClose
	NodeMissed
)

// NodeFieldID names the member of NodeMessage that a field is stored in.
type NodeFieldID uint8

// The members of NodeMessage.
const (
	NodeFieldVersion NodeFieldID = iota
	NodeFieldFlags
	NodeFieldSession
	NodeFieldPageBytes
	NodeFieldFirstFrame
	NodeFieldFrames
	NodeFieldRole
	NodeFieldEnds
	NodeFieldText
)

// NodeField is one field of a message between nodes. Fields follow the kind in the order of the table, little endian, without gaps.
type NodeField struct {
	ID       NodeFieldID
	Name     string
	Bytes    int // width; 0 means the rest of the message
	Min, Max uint32
	Doc      string
}

// NodeKindInfo is a row of NodeKinds.
type NodeKindInfo struct {
	Kind   NodeKind
	Name   string
	Fields []NodeField
	Doc    string
}

// MaxNodeText is how many bytes of text a message has at most, so that the TRAP which tells of its CONNECT fits with the smallest pages.
const MaxNodeText = MinPageBytes + PacketExtra - (HeaderBytes + HeaderBytes + 4) - 2

const (
	nodeRoles = 1 // sender, receiver
	nodeEnds  = 1<<2 - 1
	anyU16    = 1<<16 - 1
	anyU32    = 1<<32 - 1
)

// NodeFlagAgain in a HELLO asks for one in return. NodeFlagRing says that the frame before the first one is a ring, into which the addressee may write ROUTEs.
const (
	NodeFlagAgain = 1
	NodeFlagRing  = 2
)

// NodeKinds lists the messages between nodes in order of their value. Not to be modified.
var NodeKinds = [...]NodeKindInfo{
	{NodeHello, "HELLO", []NodeField{
		{NodeFieldVersion, "version", 1, 0, 0xFF, fmt.Sprintf("of these messages: %d; it and flags stand here in every version", NodeVersion)},
		{NodeFieldFlags, "flags", 1, 0, NodeFlagAgain | NodeFlagRing, "bit 0: say HELLO back; bit 1: the frame before `first_frame` is a ring for ROUTEs"},
		{NodeFieldSession, "session", 4, 1, anyU32, "chosen at random when the node starts"},
		{NodeFieldPageBytes, "page_bytes", 2, MinPageBytes, MaxPageBytes, "size of the node's pages; both nodes' must be the same"},
		{NodeFieldFirstFrame, "first_frame", 2, 0, anyU16, "of those of the node's receive buffer that the addressee may page its ports into"},
		{NodeFieldFrames, "frames", 2, 0, anyU16, "how many these are"}},
		"a node has started, or was asked; its port is 0"},
	{NodeOpen, "OPEN", []NodeField{
		{NodeFieldRole, "role", 1, 0, nodeRoles, "of the node that opens the port: 0 sends, 1 receives"},
		{NodeFieldText, "text", 0, 0, MaxNodeText, "for the program that is to accept the port"}},
		"asks the addressee to take the other end of the port"},
	{NodeAccept, "ACCEPT", []NodeField{
		{NodeFieldRole, "role", 1, 0, nodeRoles, "of the node that has opened the port"}},
		"the port is connected"},
	{NodeRefuse, "REFUSE", []NodeField{
		{NodeFieldRole, "role", 1, 0, nodeRoles, "of the node that has opened the port"},
		{NodeFieldText, "text", 0, 0, MaxNodeText, "why, in words"}},
		"the port is not connected"},
	{NodeClose, "CLOSE", []NodeField{
		{NodeFieldRole, "role", 1, 0, nodeRoles, "of the node that closes the port"}},
		"the port has ended, or there is none"},
	{NodeMissed, "MISSED", []NodeField{
		{NodeFieldEnds, "ends", 1, 0, nodeEnds, "of ports with this number that the node has, or has ended and not heard CLOSE, a bit by role"}},
		"what the addressee has said about ports with this number was lost: it says again what still counts"},
}

// Info returns the kind's row of NodeKinds, or nil if the kind is unknown.
func (k NodeKind) Info() *NodeKindInfo {
	if k < NodeHello || int(k) > len(NodeKinds) {
		return nil
	}
	return &NodeKinds[k-1]
}

// String returns the kind's name in the tables.
func (k NodeKind) String() string {
	if i := k.Info(); i != nil {
		return i.Name
	}
	return fmt.Sprintf("NODE(%d)", uint8(k))
}

// NodeMessage is a message between nodes. Which members count depends on Kind.
type NodeMessage struct {
	Kind       NodeKind
	Version    uint8 // Append takes NodeVersion for 0
	Flags      uint8
	Session    uint32
	PageBytes  uint16
	FirstFrame uint16
	Frames     uint16
	Role       uint8
	Ends       uint8
	Text       []byte
}

// member returns a pointer to the member that a field is stored in.
func (m *NodeMessage) member(id NodeFieldID) any {
	return [...]any{
		NodeFieldVersion: &m.Version, NodeFieldFlags: &m.Flags, NodeFieldSession: &m.Session, NodeFieldPageBytes: &m.PageBytes,
		NodeFieldFirstFrame: &m.FirstFrame, NodeFieldFrames: &m.Frames, NodeFieldRole: &m.Role, NodeFieldEnds: &m.Ends, NodeFieldText: &m.Text,
	}[id]
}

// Append appends the message's bytes, the params of a CONNECT. Text is cut to MaxNodeText bytes. A Kind that is unknown stands
// alone.
func (m *NodeMessage) Append(b []byte) []byte {
	b = append(b, byte(m.Kind))
	info := m.Kind.Info()
	if info == nil {
		return b
	}
	said := *m
	said.Version = cmp.Or(m.Version, NodeVersion)
	for _, f := range info.Fields {
		if f.Bytes == 0 {
			b = append(b, m.Text[:min(len(m.Text), MaxNodeText)]...)
		} else {
			b, _ = binary.Append(b, binary.LittleEndian, said.member(f.ID)) // of a fixed size
		}
	}
	return b
}

// Decode takes the params of a CONNECT apart. Text refers to b, it is not copied. Of a HELLO with another version than NodeVersion it
// reads Version and Flags alone.
func (m *NodeMessage) Decode(b []byte) error {
	*m = NodeMessage{}
	bad := func(what string) error { return fmt.Errorf("linkproto: not a message between nodes: % x: %s", b, what) }
	if len(b) == 0 {
		return bad("it is empty")
	}
	m.Kind = NodeKind(b[0])
	info, rest := m.Kind.Info(), b[1:]
	if info == nil {
		return bad("its kind is unknown")
	}
	for _, f := range info.Fields {
		if f.Bytes == 0 {
			m.Text, rest = rest, nil
		} else if _, err := binary.Decode(rest, binary.LittleEndian, m.member(f.ID)); err != nil {
			return bad("it is too short for " + info.Name)
		}
		v := uint32(len(m.Text)) // 0 before the text, which is the last field
		for i, b := range rest[:f.Bytes] {
			v |= uint32(b) << (8 * i)
		}
		if f.ID == NodeFieldFlags && m.Version != NodeVersion {
			return nil
		}
		if v < f.Min || v > f.Max {
			return bad(fmt.Sprintf("its %s is %d, want %d to %d", f.Name, v, f.Min, f.Max))
		}
		rest = rest[f.Bytes:]
	}
	if len(rest) > 0 {
		return bad("it is too long for " + info.Name)
	}
	return nil
}
