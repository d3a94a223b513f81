// Package verilator compiles a Verilog design with Verilator into a shared library, loads it, and runs instances of
// it under the control of Go.
//
// # From Verilog to a running model
//
// Build compiles a Design, or finds it in the cache, and returns a Library. Library.New makes a Model, one instance;
// a process may hold any number, of any designs. Model.Bind points the fields of a struct at the ports, so that Go
// reads and sets ports by plain loads and stores. Model.Clock declares the clocks, and Step, Run and RunUntil move
// time, with the loop over clock edges in C++.
//
// # Time
//
// A run ends just after a rising edge of the clock that it counts: registers hold their new values, and inputs are as
// they were left. What Go sets now is settled through combinational logic before the next edge of any clock and is
// seen by the registers at that edge. So Go behaves like a register of the design: it reacts to one edge and the
// design sees the reaction at the next. Outputs that depend on inputs without a register between follow at the next
// run, or at once with Model.Eval. Clocks that have an edge at the same time have it together, in one evaluation.
//
// Model.Clock counts time in units of the caller's choice. With Design.Timing the design has delays and waits of its own, and the unit is theirs: see Library.Ticks.
// What it has scheduled happens between the edges, and Model.RunTo needs no clock. Model.RunToFinish runs a testbench in Verilog to its $finish.
//
// # Channels
//
// A Channel moves one item a clock between Go and the design through memory that both share: a ready/valid stream, or
// a port that carries a symbol at every clock. Model.Source feeds the design, Model.Sink collects. Items are written
// and read by Go between runs without a call into C.
//
// # Links and networks
//
// Connect makes a link: an output of one model drives an input of another (or of the same) some cycles later, with bit
// errors and planned faults. A Network runs linked models in lock-step on several threads; results do not depend on
// how many. The longer the shortest latency, the more seldom threads have to meet.
//
// # Waves, checkpoints, coverage
//
// Model.Trace writes an FST file from now on. A model with Config.Record can tell afterwards: it keeps a checkpoint and
// all inputs since, and Model.DumpWave runs that stretch again into a file. A checkpoint does not fit a build with other
// options, as Verilator keeps other signals, so recording needs Design.Trace and Design.Checkpoint at once. A design
// built to be traced runs at some 60 % of its speed while it is not, on a small design; recording adds some 70 ns a
// cycle. Model.Save and Model.Restore are the checkpoints themselves. Model.Coverage and ReadCoverage tell which lines,
// branches and signal bits were reached.
//
// # Randomness
//
// Everything that the design leaves uninitialised starts with a value drawn from Config.Seed, as do $random and the
// throttles of channels from their own seeds. Equal seeds give equal runs.
//
// # Test cache
//
// In a test, Build and models open the files of a design so that the go command runs the test again when one has changed,
// wherever they are.
//
// # Tools
//
// Build needs Verilator 5.002 or later and g++ (or $CXX); compiling a program that
// imports this package needs neither. Compiled designs are kept in the folder lmmc of the user's cache folder, or in
// $LMMC_CACHE; it may be deleted at any time.
package verilator
