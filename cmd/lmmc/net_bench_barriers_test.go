package main

import (
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster/barriers"
)

// TestWriteBarriers: predictions that are off by more than 15 % are named, with what they leave out.
func TestWriteBarriers(t *testing.T) {
	d := barriers.Document{Nodes: []int{4}, Models: make([]barriers.LogP, 1)}
	for algorithm, predicted := range map[string]float64{"shuffle": 860, "tree2": 840} {
		d.Points = append(d.Points, barriers.Point{Algorithm: algorithm, Networks: 1, Nodes: 4, Mean: 1000, Predicted: predicted, Alone: 700})
	}
	var b strings.Builder
	writeBarriers(&b, d)
	check.Contains(t, "report", b.String(), "Off by more than 15 %: tree2 of 4 nodes by networks: 1. What it leaves out: ", "700")
}
