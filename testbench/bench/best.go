package bench

import (
	"syscall"
	"time"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench"
)

// best runs a bench for so many cycles in parts, and returns how much of what a counter counts passed in a second of the process's CPU time, in the best part:
// other programs can only make it worse.
func best(b *testbench.Bench, cycles uint64, count func() uint64) (perSecond float64) {
	for range parts {
		before, start := count(), CPUTime()
		try.OK(b.Step(cycles / parts))
		perSecond = max(perSecond, float64(count()-before)/(CPUTime()-start).Seconds())
	}
	return perSecond
}

// CPUTime is how long this process has been computing, on all its threads. Other programs on the machine do not count.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are constant
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
