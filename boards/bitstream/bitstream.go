// Package bitstream reads the files that configure iCE40 FPGAs, as icepack writes them: which device such a file is
// for, whether it is whole, and what `lmmc build` wrote into its comment about what it holds. It needs neither a
// board nor any tool.
//
// Source of the format: Project IceStorm, "Bitstream File Format Documentation" (docs/source/format.rst), and what
// icepack of the same project writes and takes.
package bitstream

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// What may be wrong with a file. The errors of Read wrap one of them and say where.
var (
	ErrForeign   = errors.New("not a bitstream for an iCE40")
	ErrTruncated = errors.New("the bitstream is cut off")
	ErrCRC       = errors.New("the bitstream is damaged: its CRC is wrong")
	ErrDamaged   = errors.New("the bitstream is damaged")
	ErrInfo      = errors.New("not a comment of lmmc build")
)

// File is what Read found. Banks are not kept: a File says what the data is, and the data stays with the caller.
type File struct {
	Comment []string // its lines
	Info    *Info    // nil when no line of the comment is one of lmmc
	Device  Device   // as the sizes of the banks tell
	Size    int      // bytes up to the end of the last command, without what pads the data behind it
	CRC     uint16   // as the file has it
	// Memories says that the block RAMs get contents. Without, they start as the device leaves them.
	Memories bool
	// Awake says that the device leaves the flash awake which it reads itself from (icepack -s). Otherwise it ends with power-down.
	Awake bool
}

var preamble = []byte{0x7e, 0xaa, 0x99, 0x7e}

// Commands are a byte of opcode (upper four bits) and length of its operand (lower four), and the operand, most
// significant byte first.
const (
	opControl  = 0x0
	opBank     = 0x1
	opCRC      = 0x2
	opAddress  = 0x4
	opRange    = 0x5
	opWidth    = 0x6
	opHeight   = 0x7
	opOffset   = 0x8
	opBootMode = 0x9

	controlCRAM     = 1
	controlBRAM     = 3
	controlResetCRC = 5
	controlWakeup   = 6
	controlReboot   = 8

	noSleep = 1
	modes   = 0x31 // bits of opBootMode: no sleep, cold boot, warm boot
)

// Read examines a bitstream. It ignores what follows the last command, such as the erased rest of a flash.
func Read(data []byte) (*File, error) {
	start := bytes.Index(data, preamble)
	if start < 0 {
		return nil, noPreamble(data)
	}
	f := &File{}
	var err error
	if f.Comment, err = comment(data[:start]); err != nil {
		return nil, err
	}
	p := parser{data: data, at: start + len(preamble), crcFrom: -1, bank: -1}
	err = try.Run(func() {
		for !p.awake {
			p.command(f)
		}
	})
	if err != nil {
		return nil, err
	}
	f.Size = p.at
	if !p.checked {
		return nil, fmt.Errorf("%w: the device is woken at byte %d with no CRC checked before", ErrDamaged, p.at)
	}
	if f.Device, f.Memories, err = device(p.rows); err != nil {
		return nil, err
	}
	if f.Info, err = findInfo(f.Comment); err != nil {
		return nil, err
	}
	if f.Info != nil && f.Info.Device != "" && dies[f.Info.Device] != f.Device {
		return nil, fmt.Errorf("%w: it says device=%s, and the banks are those of a %s", ErrInfo, f.Info.Device, f.Device)
	}
	return f, nil
}

// noPreamble returns the error for a file without a preamble.
func noPreamble(data []byte) error {
	switch {
	case len(data) == 0:
		return fmt.Errorf("%w: it is empty", ErrTruncated)
	case bytes.Count(data, []byte{0xff}) == len(data):
		return fmt.Errorf("%w: it is all ones, as erased flash is", ErrForeign)
	case bytes.HasPrefix(data, []byte(".comment")), bytes.HasPrefix(data, []byte(".device")):
		return fmt.Errorf("%w but its text form: convert it with icepack", ErrForeign)
	}
	for _, other := range []struct{ mark, name string }{
		{"\xff\xff\xbd\xb3", "an ECP5's"},       // Lattice FPGA-TN-02039, "ECP5 and ECP5-5G sysCONFIG": the preamble
		{"\xaa\x99\x55\x66", "a Xilinx FPGA's"}, // Xilinx UG470, "7 Series FPGAs Configuration": the sync word
		{"\x7fELF", "a program for Linux"},
	} {
		if at := bytes.Index(data, []byte(other.mark)); at >= 0 && at < 4096 {
			return fmt.Errorf("%w: it looks like %s", ErrForeign, other.name)
		}
	}
	if bytes.HasPrefix(data, []byte{0xff, 0x00}) {
		return fmt.Errorf("%w: it ends at byte %d, in the comment before the preamble", ErrTruncated, len(data))
	}
	return fmt.Errorf("%w: nowhere in its %d bytes is the preamble %x", ErrForeign, len(data), preamble)
}

// comment returns the lines before the preamble, each of which ends with a zero byte, between FF 00 and 00 FF.
func comment(head []byte) ([]string, error) {
	text := head
	for len(text) > 0 && (text[0] == 0 || text[0] == 0xff) {
		text = text[1:]
	}
	for len(text) > 0 && (text[len(text)-1] == 0 || text[len(text)-1] == 0xff) { // tools disagree about where 00 FF goes
		text = text[:len(text)-1]
	}
	if len(text) == 0 {
		return nil, nil
	}
	if !bytes.HasPrefix(head, []byte{0xff, 0x00}) {
		return nil, fmt.Errorf("%w: it begins with %x, not with the ff00 of a comment or the preamble", ErrForeign, head[:min(len(head), 4)])
	}
	return strings.Split(string(text), "\x00"), nil
}

// parser goes through the commands of a bitstream. Its methods end try.Run with what is wrong.
type parser struct {
	data                        []byte
	at                          int
	crcFrom                     int // where the CRC begins, -1 for nowhere
	bank, width, height, offset int
	rows                        [2][4]extent // of CRAM and BRAM, by bank
	checked, awake              bool
}

// extent is what was written of a bank.
type extent struct{ width, rows int }

// take returns the next bytes; what names them in an error.
func (p *parser) take(n int, what string) []byte {
	if left := len(p.data) - p.at; n > left {
		try.Failf("%w: it ends at byte %d, in %s, %d bytes too early", ErrTruncated, len(p.data), what, n-left)
	}
	p.at += n
	return p.data[p.at-n : p.at]
}

func (p *parser) command(f *File) {
	at := p.at
	head := p.take(1, "the commands: the next command")[0]
	op, length := head>>4, int(head&15)
	if length == 0 || length > 4 {
		try.Failf("%w: unknown command %02x at byte %d", ErrDamaged, head, at)
	}
	operand := p.take(length, fmt.Sprintf("the command %02x", head))
	v := uint32(0)
	for _, b := range operand {
		v = v<<8 | uint32(b)
	}
	// known ends with an error unless the command is one that there is.
	known := func(is bool) {
		if !is {
			try.Failf("%w: unknown command %02x %x at byte %d", ErrDamaged, head, operand, at)
		}
	}
	switch op {
	case opControl:
		switch v {
		case controlCRAM, controlBRAM:
			p.block(v == controlBRAM)
		case controlResetCRC:
			p.crcFrom = p.at
		case controlWakeup:
			p.awake = true
		case controlReboot:
			try.Failf("%w alone: another image follows at byte %d, as in files of icemulti; give a single image", ErrForeign, at)
		default:
			known(false)
		}
	case opBank:
		known(v < uint32(len(p.rows[0])))
		p.bank = int(v)
	case opCRC:
		known(length == 2)
		if p.crcFrom < 0 {
			try.Failf("%w: the CRC at byte %d covers nothing: its start was never set", ErrDamaged, at)
		}
		if want := linkproto.CRC16(p.data[p.crcFrom : at+1]); uint32(want) != v {
			try.Failf("%w: found %04x at byte %d, want %04x from bytes %d to %d", ErrCRC, v, at+1, want, p.crcFrom, at)
		}
		f.CRC, p.checked = uint16(v), true
	case opAddress:
	case opRange:
		known(v <= 2)
	case opWidth:
		known(v <= 0xffff)
		p.width = int(v) + 1
	case opHeight:
		known(v <= 0xffff)
		p.height = int(v)
	case opOffset:
		known(v <= 0xffff)
		p.offset = int(v)
	case opBootMode:
		known(v&^modes == 0)
		f.Awake = v&noSleep != 0
	default:
		known(false)
	}
}

// block takes the data of a bank after its command: rows, and two zero bytes.
func (p *parser) block(memory bool) {
	kind, rows := "CRAM", &p.rows[0]
	if memory {
		kind, rows = "BRAM", &p.rows[1]
	}
	at := p.at
	if p.bank < 0 || p.width == 0 || p.height == 0 {
		try.Failf("%w: no bank, width or height is set for the %s data at byte %d", ErrDamaged, kind, at)
	}
	bank := &rows[p.bank]
	if p.offset != bank.rows || bank.rows > 0 && bank.width != p.width {
		try.Failf("%w: %s bank %d goes on with row %d of %d bits at byte %d, after %d rows of %d bits",
			ErrDamaged, kind, p.bank, p.offset, p.width, at, bank.rows, bank.width)
	}
	*bank = extent{p.width, p.offset + p.height}
	what := fmt.Sprintf("the data of %s bank %d", kind, p.bank)
	p.take(p.width*p.height/8, what)
	if end := p.take(2, what); end[0]|end[1] != 0 {
		try.Failf("%w: %x at byte %d, after %s, should be 0000", ErrDamaged, end, p.at-2, what)
	}
}
