//go:build !linux

package lockstep

import "runtime"

func yield() { runtime.Gosched() }
