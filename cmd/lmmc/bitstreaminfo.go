package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/rtl"
)

// bitstreamInfo is what lmmc info tells of a file.
type bitstreamInfo struct {
	File   string           `json:"file"`
	Device bitstream.Device `json:"device"` // the die
	Bytes  int              `json:"bytes"`  // without what pads it
	CRC    string           `json:"crc"`
	// Memories says that block RAMs get contents.
	Memories bool            `json:"memories"`
	Comment  []string        `json:"comment"`
	Info     *bitstream.Info `json:"info"` // null if lmmc build has not made it
	RTL      string          `json:"rtl,omitempty"`
	// Current says that its RTL is that of this program.
	Current bool `json:"current"`
}

// isBitstream says whether an argument of lmmc info is a file and not a target.
func isBitstream(target string) bool {
	for _, scheme := range append(hostdrv.Schemes(), hostdrv.SharedScheme) {
		if strings.HasPrefix(target, scheme+":") {
			return false
		}
	}
	_, err := os.Stat(target)
	return err == nil || strings.HasSuffix(target, ".bin")
}

// maxBitstream is more than any iCE40's configuration, with what a comment or a flash's rest may add to it.
const maxBitstream = 16 << 20

// readBitstream reads a file of which nobody knows yet whether it is a bitstream.
func readBitstream(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBitstream+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if len(data) > maxBitstream {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("%w: it has more than %s bytes", bitstream.ErrForeign, thousands(maxBitstream))}
	}
	return data, nil
}

func showBitstream(ctx *cli.Context, name string) error {
	return show(ctx, try.Get(describeBitstream(name)), writeBitstream)
}

func describeBitstream(name string) (info bitstreamInfo, err error) {
	data, err := readBitstream(name)
	if err != nil {
		return info, err
	}
	f, err := bitstream.Read(data)
	if err != nil {
		return info, fmt.Errorf("%s: %w", name, err)
	}
	info = bitstreamInfo{File: name, Device: f.Device, Bytes: f.Size, CRC: fmt.Sprintf("%04x", f.CRC), Memories: f.Memories, Comment: f.Comment, Info: f.Info}
	if f.Info != nil {
		info.RTL, info.Current = fmt.Sprintf("%016x", f.Info.Hash), f.Info.Hash == rtl.Hash()
	}
	return info, nil
}

func writeBitstream(b *strings.Builder, info bitstreamInfo) {
	width := len("comment")
	if info.Info != nil {
		for name := range info.Info.Params {
			width = max(width, len(name))
		}
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "%-*s  %s\n", width, name, fmt.Sprintf(format, args...))
	}
	line("file", "%s, %s bytes, CRC %s", info.File, thousands(uint64(info.Bytes)), info.CRC)
	if info.Info == nil {
		line("device", "%s", info.Device)
		line("board", "unknown: lmmc build has not made it")
		for _, text := range info.Comment {
			line("comment", "%q", text)
		}
	} else {
		i := info.Info
		device, board := string(info.Device), i.Board
		if i.Device != "" {
			device = fmt.Sprintf("%s (%s)", i.Device, info.Device)
		}
		if i.Config != "" {
			board += "/" + i.Config
		}
		line("device", "%s", device)
		line("board", "%s", board)
		if info.Current {
			line("rtl", "%s, the RTL of this program", info.RTL)
		} else {
			line("rtl", "%s, not the RTL of this program, %016x: lmmc build %s makes one of that", info.RTL, rtl.Hash(), board)
		}
		for _, name := range slices.Sorted(maps.Keys(i.Params)) {
			line(name, "%s", i.Params[name])
		}
	}
}
