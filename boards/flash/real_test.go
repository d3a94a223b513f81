package flash_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/boards/flash"
	"github.com/stafflink/lmmc/internal/check"
)

// TestRealTools lets the programs that are installed look for a board that only this test believes in: they take the
// command lines, and say that it is not there.
func TestRealTools(t *testing.T) {
	path := os.Getenv("PATH")
	for _, memory := range []flash.Memory{flash.Flash, flash.SRAM} {
		onEach(t, func(d *desk) {
			d.Setenv("PATH", path)
			if _, err := exec.LookPath(d.job.Board.Tool); err != nil {
				d.Skip("not installed: run scripts/deps test")
			}
			d.job.Memory = memory
			_, err := flash.Write(d.Context(), d.job)
			d.fails(err, flash.ErrBusy, map[string]string{
				"iceprog":        "Can't find iCE FTDI USB device (device string d:001/018)",
				"openFPGALoader": "unable to open ftdi device: -3 (device not found)",
			}[d.job.Board.Tool])
		})
	}
}

// TestRealTexts looks for the texts on which this package, and its stand-ins, rely in the programs that are installed.
func TestRealTexts(t *testing.T) {
	for tool, texts := range map[string][]string{
		"iceprog": {
			"cdone: %s\n", "high", "low", "flash ID:", " 0x%02X", "erase 64kB sector at 0x%06X..\n", "programming..\n", "reading..\n",
			"addr 0x%06X %3ld%%\r", "addr 0x%06X %3d%%\r", "VERIFY OK\n", "Found difference between flash and file!\n",
		},
		"openFPGALoader": {
			"Writing", "Loading to CRAM", "Read flash ", ": [", "] %3.2f%%", "\nDone", "Wait for CDONE ", "DONE", "Parse file ", "Read Flash ",
			"unable to open ftdi device: %d (%s)\n", "Jedec ID          : %02x\n", "memory type       : %02x\n", "memory capacity   : %02x\n",
			"Error: block protection is set", "Verification failed at ", "ice40_generic",
		},
	} {
		t.Run(tool, func(t *testing.T) {
			file, err := exec.LookPath(tool)
			if errors.Is(err, exec.ErrNotFound) {
				t.Skip("not installed: run scripts/deps test")
			}
			program := check.Must(os.ReadFile(file))(t)
			for _, text := range texts {
				if !strings.Contains(string(program), text) {
					t.Errorf("%s has no %q", file, text)
				}
			}
		})
	}
}
