package verilator

import (
	"errors"
	"runtime"
	"sync"

	"github.com/stafflink/lmmc/internal/try"
)

// parallel runs f(0) to f(n-1), as many at a time as there are processors, and ends with all errors.
func parallel(n int, f func(int)) {
	errs := make([]error, n)
	slots := make(chan struct{}, runtime.NumCPU())
	var group sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		group.Go(func() {
			errs[i] = try.Run(func() { f(i) })
			<-slots
		})
	}
	group.Wait()
	try.OK(errors.Join(errs...))
}
