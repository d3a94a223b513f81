package hostdrv_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/internal/check"
)

// TestTimeoutsBesideClose: a node of another process's network interface may be closed while others begin to wait. The race detector sees it when it may not.
func TestTimeoutsBesideClose(t *testing.T) {
	for range 20 {
		node := openFakeServer(t, func(sharing.Message, func(sharing.Message)) {})
		var work sync.WaitGroup
		for range 4 {
			work.Go(func() {
				for range 100 {
					_, cancel := node.WithTimeout(t.Context(), time.Hour)
					cancel()
				}
			})
		}
		check.Fatal(t, node.Close())
		work.Wait()
	}
}
