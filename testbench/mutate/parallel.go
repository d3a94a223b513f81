package mutate

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// each calls do for 0 to n-1, jobs at a time, and returns the first error. After one it begins no other.
func each(jobs, n int, do func(i int) error) error {
	group, ctx := errgroup.WithContext(context.Background())
	group.SetLimit(jobs)
	for i := 0; i < n && ctx.Err() == nil; i++ {
		group.Go(func() error { return do(i) })
	}
	return group.Wait()
}
