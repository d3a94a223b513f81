package flash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stafflink/lmmc/boards/bitstream"
)

// kept is what a flash held before it was written to. The file outlives this process if need be.
type kept struct {
	file string // "" if the flash held nothing from which an FPGA could start
	size int
}

// keep stores what a flash held, if a board could start from it. If not, that may be what an earlier attempt has left half written: then what that one has kept stays.
func keep(w *writer, old []byte) (kept, error) {
	starts := func(data []byte) bool {
		f, err := bitstream.Read(data)
		return err == nil && f.Device == bitstream.Die(w.Board.Device)
	}
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\: `, r) {
			return '_'
		}
		return r
	}, w.Board.Name+"-"+w.device.Port+"-"+w.device.Serial+".bin")
	file := filepath.Join(w.Keep, name)
	if !starts(old) {
		before, err := os.ReadFile(file)
		if err != nil || !starts(before) {
			return kept{}, nil
		}
		return kept{file, len(before)}, nil
	}
	old = bytes.TrimRight(old, "\xff") // which is how erased flash reads
	err := os.MkdirAll(w.Keep, 0o700)
	if err == nil {
		err = os.WriteFile(file, old, 0o600)
	}
	return kept{file, len(old)}, err
}

func (k kept) forget() error {
	if k.file == "" {
		return nil
	}
	return os.Remove(k.file)
}

// A tool that is stopped leaves a flash that erases a block, for 3 s at most, and answers nothing meanwhile.
const (
	busyTries = 8
	busyWait  = 500 * time.Millisecond
)

// write writes it back, when the flash is ready for that.
func (k kept) write(ctx context.Context, w *writer) (err error) {
	for range busyTries {
		err = w.run(ctx, task{do: write, stage: Restoring, file: k.file, size: k.size})
		if _, idle := errors.AsType[idleError](err); !idle {
			break
		}
		time.Sleep(busyWait)
	}
	return err
}

// restore writes back what the flash held after a failure, and returns it with what the flash holds now.
func (k kept) restore(ctx context.Context, w *writer, failure error) error {
	const again = "the FPGA cannot start until lmmc flash %s succeeds"
	if k.file == "" {
		return fmt.Errorf("%w; the flash held no bitstream: "+again, failure, w.Board.Name)
	}
	if !errors.Is(failure, ErrUnplugged) {
		err := k.write(ctx, w)
		if err == nil {
			return errors.Join(fmt.Errorf("%w; the old contents of the flash are restored, FPGA started", failure), k.forget())
		}
		failure = fmt.Errorf("%w; restoring the old contents of the flash failed: %w", failure, w.explain(err))
	}
	return fmt.Errorf("%w; "+again+"; the old contents are in %s", failure, w.Board.Name, k.file)
}
