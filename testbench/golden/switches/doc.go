// Package switches compares the switch in Verilog with the one in Go (package model) under constrained-random stimulus, and network interfaces that have
// a router.
//
// A Program is drawn from a seed: rounds in which cables are pulled and put back, tables are written by datagrams, and routed packets of every
// kind, right and wrong, come by all ports at once. Check plays it on both switches, which have an endpoint in Go at each port. For each pair of
// ports both must deliver the same packets in the same order, those for groups apart from others, and their counters must agree.
package switches
