// Package snapshot saves the state of Go values, with all that they point to and their unexported fields, and loads it into others of the same make: objects
// that have been built in the same way, but have done something else since.
//
// What is loaded keeps its functions, and what has a state outside of Go, if that is an encoding.BinaryMarshaler and BinaryUnmarshaler. An object to which several
// pointers lead is one afterwards too. Slices get memory of their own. Nothing may change meanwhile.
package snapshot

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// ErrSnapshot is wrapped by all errors.
var ErrSnapshot = errors.New("snapshot")

// Skip says of which types no state is saved: what they point to, or are, stays as it is.
type Skip func(reflect.Type) bool

// Save returns the state of what some pointers lead to.
func Save(skip Skip, roots ...any) (data []byte, err error) {
	defer caught(&err)
	e := encoder{skip: skip, seen: map[object]uint64{}}
	for _, root := range roots {
		e.value(reflect.ValueOf(root), "")
	}
	return e.data, nil
}

// Load brings what some pointers lead to into a state. After an error it is of no use.
func Load(data []byte, skip Skip, roots ...any) (err error) {
	defer caught(&err)
	d := decoder{data: data, skip: skip, objects: map[uint64]reflect.Value{}, claimed: map[object]bool{}}
	for _, root := range roots {
		v := reflect.ValueOf(root)
		box := reflect.New(v.Type()).Elem()
		box.Set(v)
		if d.value(box, v.Type().String()); box.Pointer() != v.Pointer() {
			fail("%v: two of what is loaded are one object", v.Type())
		}
	}
	if len(d.data) > 0 {
		fail("%d bytes too many", len(d.data))
	}
	return nil
}

// failure is a panic of this package.
type failure struct{ error }

func fail(format string, args ...any) {
	panic(failure{fmt.Errorf("%w: "+format, append([]any{ErrSnapshot}, args...)...)})
}

func caught(err *error) {
	switch p := recover().(type) {
	case nil:
	case failure:
		*err = p.error
	default:
		panic(p)
	}
}

// object is what a pointer leads to: a struct and its first field have the same address.
type object struct {
	at unsafe.Pointer
	of reflect.Type
}

// open makes an unexported field accessible.
func open(v reflect.Value) reflect.Value {
	if v.CanInterface() {
		return v
	}
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// external returns what saves a value's state itself.
func external(v reflect.Value) (encoding.BinaryMarshaler, bool) {
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return nil, false
	}
	_, loads := v.Interface().(encoding.BinaryUnmarshaler)
	m, saves := v.Interface().(encoding.BinaryMarshaler)
	return m, loads && saves
}

// skipped reports whether a type has no state here: one of the caller's, or one of package sync.
func skipped(t reflect.Type, skip Skip) bool {
	return t.PkgPath() == "sync" || strings.HasPrefix(t.PkgPath(), "sync/") || skip(t)
}

// keys are those of a map, in an order that does not change.
func keys(m reflect.Value) []reflect.Value {
	all := m.MapKeys()
	slices.SortFunc(all, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprintf("%020v", a), fmt.Sprintf("%020v", b)) })
	return all
}
