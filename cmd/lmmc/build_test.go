package main

import (
	"slices"
	"testing"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/boards/flash"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/synth"
)

// What is named for one signal is one line; what the placer made goes with what leads to it.
func TestStretches(t *testing.T) {
	got := stretches([]synth.Hop{
		{Kind: "clk-to-q", Nanoseconds: 1, Signal: "a"}, {Kind: "routing", Nanoseconds: 2, Signal: "a"},
		{Kind: "logic", Nanoseconds: 4, Signal: "b"}, {Kind: "routing", Nanoseconds: 8}, {Kind: "logic", Nanoseconds: 16},
		{Kind: "routing", Nanoseconds: 32, Signal: "b"}, {Kind: "setup", Nanoseconds: 64, Signal: "a"},
	})
	check.Equal(t, "stretches", got, []stretch{{"a", 1, 2, 1}, {"b", 20, 40, 2}, {"a", 64, 0, 1}})
}

// What board.toml may name is what lmmc flash can run.
func TestProgrammers(t *testing.T) {
	check.Equal(t, "programmers", slices.Sorted(slices.Values(boards.Programmers)), slices.Sorted(slices.Values(flash.Tools())))
}
