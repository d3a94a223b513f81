package snapshot

import (
	"encoding"
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"unsafe"
)

// decoder takes values from data.
type decoder struct {
	data    []byte
	skip    Skip
	objects map[uint64]reflect.Value // pointers, by number
	claimed map[object]bool          // objects that have a number
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.data)
	if n <= 0 {
		fail("it ends too early")
	}
	d.data = d.data[n:]
	return v
}

func (d *decoder) length() int {
	n := d.number()
	if n > uint64(len(d.data)) && n > 1<<24 {
		fail("a length of %d", n)
	}
	return int(n)
}

func (d *decoder) bytes() []byte {
	n := d.length()
	if n > len(d.data) {
		fail("it ends too early")
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) value(v reflect.Value, where string) {
	t := v.Type()
	if skipped(t, d.skip) {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(d.number() != 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x, n := binary.Varint(d.data)
		if n <= 0 {
			fail("it ends too early")
		}
		d.data = d.data[n:]
		v.SetInt(x)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(d.number())
	case reflect.Float32, reflect.Float64:
		v.SetFloat(math.Float64frombits(d.number()))
	case reflect.String:
		v.SetString(string(d.bytes()))
	case reflect.Array:
		for i := range v.Len() {
			d.value(v.Index(i), where)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			d.value(open(v.Field(i)), where+"."+t.Field(i).Name)
		}
	case reflect.Slice:
		d.slice(v, where)
	case reflect.Map:
		d.table(v, where)
	case reflect.Pointer:
		d.pointer(v, where)
	case reflect.Interface:
		d.dynamic(v, where)
	case reflect.Func:
		if saved := d.number() != 0; saved && v.IsNil() {
			fail("%s: a function was there", where)
		}
	default:
		fail("%s: a %v cannot be loaded", where, t)
	}
}

func (d *decoder) slice(v reflect.Value, where string) {
	isNil := d.number() != 0
	if v.Type().Elem().Kind() == reflect.Uint8 {
		b := slices.Clone(d.bytes())
		if isNil {
			v.SetZero()
		} else {
			v.Set(reflect.NewAt(v.Type(), unsafe.Pointer(&b)).Elem())
		}
		return
	}
	n := d.length()
	if isNil {
		v.SetZero()
		return
	}
	made := reflect.MakeSlice(v.Type(), n, n)
	reflect.Copy(made, v) // so that objects, and functions, stay
	for i := range n {
		d.value(made.Index(i), where)
	}
	v.Set(made)
}

func (d *decoder) table(v reflect.Value, where string) {
	isNil, n := d.number() != 0, d.length()
	if isNil {
		v.SetZero()
		return
	}
	made := reflect.MakeMapWithSize(v.Type(), n)
	for range n {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		d.value(key, where)
		if old := v.MapIndex(key); old.IsValid() {
			value.Set(old)
		}
		d.value(value, where)
		made.SetMapIndex(key, value)
	}
	v.Set(made)
}

func (d *decoder) pointer(v reflect.Value, where string) {
	if skipped(v.Type().Elem(), d.skip) {
		d.number()
		return
	}
	n := d.number()
	if n == 0 {
		v.SetZero()
		return
	}
	if known, ok := d.objects[n]; ok {
		if known.Type() != v.Type() {
			fail("%s: a %v, want a %v", where, known.Type(), v.Type())
		}
		v.Set(known)
		return
	}
	if v.IsNil() || d.claimed[object{v.UnsafePointer(), v.Type()}] {
		v.Set(reflect.New(v.Type().Elem()))
	}
	d.claimed[object{v.UnsafePointer(), v.Type()}] = true
	at := reflect.New(v.Type()).Elem() // v may be of a slice that is replaced
	at.Set(v)
	d.objects[n] = at
	if _, ok := external(v); ok {
		if err := v.Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(d.bytes()); err != nil {
			fail("%s: %w", where, err)
		}
		return
	}
	d.value(at.Elem(), where+"."+v.Type().Elem().Name())
}

func (d *decoder) dynamic(v reflect.Value, where string) {
	if d.number() != 0 {
		v.SetZero()
		return
	}
	name := string(d.bytes())
	if v.IsNil() || v.Elem().Type().String() != name {
		fail("%s: a %s was there", where, name)
	}
	box := reflect.New(v.Elem().Type()).Elem()
	box.Set(v.Elem())
	d.value(box, where)
	v.Set(box)
}
