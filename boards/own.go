package boards

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/boards/bitstream"
)

// LoadProject reads the boards of a project of one's own, boards/*/board.toml below its folder, of those that have a design.
func LoadProject(project fs.FS) ([]*Board, error) {
	found, err := fs.Glob(project, "boards/*/board.toml")
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(name string) bool {
		text, err := fs.ReadFile(project, name)
		return err == nil && !strings.Contains("\n"+string(text), "\n[design]")
	})
	return loadEach(project, found)
}

// AllWith is All, with the boards of a project in place of those of the same names.
func AllWith(project fs.FS) ([]*Board, error) {
	own, err := LoadProject(project)
	if err != nil {
		return nil, err
	}
	builtIn, err := All()
	for _, b := range builtIn {
		if !slices.ContainsFunc(own, func(o *Board) bool { return o.Name == b.Name }) {
			own = append(own, b)
		}
	}
	slices.SortFunc(own, func(a, b *Board) int { return strings.Compare(a.Name, b.Name) })
	return own, err
}

// readDesign reads the sources of a project's own design.
func (b *Board) readDesign(project fs.FS, folder string) error {
	if err := b.read(project, "", folder+"/*.v"); err != nil {
		return err
	}
	for _, pattern := range b.Design.Verilog {
		before := len(b.verilog)
		if err := b.read(project, "", pattern); err != nil {
			return fmt.Errorf("design.verilog: %q: %w", pattern, err)
		}
		if len(b.verilog) == before {
			return fmt.Errorf("design.verilog: %q names no file of the project", pattern)
		}
	}
	if b.Design.Include != "" {
		if err := b.read(project, "", b.Design.Include+"/*.vh"); err != nil {
			return fmt.Errorf("design.include: %w", err)
		}
	}
	maps.DeleteFunc(b.verilog, func(name string, _ []byte) bool { return strings.HasSuffix(name, ".formal.v") })
	return nil
}

func (c *Config) checkOwn() error {
	if c.Links+c.Frames+c.Page+c.Replay+c.Rx+c.Oversample > 0 || c.Loop || c.Routes {
		return errors.New("it has settings of the network interface: a design of a project has about, mhz, baud and small")
	}
	if err := c.checkBaud(); err != nil {
		return err
	}
	_, err := c.Board.pll(c.MHz)
	return err
}

func (c *Config) ownParameters(pll map[string]int) map[string]string {
	values := map[string]string{"HOST_DIVISOR": strconv.Itoa(c.Divisor())}
	for name, v := range pll {
		values[name] = strconv.Itoa(v)
	}
	return values
}

// The name among Info.Params, beside bitstream.Pins, of what a bitstream of a project's own design says besides mhz and baud: all that is needed to simulate its bits.
const infoPackage = "package"

func (c *Config) ownInfo() bitstream.Info {
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(c.Board.verilog)) {
		fmt.Fprintf(hash, "%s %d\n%s", name, len(c.Board.verilog[name]), c.Board.verilog[name])
	}
	wiring := c.Wiring()
	var pins []string
	for _, port := range slices.Sorted(maps.Keys(wiring)) {
		pins = append(pins, port+":"+wiring[port])
	}
	return bitstream.Info{Board: c.Board.Name, Config: c.Name, Device: c.Board.FPGA.Device, Hash: binary.BigEndian.Uint64(hash.Sum(nil)), Params: map[string]string{
		"mhz": strconv.FormatFloat(c.MHz, 'g', -1, 64), "baud": strconv.Itoa(c.Baud), infoPackage: c.Board.FPGA.Package, bitstream.Pins: strings.Join(pins, " "),
	}}
}

// FromInfo is the configuration of a project's design that a bitstream says it was built for. Its sources are not known.
func FromInfo(info *bitstream.Info) (*Config, error) {
	c := &Config{Name: info.Config, Board: &Board{Name: info.Board, Design: &Design{}, Pins: map[string]Balls{},
		FPGA: FPGA{Family: "ice40", Device: info.Device, Package: info.Params[infoPackage]}}}
	var errMHz, errBaud error
	c.MHz, errMHz = strconv.ParseFloat(info.Params["mhz"], 64)
	c.Baud, errBaud = strconv.Atoi(info.Params["baud"])
	if errMHz != nil || errBaud != nil || c.Board.FPGA.Package == "" || chips["ice40/"+info.Device].bits == 0 {
		return nil, fmt.Errorf("boards: the bitstream says mhz=%q, baud=%q, package=%q, device=%q: not made by lmmc build", info.Params["mhz"], info.Params["baud"],
			info.Params[infoPackage], info.Device)
	}
	for word := range strings.FieldsSeq(info.Params[bitstream.Pins]) {
		port, ball, found := strings.Cut(word, ":")
		name, bit, indexed := strings.Cut(strings.TrimSuffix(port, "]"), "[")
		at, err := 0, error(nil)
		if indexed {
			at, err = strconv.Atoi(bit)
		}
		if !found || err != nil || at < 0 || at > 1023 {
			return nil, fmt.Errorf("boards: the bitstream has pin %q: want port:ball", word)
		}
		for len(c.Board.Pins[name]) <= at {
			c.Board.Pins[name] = append(c.Board.Pins[name], "")
		}
		c.Board.Pins[name][at] = ball
	}
	if err := c.Board.checkPins(); err != nil {
		return nil, fmt.Errorf("boards: the bitstream: %w", err)
	}
	return c, c.checkBaud()
}
