package routing_test

import (
	"fmt"
	"log"

	"github.com/stafflink/lmmc/hostdrv/routing"
	"github.com/stafflink/lmmc/hostdrv/topology"
)

func Example() {
	ring, err := topology.Generate("ring", []int{6}, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"shortest", "up-down"} {
		tables, err := routing.Build(ring, name)
		if err != nil {
			log.Fatal(err)
		}
		port, _ := tables.Route(0, 5)
		fmt.Printf("from n0 to n5 by port %d; %s: %v\n", port, name, tables.Check().Err())
	}
	// Output:
	// from n0 to n5 by port 2; shortest: routing: packets can deadlock, since 6 channels wait for each other: choose another routing, such as up-down
	// from n0 to n5 by port 2; up-down: <nil>
}
