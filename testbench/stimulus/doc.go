// Package stimulus holds what tests do to a network interface, as data that can be printed, kept in files, read back and shrunk.
//
// Rules is the table of violations of the link protocol, each with the counters that it must raise; a Violation is a row with all that is
// random drawn. A Program is rounds of traffic on every port, right and wrong, with what cables, hosts and peers do meanwhile; Shrink makes
// one that fails smaller. Others play them: testbench/golden on the RTL and on the model, testbench/scenarios on the RTL.
package stimulus
