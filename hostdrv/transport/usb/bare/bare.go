//go:build usb && cgo

package bare

/*
#cgo pkg-config: libusb-1.0
#include "loop.h"
*/
import "C"

import (
	"fmt"
	"time"
	"unsafe"
)

// Built says whether the program has libusb in it.
const Built = true

// Run runs the loop, and returns how long that took.
func (l Loop) Run() (time.Duration, error) {
	serial := C.CString(l.Serial)
	defer C.free(unsafe.Pointer(serial))
	data := C.CBytes(l.Data)
	defer C.free(data)
	c := C.struct_loop{
		serial: serial, channel: C.int(l.Channel), latency: C.int(l.Latency),
		data: (*C.uchar)(data), length: C.size_t(len(l.Data)), total: C.size_t(l.Bytes),
		ins: C.int(l.In), outs: C.int(l.Out), in_size: C.int(l.InSize), out_size: C.int(l.OutSize),
	}
	var seconds C.double
	if code := C.loop_run(&c, &seconds); code != 0 {
		return 0, fmt.Errorf("libusb: %s", C.GoString(C.libusb_strerror(code)))
	}
	return time.Duration(float64(seconds) * float64(time.Second)), nil
}
