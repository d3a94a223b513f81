package kernel_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/bitstream/bitstreamtest"
	"github.com/stafflink/lmmc/boards/flash"
	"github.com/stafflink/lmmc/boards/plugged"
	"github.com/stafflink/lmmc/hostdrv"
)

// tools are what writes to boards, and what makes something to write. A guest has those that the machine has.
func tools() (have []string) {
	for _, name := range []string{"iceprog", "openFPGALoader", "icepack", "iceunpack"} {
		if _, err := exec.LookPath(name); err == nil {
			have = append(have, name)
		}
	}
	return have
}

// hx8k is the board, as lmmc flash knows it.
func hx8k(tool string) flash.Board {
	return flash.Board{Name: "hx8k", Device: "hx8k", USB: plugged.Kind{Board: "hx8k", Vendor: 0x0403, Product: 0x6010}, Tool: tool}
}

// TestIceprog erases, writes, verifies and reads a little of the flash, beyond where a bitstream is.
func TestIceprog(t *testing.T) {
	if _, err := exec.LookPath("iceprog"); err != nil {
		t.Skip("not installed: run scripts/deps test")
	}
	desk(t)
	iceprog := func(args ...string) string {
		t.Helper()
		text, err := exec.CommandContext(t.Context(), "iceprog", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("iceprog %q: %v\n%s", args, err, text)
		}
		return string(text)
	}
	if text := iceprog("-t"); !strings.Contains(text, "flash ID: 0x20 0xBA 0x16") {
		t.Errorf("the flash is not recognized: %s", text)
	}
	in, out := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "out")
	data := make([]byte, 2000)
	for i, rng := 0, rand.New(rand.NewPCG(1, 9)); i < len(data); i++ {
		data[i] = byte(rng.Uint32())
	}
	if err := os.WriteFile(in, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if text := iceprog("-o", "1M", in); !strings.Contains(text, "VERIFY OK") {
		t.Errorf("not verified: %s", text)
	}
	iceprog("-o", "1M", "-R", "2000", out)
	if have, err := os.ReadFile(out); err != nil || !bytes.Equal(have, data) {
		t.Errorf("it reads other bytes than it has written: %v", err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(in, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.CommandContext(t.Context(), "iceprog", "-o", "1M", "-c", in).CombinedOutput(); err == nil {
		t.Errorf("it verifies what is not there: %s", text)
	}
}

// TestFlash writes to the board as lmmc flash does, by tools as they are: afterwards its network interface is there.
func TestFlash(t *testing.T) {
	image := func(board, device string) []byte {
		return bitstreamtest.Pack(t, bitstream.Die(device), bitstream.Info{Board: board, Device: device}.Comment(), nil)
	}
	ours, theirs := image("hx8k", "hx8k"), image("icebreaker", "up5k")
	for _, c := range []struct {
		tool   string
		memory flash.Memory
	}{
		{"iceprog", flash.SRAM},
		{"openFPGALoader", flash.SRAM},
		{"openFPGALoader", flash.Flash}, // not iceprog: that takes five times as long, see TestIceprog
	} {
		t.Run(c.tool+map[flash.Memory]string{flash.SRAM: "/sram", flash.Flash: "/flash"}[c.memory], func(t *testing.T) {
			if _, err := exec.LookPath(c.tool); err != nil {
				t.Skip("not installed: run scripts/deps test")
			}
			desk(t)
			job := flash.Job{Board: hx8k(c.tool), Data: theirs, Memory: c.memory, Serial: "V1", Keep: filepath.Join(t.TempDir(), "kept")}
			job.Kinds = []plugged.Kind{job.Board.USB}
			if _, err := flash.Write(t.Context(), job); !errors.Is(err, flash.ErrFile) {
				t.Errorf("another board's bitstream: %v", err)
			}
			job.Data = ours
			if o, err := flash.Write(t.Context(), job); err != nil || o.Unchanged {
				t.Fatalf("%+v, %v", o, err)
			}
			n := open(t, serialTarget, hostdrv.Options{})
			if id := n.Identity(); id.Links != 2 {
				t.Errorf("%d links", id.Links)
			}
			if err := n.Close(); err != nil {
				t.Error(err)
			}
			if c.memory == flash.SRAM {
				return
			}
			if o, err := flash.Write(t.Context(), job); err != nil || !o.Unchanged {
				t.Errorf("again: %+v, %v", o, err)
			}
		})
	}
}
