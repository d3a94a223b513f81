// Package boards lists the development boards that the network interface (NI) can be built for.
//
// A board is a folder: board.toml says what it is, which pins it has and which configurations of the NI it can hold, top.v is the
// wrapper around the NI, README.md shows how it is wired. README.md of this folder says how to add one.
package boards

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/stafflink/lmmc/internal/nearest"
)

// Errors of this package wrap one of these.
var (
	ErrUnknown = errors.New("no such board or configuration")
	ErrBoard   = errors.New("board.toml cannot be built")
)

//go:embed */board.toml */*.v
var embedded embed.FS

// Board is a development board.
type Board struct {
	Name       string `toml:"-"` // of its folder
	Title      string
	Programmer string // one of Programmers
	Default    string // name of the configuration that is meant when none is named
	FPGA       FPGA
	USB        USB
	Clock      Clock
	Pins       map[string]Balls // by the port of top.v
	Config     map[string]*Config
	Design     *Design // what is built for it; nil for the network interface

	verilog map[string][]byte // top.v and whatever it needs besides, by path
}

// Design is one of a project's own, in place of the network interface. Its top.v has the ports clk, host_rx and host_tx, a UART of symbols as
// module phy_uart has it, and any others.
type Design struct {
	Verilog []string // files beside top.v, as patterns below the project's folder; proofs (*.formal.v) are left out
	Include string   // folder of included files, below the project's folder
	Check   string   // command, in the project's folder, that checks the board which the variable LMMC_TARGET names
}

// FPGA is the chip, by nextpnr's names.
type FPGA struct {
	Family  string // "ice40" or "ecp5"
	Device  string // "hx8k"
	Package string // "ct256"
}

// USB is the board's identity on the bus.
type USB struct {
	Vendor, Product uint16
	// Name is part of what the device calls itself; "" where the maker left the bridge chip's own name there.
	Name string
}

// Clock is the board's oscillator.
type Clock struct {
	MHz float64
}

// Balls are the pins of the package that a port is wired to, by its bits.
type Balls []string

// UnmarshalTOML takes a name or a list of names.
func (b *Balls) UnmarshalTOML(v any) error {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	*b = nil
	for _, item := range list {
		name, ok := item.(string)
		if !ok || name == "" {
			return fmt.Errorf("a pin is %v: want the name of a ball, such as \"B5\", or a list of names", item)
		}
		*b = append(*b, name)
	}
	return nil
}

// All returns the boards that the program has, by name.
func All() ([]*Board, error) { return all() }

var all = sync.OnceValues(func() ([]*Board, error) { return LoadAll(embedded) })

// LoadAll reads the boards in a tree laid out like this folder. What folder common holds is part of each.
func LoadAll(tree fs.FS) ([]*Board, error) {
	found, err := fs.Glob(tree, "*/board.toml")
	if err != nil {
		return nil, err
	}
	return loadEach(tree, found)
}

func loadEach(tree fs.FS, files []string) (boards []*Board, err error) {
	for _, name := range files {
		b, err := load(tree, path.Dir(name))
		if err != nil {
			return nil, err
		}
		boards = append(boards, b)
	}
	return boards, nil
}

func load(tree fs.FS, folder string) (*Board, error) {
	text, err := fs.ReadFile(tree, path.Join(folder, "board.toml"))
	if err != nil {
		return nil, fmt.Errorf("boards: %w", err)
	}
	b := &Board{Name: path.Base(folder), verilog: map[string][]byte{}}
	fail := func(err error) (*Board, error) { return nil, fmt.Errorf("boards: %s/%w: %w", folder, ErrBoard, err) }
	meta, err := toml.Decode(string(text), b)
	if err != nil {
		return fail(err)
	}
	if extra := meta.Undecoded(); len(extra) > 0 {
		return fail(fmt.Errorf("unknown key %s", extra[0]))
	}
	if b.Design != nil {
		if err := b.readDesign(tree, folder); err != nil {
			return fail(err)
		}
	} else if err := b.read(tree, "boards/", folder+"/*.v", "common/*.v"); err != nil {
		return nil, fmt.Errorf("boards: %w", err)
	}
	for name, c := range b.Config {
		c.Name, c.Board = name, b
	}
	if err := b.check(); err != nil {
		return fail(err)
	}
	return b, nil
}

// read adds the files of some patterns in a tree to the sources, with prefix before their names.
func (b *Board) read(tree fs.FS, prefix string, patterns ...string) error {
	for _, pattern := range patterns {
		files, err := fs.Glob(tree, pattern)
		if err != nil {
			return err
		}
		for _, name := range files {
			if b.verilog[prefix+name], err = fs.ReadFile(tree, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// Configs returns the configurations, the default one first.
func (b *Board) Configs() []*Config {
	configs := []*Config{b.Config[b.Default]}
	for _, name := range slices.Sorted(maps.Keys(b.Config)) {
		if name != b.Default {
			configs = append(configs, b.Config[name])
		}
	}
	return configs
}

// Named is Find among all boards.
func Named(name string) (*Config, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	return Find(all, name)
}

// Find returns the configuration that BOARD or BOARD/CONFIG names among boards. Errors wrap ErrUnknown.
func Find(boards []*Board, name string) (*Config, error) {
	board, config, named := strings.Cut(name, "/")
	i := slices.IndexFunc(boards, func(b *Board) bool { return b.Name == board })
	if i < 0 {
		var names []string
		for _, b := range boards {
			names = append(names, b.Name)
		}
		return nil, fmt.Errorf("%w: %q%s; there are %s", ErrUnknown, board, nearest.Hint(board, names), strings.Join(names, ", "))
	}
	b := boards[i]
	if !named {
		config = b.Default
	}
	c := b.Config[config]
	if c == nil {
		names := slices.Sorted(maps.Keys(b.Config))
		return nil, fmt.Errorf("%w: %q of %s%s; it has %s", ErrUnknown, config, board, nearest.Hint(config, names), strings.Join(names, ", "))
	}
	return c, nil
}
