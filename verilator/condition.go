package verilator

// #include "runtime/call.h"
import "C"

import "fmt"

// Until is a condition that ends a run. The engine tests it just after each rising edge, when registers hold their new
// values.
type Until struct {
	op    C.int32_t
	port  string
	value uint64
	ring  *ring
}

// Equal holds while the port or field is v. All fields are spelled "port", "port[bit]" or "port[high:low]".
func Equal(port string, v uint64) Until { return Until{op: C.LM_EQ, port: port, value: v} }

// NotEqual holds while the field is not v.
func NotEqual(port string, v uint64) Until { return Until{op: C.LM_NE, port: port, value: v} }

// Below holds while the field, unsigned, is less than v.
func Below(port string, v uint64) Until { return Until{op: C.LM_LT, port: port, value: v} }

// AtLeast holds while the field, unsigned, is v or more.
func AtLeast(port string, v uint64) Until { return Until{op: C.LM_GE, port: port, value: v} }

// Rising holds when the field was 0 after the edge before (or at the start of the run) and is not now.
func Rising(port string) Until { return Until{op: C.LM_RISE, port: port} }

// Falling holds when the field was not 0 after the edge before and is now.
func Falling(port string) Until { return Until{op: C.LM_FALL, port: port} }

// Changed holds when the field differs from what it was after the edge before.
func Changed(port string) Until { return Until{op: C.LM_CHANGE, port: port} }

func (m *Model) conditions(list []Until) ([]C.lm_condition, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out := make([]C.lm_condition, len(list))
	for i, u := range list {
		out[i] = C.lm_condition{op: u.op, value: C.uint64_t(u.value), field: C.lm_field{port: -1}}
		if u.ring != nil {
			if u.ring.m != m {
				return nil, fmt.Errorf("verilator: condition %d is about a channel of another model", i)
			}
			out[i].ring = u.ring.c
			continue
		}
		f, err := m.lib.field(u.port)
		if err != nil {
			return nil, err
		}
		out[i].field = f.c()
	}
	return out, nil
}

func (f field) c() C.lm_field {
	return C.lm_field{port: C.int32_t(f.index), offset: C.uint32_t(f.offset), width: C.uint32_t(f.width)}
}
