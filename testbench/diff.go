package testbench

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
)

// difference says how got differs from want; "" when they are equal: by their method Equal, or else in all that they hold.
func difference[T any](got, want T) string {
	if e, ok := any(got).(interface{ Equal(T) bool }); ok && e.Equal(want) {
		return ""
	}
	return differenceOf(got, want)
}

func differenceOf(got, want any) string {
	if g, ok := got.([]byte); ok {
		w, _ := want.([]byte)
		return differenceOfBytes(g, w)
	}
	if reflect.DeepEqual(got, want) {
		return ""
	}
	return fmt.Sprintf("got %s, want %s", show(got), show(want))
}

// around is how many bytes a difference shows before and after the first wrong one.
const around = 8

func differenceOfBytes(got, want []byte) string {
	if bytes.Equal(got, want) {
		return ""
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	var s strings.Builder
	if len(got) != len(want) {
		fmt.Fprintf(&s, "got %d bytes, want %d; ", len(got), len(want))
	}
	fmt.Fprintf(&s, "they differ from byte %d (%#x) on\n", at, at)
	fmt.Fprintf(&s, "got  %s\nwant %s", excerpt(got, at), excerpt(want, at))
	return s.String()
}

// excerpt shows bytes around a place in hex, the place itself in brackets.
func excerpt(p []byte, at int) string {
	from, to := max(at-around, 0), min(at+around+1, len(p))
	var s strings.Builder
	if from > 0 {
		s.WriteString("… ")
	}
	for i := from; i < to; i++ {
		if i == at {
			fmt.Fprintf(&s, "[%02x] ", p[i])
		} else {
			fmt.Fprintf(&s, "%02x ", p[i])
		}
	}
	if at >= len(p) {
		s.WriteString("[end]")
	} else if to < len(p) {
		s.WriteString("…")
	}
	return strings.TrimRight(s.String(), " ")
}

// show describes a value: bytes and numbers in hex.
func show(v any) string {
	switch v := v.(type) {
	case []byte:
		if len(v) > 2*around {
			return fmt.Sprintf("%d bytes % x …", len(v), v[:2*around])
		}
		return fmt.Sprintf("%d bytes % x", len(v), v)
	case uint8, uint16, uint32, uint64, int, int8, int16, int32, int64, uint:
		return fmt.Sprintf("%#x", v)
	}
	return fmt.Sprintf("%+v", v)
}
