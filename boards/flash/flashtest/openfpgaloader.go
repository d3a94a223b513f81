package flashtest

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

const openFPGALoaderHelp = `Usage: openFPGALoader [OPTION...] BIT_FILE
  -b, --board arg           board name, may be used instead of cable
      --busdev-num arg      select a probe by it bus and device number
      --dump-flash          Dump flash mode
      --file-size arg       provides size in Byte to dump, must be used with
  -f, --write-flash         write bitstream in flash (default: false)
  -m, --write-sram          write bitstream in SRAM (default: true)
      --unprotect-flash     Unprotect flash blocks
      --verify              Verify write operation (SPI Flash only)
`

func openFPGALoader(b *board, args []string) int {
	say := func(format string, args ...any) { fmt.Printf(format, args...) }
	moan := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	switch strings.Join(args, " ") {
	case "--help":
		say(openFPGALoaderHelp)
		return 0
	case "-V":
		say("openFPGALoader v0.10.0\n")
		return 0
	}
	var o struct {
		dump, flash, sram, verify, unprotect bool
		size, bus, address                   int
		file                                 string
	}
	f := flag.NewFlagSet("openFPGALoader", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	board, device := f.String("board", "", ""), f.String("busdev-num", "", "")
	f.IntVar(&o.size, "file-size", 0, "")
	for name, given := range map[string]*bool{"dump-flash": &o.dump, "write-flash": &o.flash, "write-sram": &o.sram, "verify": &o.verify, "unprotect-flash": &o.unprotect} {
		f.BoolVar(given, name, false, "")
	}
	if err := f.Parse(args); err != nil || f.NArg() != 1 {
		moan("Error parsing options: %v\nError in parse arg step", err)
		return 1
	}
	o.file = f.Arg(0)
	if *board != "ice40_generic" {
		moan("Error: cannot find board '%s'", *board)
		return 1
	}
	_, err := fmt.Sscanf(*device, "%d:%d", &o.bus, &o.address)
	check(err)
	bar := func(name string, at, size int) {
		say("\r%s: [%-50s] %3.2f%%", name, strings.Repeat("=", 50*at/size), 100*float64(at)/float64(size))
	}
	wait := func() {
		say("Wait for CDONE ")
		if !o.dump && b.broken(Sleeps) || o.dump && b.broken(Dozes) {
			moan("FAIL")
		} else {
			say("DONE\n")
		}
	}
	identify := func() {
		if b.broken(Absent) {
			say("Detail: \nJedec ID          : ff\nmemory type       : ff\nmemory capacity   : ff\n")
			b.hang()
		}
		say("Detected: micron N25Q32 64 sectors size: 32Mb\n")
	}

	if o.flash {
		say("write to flash\n")
	} else if o.sram {
		say("write to ram\n")
	}
	if !b.open(o.bus, o.address) {
		moan("unable to open ftdi device: -3 (device not found)")
		moan("Error: Failed to claim cable")
		return 1
	}
	say("Jtag frequency : requested 6.00MHz   -> real 6.00MHz  \n")
	if o.dump {
		say("Read Flash ")
		identify()
		say("dump flash (May take time)\nOpen dump file DONE\n")
		if b.broken(HangsOff) {
			b.hang()
		}
		bar("Read flash ", o.size, o.size)
		say("\nDone\n")
		check(os.WriteFile(o.file, b.contents[:o.size], 0o600))
		wait()
		return 0
	}
	data, err := os.ReadFile(o.file)
	check(err)
	say("Parse file DONE\n")
	if o.sram {
		b.load(data)
		bar("Loading to CRAM", len(data), len(data))
		say("\nDone\n")
		wait()
		return 0
	}
	identify()
	say("00\n")
	identify()
	if o.unprotect {
		b.unprotect()
	}
	if b.writable() < len(data) {
		say("unlock blocks\n")
		moan("Error: block protection is set")
		moan("       can't unlock without --unprotect-flash")
	} else {
		for at := 0; at < len(data); at += sector {
			b.erase(at)
		}
		for at := 0; at < len(data); at += page {
			if at%sector == 0 {
				bar("Writing", at, len(data))
			}
			if at == trouble {
				switch {
				case b.broken(Hangs):
					b.hang()
				case b.broken(Unplugs):
					b.unplug()
					moan("mpsse_write: fail to write with error -4 (usb bulk write failed)")
					return 0
				case b.broken(Mute):
					return 0
				}
			}
			b.program(at, data[at:min(at+page, len(data))])
		}
		bar("Writing", len(data), len(data))
		say("\nDone\n")
	}
	if o.verify {
		say("Verifying write (May take time)\n")
		differs := -1
		for at := range data {
			if data[at] != b.contents[at] {
				differs = at
				break
			}
		}
		bar("Read flash ", len(data), len(data))
		if differs >= 0 {
			moan("\nFail")
			moan("Verification failed at %d", differs)
		} else {
			say("\nDone\n")
		}
	}
	wait()
	return 0
}
