package verilator

import (
	"errors"
	"runtime"
	"sync"
)

// parallel runs f(0) to f(n-1), as many at a time as there are processors, and returns all errors.
func parallel(n int, f func(int) error) error {
	errs := make([]error, n)
	slots := make(chan struct{}, runtime.NumCPU())
	var group sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		group.Go(func() {
			errs[i] = f(i)
			<-slots
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
