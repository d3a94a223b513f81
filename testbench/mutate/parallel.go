package mutate

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/stafflink/lmmc/internal/try"
)

// each calls do for 0 to n-1, jobs at a time, and ends with the first error. After one it begins no other.
func each(jobs, n int, do func(i int)) {
	group, ctx := errgroup.WithContext(context.Background())
	group.SetLimit(jobs)
	for i := 0; i < n && ctx.Err() == nil; i++ {
		group.Go(func() error { return try.Run(func() { do(i) }) })
	}
	try.OK(group.Wait())
}
