package mutate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/try"
)

// TestCutShort: a check that an interrupt or another's failure cuts short says nothing about the mutant. The context of an interrupt has a cause of its own.
func TestCutShort(t *testing.T) {
	c := &check{name: "sleeps", dir: t.TempDir(), command: []string{"sh", "-c", "touch began; exec sleep 1000"}}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for ; t.Context().Err() == nil; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(filepath.Join(c.dir, "began")); err == nil {
				cancel(errors.New("interrupt signal received"))
				return
			}
		}
	}()
	var how outcome
	err := try.Run(func() { how, _, _ = c.run(ctx, "", 1, time.Hour) })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a check that is cut short has outcome %d and error %v, want %v", how, err, context.Canceled)
	}
}

// TestKilled: what others kill, as for want of memory, says nothing either.
func TestKilled(t *testing.T) {
	c := &check{name: "TestGreedy", dir: t.TempDir(), command: []string{"sh", "-c", "kill -KILL $$"}}
	var how outcome
	err := try.Run(func() { how, _, _ = c.run(t.Context(), "", 1, time.Hour) })
	if err == nil || !strings.Contains(err.Error(), "TestGreedy was killed") {
		t.Errorf("a check that is killed has outcome %d and error %v", how, err)
	}
}
