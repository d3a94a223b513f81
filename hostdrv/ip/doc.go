// Package ip makes a network interface of the kernel (a TAP) of a node, so that IP goes over the network beside ports and remote writes: each IP packet in a datagram.
//
// Addresses follow from the numbers of nodes, so nothing has to be looked for. Node N has the MAC 02:00:00:00:hi:lo, and in a prefix the address whose part for the
// host is N; ARP and neighbour solicitations are answered here.
package ip
