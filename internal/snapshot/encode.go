package snapshot

import (
	"encoding/binary"
	"math"
	"reflect"
	"unsafe"
)

// encoder appends values to data.
type encoder struct {
	data []byte
	skip Skip
	seen map[object]uint64 // numbers from 1 on
}

func (e *encoder) number(n uint64) { e.data = binary.AppendUvarint(e.data, n) }

func (e *encoder) flag(b bool) {
	n := uint64(0)
	if b {
		n = 1
	}
	e.number(n)
}

func (e *encoder) bytes(b []byte) {
	e.number(uint64(len(b)))
	e.data = append(e.data, b...)
}

func (e *encoder) value(v reflect.Value, where string) {
	t := v.Type()
	if skipped(t, e.skip) {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		e.flag(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.data = binary.AppendVarint(e.data, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		e.number(v.Uint())
	case reflect.Float32, reflect.Float64:
		e.number(math.Float64bits(v.Float()))
	case reflect.String:
		e.bytes([]byte(v.String()))
	case reflect.Array:
		for i := range v.Len() {
			e.value(v.Index(i), where)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			e.value(open(v.Field(i)), where+"."+t.Field(i).Name)
		}
	case reflect.Slice:
		e.slice(v, where)
	case reflect.Map:
		e.flag(v.IsNil())
		e.number(uint64(v.Len()))
		for _, k := range keys(v) {
			e.copied(k, where)
			e.copied(v.MapIndex(k), where)
		}
	case reflect.Pointer:
		e.pointer(v, where)
	case reflect.Interface:
		e.flag(v.IsNil())
		if !v.IsNil() {
			e.bytes([]byte(v.Elem().Type().String()))
			e.copied(v.Elem(), where)
		}
	case reflect.Func:
		e.flag(!v.IsNil())
	default:
		fail("%s: a %v cannot be saved", where, t)
	}
}

// copied appends a value that has no address.
func (e *encoder) copied(v reflect.Value, where string) {
	box := reflect.New(v.Type()).Elem()
	box.Set(v)
	e.value(box, where)
}

func (e *encoder) slice(v reflect.Value, where string) {
	e.flag(v.IsNil())
	if v.Type().Elem().Kind() == reflect.Uint8 {
		e.bytes(unsafe.Slice((*byte)(v.UnsafePointer()), v.Len()))
		return
	}
	e.number(uint64(v.Len()))
	for i := range v.Len() {
		e.value(v.Index(i), where)
	}
}

func (e *encoder) pointer(v reflect.Value, where string) {
	if v.IsNil() || skipped(v.Type().Elem(), e.skip) {
		e.number(0)
		return
	}
	at := object{v.UnsafePointer(), v.Type()}
	if n := e.seen[at]; n > 0 {
		e.number(n)
		return
	}
	n := uint64(len(e.seen) + 1)
	e.seen[at] = n
	e.number(n)
	if m, ok := external(v); ok {
		data, err := m.MarshalBinary()
		if err != nil {
			fail("%s: %w", where, err)
		}
		e.bytes(data)
		return
	}
	e.value(v.Elem(), where+"."+v.Type().Elem().Name())
}
