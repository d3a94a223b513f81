package linkproto

import "fmt"

// typeIndex maps a type to its row of Types plus one; 0 means unknown.
var typeIndex = func() (x [1 << TypeBits]uint8) {
	for i := range Types {
		x[Types[i].Type] = uint8(i + 1)
	}
	return x
}()

// Info returns the type's row of Types, or nil if the type is unknown.
func (t Type) Info() *TypeInfo {
	if int(t) >= len(typeIndex) || typeIndex[t] == 0 {
		return nil
	}
	return &Types[typeIndex[t]-1]
}

// String returns the type's name in the tables.
func (t Type) String() string {
	if i := t.Info(); i != nil {
		return i.Name
	}
	return fmt.Sprintf("TYPE(0x%02X)", uint8(t))
}

// Offset returns the byte offset of a field from the packet's first byte, or -1 if the type has no such field.
func (t *TypeInfo) Offset(id FieldID) int {
	at := HeaderBytes
	for i := range t.Fields {
		if t.Fields[i].ID == id {
			return at
		}
		at += t.Fields[i].Bytes
	}
	return -1
}

// MinLength returns the least value of the length field: the bytes of all fields of fixed width.
func (t *TypeInfo) MinLength() int { return lengths[t.Type].least }

// MaxLength returns the greatest value of the length field, and whether the type has one of its own; if not, only
// the longest packet of the interface bounds it.
func (t *TypeInfo) MaxLength() (n int, bounded bool) {
	l := &lengths[t.Type]
	return l.most, l.bounded
}

// lengths holds what MinLength and MaxLength return, by type.
var lengths = func() (x [1 << TypeBits]struct {
	least, most int
	bounded     bool
}) {
	for i := range Types {
		t := &Types[i]
		l := &x[t.Type]
		for k := range t.Fields {
			l.least += t.Fields[k].Bytes
		}
		l.most, l.bounded = l.least, true
		if k := len(t.Fields); k > 0 && t.Fields[k-1].Bytes == 0 {
			l.most, l.bounded = l.most+t.Fields[k-1].Max, t.Fields[k-1].Max > 0
		}
	}
	return x
}()
