package main

import (
	"slices"

	"github.com/stafflink/lmmc/boards/flash"
	"github.com/stafflink/lmmc/boards/plugged"
	"github.com/stafflink/lmmc/hostdrv/udev"
)

// ft2232h is the product number of the bridge chip that the boards have.
const ft2232h = 0x6010

// knownBoards are the boards that can be written to.
func knownBoards() []flash.Board {
	return []flash.Board{
		{Name: "hx8k", Device: "hx8k", Tool: "iceprog", USB: plugged.Kind{Board: "hx8k", Vendor: udev.FTDI, Product: ft2232h}},
		{Name: "icebreaker", Device: "up5k", Tool: "iceprog", USB: plugged.Kind{Board: "icebreaker", Vendor: udev.FTDI, Product: ft2232h, Name: "iCEBreaker"}},
	}
}

func kinds(all []flash.Board) (kinds []plugged.Kind) {
	for _, b := range all {
		kinds = append(kinds, b.USB)
	}
	return kinds
}

func boardNamed(all []flash.Board, name string) (board flash.Board, known bool) {
	i := slices.IndexFunc(all, func(b flash.Board) bool { return b.Name == name })
	if i < 0 {
		return board, false
	}
	return all[i], true
}
