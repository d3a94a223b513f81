package verilator_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/stafflink/lmmc/verilator"
)

// counterModel is a model of testdata/counter.v with its clock.
func counterModel() *verilator.Model {
	lib, err := verilator.Build(context.Background(), verilator.Design{Top: "counter", Sources: []string{"testdata/counter.v"}})
	if err != nil {
		log.Fatal(err)
	}
	m, err := lib.New(verilator.Config{Seed: 1})
	if err == nil {
		_, err = m.Clock("clk", 10, 0)
	}
	if err != nil {
		log.Fatal(err)
	}
	return m
}

// Ports can be found by name while the program runs.
func ExampleModel_Peek() {
	m := counterModel()
	defer m.Close()
	for port, v := range map[string]uint64{"rst": 1, "enable": 1, "step": 3} {
		if err := m.Poke(port, v); err != nil {
			log.Fatal(err)
		}
	}
	m.Run(2)
	m.Poke("rst", 0)
	m.Run(4)
	fmt.Println(m.Peek("count"))
	// Output: 12 <nil>
}

// The ports of a design, without compiling it.
func ExampleDescribe() {
	design := verilator.Design{Top: "scale", Sources: []string{"scale.v"}, FS: fstest.MapFS{"scale.v": {Data: []byte(
		`module scale #(parameter FACTOR = 3) (input signed [7:0] x, output signed [15:0] y); assign y = x * FACTOR[7:0]; endmodule`)}}}
	i, err := verilator.Describe(context.Background(), design)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range i.Ports {
		fmt.Println(p, p.GoType())
	}
	fmt.Println(i.Signed, i.Params)
	// Output:
	// input x[8] *uint8
	// output y[16] *uint16
	// [x y] [{FACTOR 32'sh3}]
}

// Warnings of Verilator, with places.
func ExampleLint() {
	design := verilator.Design{Top: "narrow", Sources: []string{"narrow.v"}, FS: fstest.MapFS{"narrow.v": {Data: []byte(
		"module narrow (input [7:0] x, output [3:0] y);\n  assign y = x;\nendmodule\n")}}}
	found, err := verilator.Lint(context.Background(), design)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range found {
		fmt.Println(d.File, d.Line)
	}
	// Output:
	// narrow.v 2
	// narrow.v 1
}
