package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/boards/flash"
	"github.com/stafflink/lmmc/boards/plugged"
	"github.com/stafflink/lmmc/hostdrv/udev"
	"github.com/stafflink/lmmc/internal/try"
)

// pluggedIn is a device that may be a board.
type pluggedIn struct {
	plugged.Device
	Boards []string `json:"boards"`
	State  string   `json:"state"`         // "ready", "in use" (its channel A) or "no permission"
	Fix    string   `json:"fix,omitempty"` // the command that gives permission
}

// lookForBoards lists what is plugged in that may be a board.
func lookForBoards(s plugged.System, all []flash.Board) ([]pluggedIn, error) {
	devices, err := s.Devices()
	found := []pluggedIn{}
	for _, d := range devices {
		p := pluggedIn{Device: d, Boards: plugged.Boards(d, kinds(all)), State: "ready"}
		if p.Boards == nil {
			continue
		}
		switch err := s.Permission(d); {
		case errors.Is(err, plugged.ErrPermission):
			p.State, p.Fix = "no permission", udev.Advice(d.Vendor)
		case err != nil: // it has just been unplugged
			continue
		case len(d.Channels) > 0 && d.Channels[0].Driver == plugged.Taken:
			p.State = "in use"
		}
		found = append(found, p)
	}
	return found, err
}

func boardsCommand(all []flash.Board, s plugged.System) *cli.Command {
	return &cli.Command{
		Name:  "boards",
		Usage: "list the known boards and those that are plugged in",
		Description: "It opens no device, so it disturbs no board or serial port in use. A bridge chip that does not name its board is listed\n" +
			"with every board that it may be.",
		Flags: []cli.Flag{jsonFlag},
		Action: func(ctx *cli.Context) error {
			found, noUSB := lookForBoards(s, all)
			if noUSB != nil && !errors.Is(noUSB, plugged.ErrNoUSB) {
				return noUSB
			}
			rows := try.Get(knownRows(all))
			return show(ctx, map[string]any{"boards": rows, "plugged": found}, func(b *strings.Builder, _ map[string]any) {
				known := table{names: []string{"board", "device", "usb", "written by"}}
				for _, row := range rows {
					usb := fmt.Sprintf("%04x:%04x %s", row.USB.Vendor, row.USB.Product, row.USB.Name)
					known.add(row.Name, row.Device, strings.TrimSpace(usb), cmp.Or(row.Tool, "- (synthesis only)"))
				}
				known.write(b)
				writePlugged(b, found, noUSB)
			})
		},
	}
}

func writePlugged(b *strings.Builder, found []pluggedIn, noUSB error) {
	b.WriteByte('\n')
	if len(found) == 0 {
		fmt.Fprintln(b, cmp.Or(noUSB, errNoBoard))
		return
	}
	t := table{names: []string{"port", "board", "serial number", "product", "serial ports", "state", "fix"}}
	for _, p := range found {
		var ports []string
		for _, c := range p.Channels {
			if c.Port != "" {
				ports = append(ports, c.Name+" "+c.Port)
			}
		}
		t.add(p.Port, strings.Join(p.Boards, ", "), orDash(p.Serial), orDash(p.Name), orDash(strings.Join(ports, ", ")), p.State, p.Fix)
	}
	t.write(b)
}

var errNoBoard = errors.New("no board is plugged in")

// boardRow is a board that is known.
type boardRow struct {
	Name   string       `json:"name"`
	Device string       `json:"device"`
	Tool   string       `json:"tool"` // that writes to it; "" for a board that is synthesised only
	USB    plugged.Kind `json:"usb"`
}

// knownRows lists those that can be written to, and then those that can be synthesised only.
func knownRows(flashable []flash.Board) ([]boardRow, error) {
	rows := []boardRow{}
	for _, b := range flashable {
		rows = append(rows, boardRow{b.Name, b.Device, b.Tool, b.USB})
	}
	all, err := boards.All()
	for _, b := range all {
		if !hasBitstreams(b) {
			rows = append(rows, boardRow{Name: b.Name, Device: b.FPGA.Device, USB: kindOf(b)})
		}
	}
	return rows, err
}
