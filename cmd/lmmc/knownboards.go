package main

import (
	"os"
	"slices"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/boards/flash"
	"github.com/stafflink/lmmc/boards/plugged"
)

// knownBoards are the boards that can be built for and written to.
func knownBoards() (known []flash.Board, err error) {
	all, err := allBoards()
	if err != nil { // of the project: lmmc build says what
		all, err = boards.All()
	}
	if err != nil {
		return nil, err
	}
	for _, b := range all {
		if !hasBitstreams(b) {
			continue
		}
		known = append(known, flash.Board{Name: b.Name, Device: b.FPGA.Device, Tool: b.Programmer, USB: kindOf(b)})
	}
	return known, nil
}

// allBoards are those of the project in the present folder, and lmmc's.
func allBoards() ([]*boards.Board, error) { return boards.AllWith(os.DirFS(".")) }

func kindOf(b *boards.Board) plugged.Kind {
	return plugged.Kind{Board: b.Name, Vendor: b.USB.Vendor, Product: b.USB.Product, Name: b.USB.Name}
}

// hasBitstreams tells whether bitstreams can be made for a board, and netlists be simulated.
func hasBitstreams(b *boards.Board) bool { return b.FPGA.Family == "ice40" }

// boardNames are boards and their configurations, for completion.
func boardNames(of func(*boards.Board) bool) (names []string) {
	all, _ := boards.All() // what is wrong with them is told when one is asked for
	for _, b := range all {
		if !of(b) {
			continue
		}
		names = append(names, b.Name)
		for _, c := range b.Configs() {
			names = append(names, c.String())
		}
	}
	return names
}

func kinds(all []flash.Board) []plugged.Kind {
	return collect(all, func(b flash.Board) plugged.Kind { return b.USB })
}

func boardNamed(all []flash.Board, name string) (board flash.Board, known bool) {
	i := slices.IndexFunc(all, func(b flash.Board) bool { return b.Name == name })
	if i < 0 {
		return board, false
	}
	return all[i], true
}
