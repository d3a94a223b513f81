package net_test

import (
	"testing"

	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestPatience: a node that has no room and takes nothing is overdue after so many clocks, and not before; what it takes ends that.
func TestPatience(t *testing.T) {
	const patience = 100
	var n struct {
		Room, Moved, Overdue *bool `port:"*"`
	}
	b := moduletest.Open(t, "net_patience", params{"PATIENCE": patience}, &n)
	r := b.Rand("host")
	waited, ended := 0, 0
	overdue := false
	*n.Room = true
	for range 20_000 {
		*n.Room = *n.Room != r.Chance(0.004)
		*n.Moved = r.Chance(0.01)
		b.Step(1)
		if *n.Moved && overdue {
			ended++
		}
		overdue = !*n.Moved && (overdue || waited >= patience)
		if waited++; *n.Moved || *n.Room {
			waited = 0
		}
		if *n.Overdue != overdue {
			t.Fatalf("overdue is %v after %d clocks without room", *n.Overdue, waited)
		}
	}
	if ended < 20 {
		t.Errorf("overdue only %d times", ended)
	}
}
