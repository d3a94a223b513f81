package main

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/fuzz"
)

// TestChooseFuzz: each name stands for a test at least, so that none is left out unnoticed.
func TestChooseFuzz(t *testing.T) {
	all := []fuzz.Test{{Package: "x/link", Name: "FuzzFrame"}, {Package: "x/link", Name: "FuzzWord"}, {Package: "x/usb", Name: "FuzzPacket"}}
	check.Equal(t, "all", check.Must(chooseFuzz(all, nil))(t), all)
	check.Equal(t, "of a package, and one", check.Must(chooseFuzz(all, []string{"link", "Frame", "Packet"}))(t), all)
	check.Equal(t, "one", check.Must(chooseFuzz(all, []string{"Word"}))(t), all[1:2])
	check.Fails(t, "one of two", check.Err(chooseFuzz(all, []string{"Word", "Pakcet"})), errUsage, "Pakcet; lmmc fuzz --list (did you mean Packet?)")
}
