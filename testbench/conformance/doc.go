// Package conformance is the one suite that every network interface (NI) must pass, whatever it is made of: a model, the RTL in a simulation, a
// board behind a cable. It speaks to the target by package hostdrv alone, and uses what any NI has: its registers, its receive
// buffer, and links that may be cabled to each other or to themselves.
//
// A target may also be two nodes of a simulated network (NetworkScheme): the same cases run over a virtual link between them.
//
// A Case is a requirement and how it is checked. Execute runs cases one after the other, each with a driver of its own, and reports which
// passed, failed, or could not be done on this target. Compare runs one script on two targets and tells where they first differ.
//
// Everything random follows from a seed. Limits on time are in the target's own time, so that a slow simulation misses none.
package conformance
