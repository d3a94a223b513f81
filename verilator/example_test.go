package verilator_test

import (
	"context"
	"fmt"
	"log"

	"github.com/stafflink/lmmc/verilator"
)

func Example() {
	lib, err := verilator.Build(context.Background(), verilator.Design{Top: "counter", Sources: []string{"testdata/counter.v"}})
	if err != nil {
		log.Fatal(err)
	}
	m, err := lib.New(verilator.Config{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	var p struct {
		Rst    *bool   `port:"rst"`
		Enable *bool   `port:"enable"`
		Step   *uint32 `port:"step"`
		Count  *uint32 `port:"count"`
	}
	if err := m.Bind(&p); err != nil {
		log.Fatal(err)
	}
	if _, err := m.Clock("clk", 10, 0); err != nil {
		log.Fatal(err)
	}
	*p.Rst = true
	m.Run(2)
	*p.Rst, *p.Enable, *p.Step = false, true, 3
	m.Run(4)
	fmt.Println(*p.Count)
	// Output: 12
}
