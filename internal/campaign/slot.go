package campaign

import (
	"context"
	"sync"
)

// slot is what a job has while it runs on this machine, one of so many as jobs run at a time.
type slot struct {
	of    chan struct{}
	mutex sync.Mutex
	held  bool
	ended bool // a job that was left behind gets none any more
}

type slotKey struct{}

// Aside has a job wait for what another one makes: meanwhile a further job runs. Outside of jobs it just waits.
func Aside(ctx context.Context, wait func()) {
	if s, _ := ctx.Value(slotKey{}).(*slot); s != nil && s.leave() {
		defer s.enter(ctx)
	}
	wait()
}

// enter takes a slot, and returns false when ctx ends before.
func (s *slot) enter(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case s.of <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.ended || s.held {
		<-s.of
	}
	s.held = !s.ended
	return true
}

// leave gives the slot back, and says whether there was one.
func (s *slot) leave() bool { return s.free(false) }

func (s *slot) end() { s.free(true) }

func (s *slot) free(ended bool) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	held := s.held
	if held {
		<-s.of
	}
	s.held, s.ended = false, s.ended || ended
	return held
}
