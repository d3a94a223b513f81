// Package hostdrv is the host's driver for a network interface (NI), wherever that runs: on a board behind a cable, in a simulation,
// or as a model in Go. A host is a node like any other, so its cable carries the link layer of package flowctl.
//
// Open takes a target such as "tcp:host:port" and returns an NI: its identity, registers, receive buffer, frame table, remote
// writes, traps and counters. The transports are packages of their own below this one (tcp, serial, rtlsim); a program imports those
// that it wants to open targets of, for their side effect, so this package needs neither cgo nor Verilator.
//
// OpenNode takes a target too and returns a Node: ports with pages, of an NI that is the program's own or, with "unix:PATH", another process's.
//
// # Time
//
// Every wait takes a context. Deadlines of the target are another matter: a simulation is slower than wall-clock time, so
// NI.WithTimeout makes contexts that end by the target's own time, which is real time on a board and counts clock cycles in a
// simulation. A simulated target stands still while nobody in the program waits for it.
//
// # What is acknowledged and what is lost
//
// A request whose answer has come has been carried out. A remote write is on its way when NI.Write returns, and has reached the
// peer's NI when NI.Sync returns nil. When a link starts again, because a cable was pulled or the other side restarted, what had not
// been acknowledged is reported and never delivered later: the next Sync of a link that has lost packets returns how many in a LossError.
// Requests are asked again, or fail with a RestartError. When the NI itself was reset or is gone, everything fails with one error, and the
// NI must be opened again.
package hostdrv
