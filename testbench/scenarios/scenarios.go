// Package scenarios lists the verification runs of the network interface that lmmc sim does. Each folder holds those of one layer or one way
// of testing; what they share is in harness.
package scenarios

import (
	"slices"

	"github.com/stafflink/lmmc/testbench/scenarios/comparison"
	"github.com/stafflink/lmmc/testbench/scenarios/debug"
	"github.com/stafflink/lmmc/testbench/scenarios/host"
	"github.com/stafflink/lmmc/testbench/scenarios/line"
	"github.com/stafflink/lmmc/testbench/scenarios/link"
	"github.com/stafflink/lmmc/testbench/scenarios/messages"
	"github.com/stafflink/lmmc/testbench/scenarios/paging"
	"github.com/stafflink/lmmc/testbench/scenarios/registers"
	"github.com/stafflink/lmmc/testbench/scenarios/routed"
	"github.com/stafflink/lmmc/testbench/scenarios/traffic"
	"github.com/stafflink/lmmc/testbench/scenarios/virtuallink"
	"github.com/stafflink/lmmc/testbench/scenarios/words"
	"github.com/stafflink/lmmc/testbench/suite"
)

// All returns the scenarios, in the order in which they run.
func All() []suite.Scenario {
	return slices.Concat(traffic.Scenarios, debug.Scenarios, comparison.Interfaces, comparison.Switches, messages.Scenarios, virtuallink.Scenarios,
		link.Hostile, host.Hostile, link.Resets, words.Scenarios, routed.Scenarios, host.Overlap, registers.Scenarios, link.Cabling,
		line.Scenarios, paging.Losses, paging.Scenarios)
}
