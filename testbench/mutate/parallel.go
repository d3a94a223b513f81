package mutate

import (
	"errors"
	"sync"
	"sync/atomic"
)

// each calls do for 0 to n-1, jobs at a time, and joins the errors. After one it begins no other.
func each(jobs, n int, do func(i int) error) error {
	var (
		group  sync.WaitGroup
		next   atomic.Int64
		failed atomic.Bool
	)
	errs := make([]error, n)
	for range min(jobs, n) {
		group.Go(func() {
			for !failed.Load() {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[i] = do(i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
