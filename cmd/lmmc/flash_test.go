package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/boards/flash"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/serialtest"
)

// TestStageBar shows a stage on a terminal, and nothing in a pipe.
func TestStageBar(t *testing.T) {
	master, name := serialtest.Pty(t)
	terminal := check.Must(os.OpenFile(name, os.O_RDWR, 0))(t)
	defer terminal.Close()
	bar := startBar(cli.NewContext(&cli.App{ErrWriter: terminal}, nil, nil))
	bar.set(flash.Progress{Stage: flash.Writing, Done: 32 << 10, Total: 128 << 10})
	var shown strings.Builder
	for b := make([]byte, 256); !strings.Contains(shown.String(), "writing") || !strings.Contains(shown.String(), "25.00%"); {
		n, err := master.Read(b)
		if err != nil {
			t.Fatalf("%v after %q", err, shown.String())
		}
		shown.Write(b[:n])
	}
	bar.finish()

	var pipe bytes.Buffer
	bar = startBar(cli.NewContext(&cli.App{ErrWriter: &pipe}, nil, nil))
	bar.set(flash.Progress{Stage: flash.Writing, Done: 1, Total: 2})
	if bar.finish(); pipe.Len() > 0 {
		t.Errorf("in a pipe: %q", pipe.String())
	}
}
