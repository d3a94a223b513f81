// Package serialtest is for tests of what goes over a serial port: pseudo-terminals, on Linux, and a board behind one, the RTL with its UART pins,
// its links cabled to each other.
package serialtest
