// Package testbench is a kit for tests of Verilog designs in Go. It knows nothing of any particular design.
//
// # A test
//
// New opens a Bench: one design under test with a seed. Coroutines drive it and look at it; each runs until it waits
// for a clock edge, and goes on when that edge has come:
//
//	b := testbench.New(t, verilator.Design{Top: "adder", Sources: []string{"adder.v"}}, testbench.Config{})
//	b.Bind(&p)
//	b.Go("driver", func(c *testbench.Task) {
//		*p.A, *p.B = 1, 2
//		c.Cycles(2)
//		if *p.Sum != 3 {
//			c.Fatalf("sum is %d", *p.Sum)
//		}
//	})
//	b.Run(1000)
//
// A program that is not a Go test uses Open, which reports errors instead of failing a test.
//
// # Time
//
// A coroutine that waited for a rising edge goes on just after it: registers have their new values. What it sets now,
// the registers see at the next edge of their clock. Coroutines due at the same edge run in the order of their
// creation, or in one drawn from the seed (Config.Shuffle). Observers (Bench.Observe) see what the registers will see.
// All limits count cycles; nothing depends on wall-clock time or on how goroutines are scheduled, but for a watchdog that
// ends a test in which no cycle passes any more (Config.Watchdog).
//
// Event, Queue and Semaphore let coroutines wait for each other, Task.First waits for the first of several things, and Task.Within
// gives up what takes too long.
//
// # Seeds
//
// All that is random in a bench comes from its seed: the values of uninitialised registers, the throttles of channels,
// and the streams of Bench.Rand, one for each name, so that a new consumer does not disturb the others. Without the flag
// -seed (a number, or "random") or the variable LMMC_SEED a test's seed follows from its name.
//
// # Failures
//
// A failing test prints its seed and the command that repeats it, and leaves a wave (FST) of the last cycles, made
// after the fact from a checkpoint. The flag -wave leaves the wave of a test that passes as well. Waves lie in the
// folder lmmc-waves of the folder for temporary files, or in $LMMC_WAVES; LMMC_WAVES=off
// leaves none.
//
// # Parts
//
// Sender, Receiver and Handshake move items of ready/valid streams, RandomStall holds them up at random and Monitor watches
// whether they keep to the rules. Scoreboard and KeyedScoreboard compare what comes with what is expected, Coverage counts which
// cases have come up, and FaultPlan disturbs links. Bench.Add and Bench.Link put several designs together.
package testbench
