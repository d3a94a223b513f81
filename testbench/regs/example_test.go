package regs_test

import (
	"fmt"

	"github.com/stafflink/lmmc/testbench/regs"
)

// A block described in TOML; a bench makes a Device of it, and "lmmc regs" a driver.
func Example() {
	block, err := regs.Parse([]byte(`
name = "timer"
[[register]]
name = "ctrl"
address = 0
field = [{ name = "run", bits = "0" }]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	code, err := block.Generate("timer", "timer.toml")
	fmt.Println(len(code) > 0, err)

	_, err = regs.Parse([]byte("name = \"timer\"\n[[register]]\nname = \"ctrl\"\nacces = \"ro\""))
	fmt.Println(err)
	// Output:
	// true <nil>
	// regs: register has no "acces" (did you mean access?); it has name, doc, address, count, step, inside, field, access, reset, volatile
}
