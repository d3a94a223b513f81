// Package golden compares the network interface in Verilog with the one in Go (package model) under constrained-random
// stimulus.
//
// A Program is drawn from a seed: rounds of packets on every port at once, of every type and size, right and wrong, with
// traps and how the host serves them, and with what the cables, the hosts and the peers do meanwhile. Play carries it
// out on a World (one network interface, either kind, with a host and peers in Go) and writes down what happened in a
// Transcript; Compare finds the first difference of two.
//
// What two correct interfaces may do differently is the order between ports, and when. So a round gives every frame to
// one lane, a link or the host, and a transcript has a part for every lane, in order: what a host is answered, which
// traps a link raised and how they were served, what each peer received. Rounds end at rest, and then the whole
// receive buffer, frame table, status and counters are compared. What may be merged or repeated is checked against the
// protocol in each world by itself: NOTIFY must cover the writes carried out, in order, by the smallest ranges, and SPACE
// what has been freed.
package golden
