package flashtest

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
)

const iceprogHelp = `Simple programming tool for FTDI-based Lattice iCE programmers.
  -d <device string>    use the specified USB device [default: i:0x0403:0x6010 or i:0x0403:0x6014]
                          d:<devicenode>               (e.g. d:002/005)
  -R <size in bytes>    read the specified number of bytes from flash
  -S                    perform SRAM programming
  -p                    disable write protection before erasing or writing
`

func iceprog(b *board, args []string) int {
	say := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format, args...) }
	if len(args) == 1 && args[0] == "--help" {
		say(iceprogHelp)
		return 0
	}
	f := flag.NewFlagSet("iceprog", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	device := f.String("d", "", "")
	size := f.Int("R", 0, "")
	sram := f.Bool("S", false, "")
	unprotect := f.Bool("p", false, "")
	if f.Parse(args) != nil || f.NArg() != 1 {
		say("Try `iceprog --help' for more information.\n")
		return 1
	}
	abort := func(code int) int { say("ABORT.\n"); return code }
	cdone := func() {
		level := "high"
		if *size == 0 && b.broken(Sleeps) || *size > 0 && b.broken(Dozes) {
			level = "low"
		}
		say("cdone: %s\n", level)
	}

	say("init..\n")
	var bus, address int
	if n, _ := fmt.Sscanf(*device, "d:%03d/%03d", &bus, &address); n != 2 || !b.open(bus, address) {
		say("Can't find iCE FTDI USB device (device string %s).\n", *device)
		return abort(2)
	}
	say("cdone: high\nreset..\ncdone: low\n")
	if *sram {
		data, err := os.ReadFile(f.Arg(0))
		check(err)
		b.load(data)
		say("programming..\n")
		cdone()
		say("Bye.\n")
		return 0
	}
	if b.broken(Absent) {
		say("Extended Device String Length is 0xFF, this is likely a read error. Ignoring...\nflash ID: 0xFF 0xFF 0xFF 0xFF\n")
		b.hang()
	}
	say("flash ID: 0x20 0xBA 0x16 0x10 0x00 0x00 0x23 0x81\n")
	addr := func(at, size int) { say("                      \raddr 0x%06X %3d%%\r", at, 100*at/size) }

	if *size > 0 {
		say("reading..\n")
		for at := 0; at < *size; at += page {
			addr(at, *size)
			if at == trouble && b.broken(HangsOff) {
				b.hang()
			}
		}
		check(os.WriteFile(f.Arg(0), b.contents[:*size], 0o600))
		say("                      \rdone.\n")
		cdone()
		say("Bye.\n")
		return 0
	}
	data, err := os.ReadFile(f.Arg(0))
	check(err)
	if *unprotect {
		say("disable flash protection...\n")
		b.unprotect()
	}
	say("file size: %d\n", len(data))
	for at := 0; at < len(data); at += sector {
		say("erase 64kB sector at 0x%06X..\n", at)
		b.erase(at)
	}
	say("programming..\n")
	for at := 0; at < len(data); at += page {
		addr(at, len(data))
		if at == trouble {
			switch {
			case b.broken(Hangs):
				b.hang()
			case b.broken(Unplugs):
				b.unplug()
				say("Write error (chunk, rc=-19, expected 4).\n")
				return abort(2)
			case b.broken(Mute):
				return 0
			}
		}
		b.program(at, data[at:min(at+page, len(data))])
	}
	say("                      \rdone.\nreading..\n")
	for at := 0; at < len(data); at += page {
		addr(at, len(data))
		end := min(at+page, len(data))
		if !bytes.Equal(data[at:end], b.contents[at:end]) {
			say("Found difference between flash and file!\n")
			return abort(3)
		}
	}
	say("                      \rVERIFY OK\n")
	cdone()
	say("Bye.\n")
	return 0
}
