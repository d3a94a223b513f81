package spi

import "github.com/stafflink/lmmc/testbench/bus/memory"

// Commands of a Flash, as JESD216 and the data sheets of W25Q devices have them.
const (
	ReadID, WakeUp, Sleep                 = 0x9F, 0xAB, 0xB9
	WriteEnable, WriteDisable, ReadStatus = 0x06, 0x04, 0x05
	ReadData, FastRead, DualOut, QuadOut  = 0x03, 0x0B, 0x3B, 0x6B
	DualIO, QuadIO                        = 0xBB, 0xEB
	PageProgram                           = 0x02
	EraseSector, EraseBlock, EraseChip    = 0x20, 0xD8, 0xC7
)

// Flash is a NOR flash with three bytes of address on a memory whose background should be 0xFF. Programming clears bits only, within a page of 256
// bytes, and it and erasure need WriteEnable before. A program or an erasure is over at once.
type Flash struct {
	// Memory is what it holds.
	Memory *memory.Memory
	// ID is what ReadID reads: maker, kind, size.
	ID [3]byte
	// Asleep says that it takes no command but WakeUp.
	Asleep bool
	// Unknown is called with a command that it does not know, or not now; it may be nil.
	Unknown func(command byte)

	command    byte
	read       *readKind
	step       int
	address    uint64
	enabled    bool
	continuous bool // the next selection begins with the address of the same command
	page       map[uint64]byte
}

// readKind says how a command for reading goes on.
type readKind struct {
	address, data int  // lanes
	mode          bool // a byte that may keep the command for the next selection follows the address
	dummy         int
}

var reads = map[byte]readKind{
	ReadData: {1, 1, false, 0}, FastRead: {1, 1, false, 8}, DualOut: {1, 2, false, 8}, QuadOut: {1, 4, false, 8},
	DualIO: {2, 2, true, 0}, QuadIO: {4, 4, true, 4},
}

// Select implements Device.
func (f *Flash) Select() Phase {
	f.step, f.address, f.page = 0, 0, nil
	if f.continuous {
		f.step = 1
		return Phase{Lanes: f.read.address}
	}
	f.read = nil
	return Phase{}
}

// Next implements Device.
func (f *Flash) Next(in uint64) Phase {
	f.step++
	if f.step == 1 {
		return f.begin(byte(in))
	}
	switch {
	case f.command == ReadID:
		return Phase{Data: uint64(f.ID[(f.step-1)%3])}
	case f.command == WakeUp:
		return Phase{Data: uint64(f.ID[2])}
	case f.command == ReadStatus:
		return Phase{Data: f.status()}
	case f.step <= 4 && (f.read != nil || f.takesAddress()):
		f.address = f.address<<8 | in
		if f.step < 4 {
			return Phase{Lanes: f.addressLanes()}
		}
		return f.afterAddress()
	case f.read != nil && f.read.mode && f.step == 5:
		f.continuous = in>>4&3 == 2
		if f.read.dummy > 0 {
			return Phase{Dummy: f.read.dummy}
		}
		return f.data()
	case f.read != nil:
		return f.data()
	case f.command == PageProgram && f.page != nil:
		f.page[f.address] = byte(in)
		f.address = f.address&^0xFF | (f.address+1)&0xFF
	}
	return Phase{}
}

func (f *Flash) begin(command byte) Phase {
	f.command = command
	if f.Asleep && command != WakeUp {
		f.unknown()
		f.command = 0
		return Phase{}
	}
	if kind, ok := reads[command]; ok {
		f.read = &kind
		return Phase{Lanes: kind.address}
	}
	switch command {
	case ReadID:
		return Phase{Data: uint64(f.ID[0])}
	case ReadStatus:
		return Phase{Data: f.status()}
	case WriteEnable, WriteDisable:
		f.enabled = command == WriteEnable
	case Sleep, WakeUp, 0xFF: // the last ends continuous reading
	case PageProgram, EraseSector, EraseBlock, EraseChip:
		if !f.enabled {
			f.unknown()
			f.command = 0
		}
	default:
		f.unknown()
		f.command = 0
	}
	return Phase{}
}

func (f *Flash) unknown() {
	if f.Unknown != nil {
		f.Unknown(f.command)
	}
}

func (f *Flash) status() uint64 {
	if f.enabled {
		return 2
	}
	return 0
}

func (f *Flash) takesAddress() bool {
	return f.command == PageProgram || f.command == EraseSector || f.command == EraseBlock
}

func (f *Flash) addressLanes() int {
	if f.read != nil {
		return f.read.address
	}
	return 1
}

func (f *Flash) afterAddress() Phase {
	switch {
	case f.read == nil:
		f.page = map[uint64]byte{}
		return Phase{}
	case f.read.mode:
		return Phase{Lanes: f.read.address}
	case f.read.dummy > 0:
		return Phase{Dummy: f.read.dummy}
	}
	return f.data()
}

// data is the next byte that is read.
func (f *Flash) data() Phase {
	v, _ := f.Memory.Uint(f.address, 1) // what lies beyond its end reads as 0
	f.address = (f.address + 1) & 0xFFFFFF
	return Phase{Lanes: f.read.data, Out: true, Data: v}
}

// Deselect implements Device: it carries out what changes the memory.
func (f *Flash) Deselect() {
	var err error
	erased := map[byte]uint64{EraseSector: 1 << 12, EraseBlock: 1 << 16}[f.command]
	switch {
	case f.step == 0:
	case f.command == Sleep, f.command == WakeUp:
		f.Asleep = f.command == Sleep
	case f.command == PageProgram && f.page != nil:
		for address, v := range f.page {
			old, _ := f.Memory.Uint(address, 1)
			err = f.Memory.PutUint(address, 1, old&uint64(v))
		}
		f.enabled = false
	case erased > 0 && f.page != nil:
		err = f.Memory.Fill(f.address&^(erased-1), int(erased), 0xFF)
		f.enabled = false
	case f.command == EraseChip:
		for _, used := range f.Memory.Used() {
			err = f.Memory.Fill(used.Address, int(used.Bytes), 0xFF)
		}
		f.enabled = false
	}
	if err != nil && f.Unknown != nil {
		f.Unknown(f.command)
	}
	if !f.continuous {
		f.command = 0
	}
}
