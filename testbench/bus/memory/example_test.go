package memory_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/stafflink/lmmc/testbench/bus/memory"
)

func Example() {
	m := memory.New(0x1000)
	if err := m.Load(strings.NewReader("@4 deadbeef 1 // two words"), 0, 4); err != nil {
		fmt.Println(err)
	}
	m.WriteLanes(0x14, []byte{0xAA, 0xBB, 0xCC, 0xDD}, 0b0110)
	v, _ := m.Uint(0x14, 4)
	fmt.Printf("%08x\n", v)
	m.Dump(os.Stdout, 0x10, 8, 4)
	fmt.Println(m.Write(0xFFE, []byte("end")))
	// Output:
	// 00ccbb01
	// @4 deadbeef 00ccbb01
	// memory: out of bounds: 3 bytes at 0xffe, the memory has 0x1000 bytes
}
