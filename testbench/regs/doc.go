// Package regs models blocks of registers.
//
// A Block is described in a file: TOML (Read), or IP-XACT or SystemRDL (see Read). From it come
//
//   - a Device on a bus of a bench: registers and fields by name, a mirror that predicts what each read must give by the fields' access types,
//     a back door into the design, sequences that try reset values and every access type (CheckReset, Bash),
//   - an Interrupt, which a coroutine waits for,
//   - Go code for drivers (Block.Generate, command "lmmc regs"): typed constants and accessors over any bus.
//
// Access types are those of IEEE 1685 and UVM by their short names; Access has the table.
package regs
