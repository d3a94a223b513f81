// Package scenarios lists the verification runs of the network interface that lmmc sim does: traffic, test builds, the comparison with the
// models, messages, hostile peers and hosts, registers, cables that are moved, lines, losses, and remote paging.
package scenarios

import (
	"slices"

	"github.com/stafflink/lmmc/testbench/suite"
)

// All returns the scenarios, in the order in which they run.
func All() []suite.Scenario {
	return slices.Concat(trafficScenarios, debugScenarios, goldenScenarios, switchScenarios, messageScenarios, hostileNodeScenarios, hostileScenarios, wordScenarios, routedScenarios, overlapScenarios, registerScenarios, cablingScenarios, lineScenarios, lossScenarios, pagingScenarios)
}
