package regs

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// readRDL has program peakrdl, of which the plug-in peakrdl-ipxact writes IP-XACT, convert a file.
func readRDL(path string) (*Block, error) {
	program, err := exec.LookPath("peakrdl")
	if err != nil {
		return nil, errors.New("SystemRDL needs program peakrdl, which is not installed: pip install peakrdl peakrdl-ipxact, or describe the registers in TOML")
	}
	dir, err := os.MkdirTemp("", "regs")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "block.xml")
	if out, err := exec.Command(program, "ip-xact", path, "-o", file).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("peakrdl: %w: %s", err, strings.TrimSpace(string(out)))
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseIPXACT(text)
}

// What is read of IP-XACT; names without their namespace, as the versions of the standard differ in it.
type (
	xmlComponent struct {
		Maps []xmlMap `xml:"memoryMaps>memoryMap"`
	}
	xmlMap struct {
		Blocks []xmlBlock `xml:"addressBlock"`
		Unit   string     `xml:"addressUnitBits"`
	}
	xmlBlock struct {
		Name      string        `xml:"name"`
		Doc       string        `xml:"description"`
		Width     string        `xml:"width"`
		Access    string        `xml:"access"`
		Volatile  bool          `xml:"volatile"`
		Registers []xmlRegister `xml:"register"`
		Files     []xmlRegister `xml:"registerFile"`
	}
	xmlRegister struct {
		Name     string     `xml:"name"`
		Doc      string     `xml:"description"`
		Dim      []string   `xml:"dim"`
		Address  string     `xml:"addressOffset"`
		Size     string     `xml:"size"`
		Access   string     `xml:"access"`
		Volatile bool       `xml:"volatile"`
		Reset    string     `xml:"reset>value"` // 1685-2009
		Fields   []xmlField `xml:"field"`
	}
	xmlField struct {
		Name     string     `xml:"name"`
		Doc      string     `xml:"description"`
		Offset   string     `xml:"bitOffset"`
		Width    string     `xml:"bitWidth"`
		Access   string     `xml:"access"`
		Written  string     `xml:"modifiedWriteValue"`
		Read     string     `xml:"readAction"`
		Volatile bool       `xml:"volatile"`
		Resets   []xmlReset `xml:"resets>reset"` // 1685-2014
		Values   []struct {
			Name  string `xml:"name"`
			Value string `xml:"value"`
		} `xml:"enumeratedValues>enumeratedValue"`
	}
	xmlReset struct {
		Type  string `xml:"resetTypeRef,attr"` // "" is HARD
		Value string `xml:"value"`
	}
)

func parseIPXACT(text []byte) (*Block, error) {
	var c xmlComponent
	if err := xml.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("IP-XACT: %w", err)
	}
	var blocks []xmlBlock
	var unit string
	for _, m := range c.Maps {
		if blocks = append(blocks, m.Blocks...); len(m.Blocks) > 0 {
			unit = m.Unit
		}
	}
	if len(blocks) != 1 {
		return nil, fmt.Errorf("IP-XACT: %d address blocks in memoryMaps: want one", len(blocks))
	}
	x := blocks[0]
	if len(x.Files) > 0 {
		return nil, fmt.Errorf("IP-XACT: registerFile %s: files of registers are not read: give the block as registers", x.Files[0].Name)
	}
	var n numbers
	bytes := uint64(1) // that an address counts
	if unit != "" {
		bits := n.parse("addressUnitBits", unit)
		if bytes = bits / 8; bytes == 0 || bits%8 != 0 {
			return nil, cmp.Or(n.err, fmt.Errorf("IP-XACT: addressUnitBits %d: want a multiple of 8", bits))
		}
	}
	b := &Block{Name: x.Name, Doc: oneLine(x.Doc), Width: int(n.parse("width", x.Width))}
	for _, xr := range x.Registers {
		r := &Register{Name: xr.Name, Doc: oneLine(xr.Doc), Address: n.parse("addressOffset of "+xr.Name, xr.Address) * bytes}
		xr.Access, xr.Volatile = cmp.Or(xr.Access, x.Access), xr.Volatile || x.Volatile
		if len(xr.Dim) > 1 {
			return nil, fmt.Errorf("IP-XACT: register %s: arrays of one dimension only", xr.Name)
		}
		size := cmp.Or(n.parse("size of "+xr.Name, xr.Size), uint64(b.Width))
		if size > uint64(b.Width) {
			return nil, fmt.Errorf("IP-XACT: register %s has %d bits, the block %d", xr.Name, size, b.Width)
		}
		if len(xr.Dim) == 1 {
			r.Count = int(n.parse("dim of "+xr.Name, xr.Dim[0]))
			r.Step = (size + 8*bytes - 1) / (8 * bytes) * bytes // one behind the other
		}
		reset := n.parse("reset of "+xr.Name, xr.Reset)
		for _, xf := range xr.Fields {
			low, width := n.parse("bitOffset of "+xf.Name, xf.Offset), n.parse("bitWidth of "+xf.Name, xf.Width)
			access, err := accessOf(cmp.Or(xf.Access, xr.Access), xf.Written, xf.Read)
			if err != nil {
				return nil, fmt.Errorf("IP-XACT: register %s: field %s: %w", xr.Name, xf.Name, err)
			}
			if width == 0 || width > 64 || low > 63 {
				return nil, fmt.Errorf("IP-XACT: register %s: field %s: %d bits from %d", xr.Name, xf.Name, width, low)
			}
			f := &Field{Name: xf.Name, Doc: oneLine(xf.Doc), Bits: fmt.Sprintf("%d:%d", low+width-1, low), Access: access,
				Volatile: xf.Volatile || xr.Volatile, Reset: reset >> low & (^uint64(0) >> (64 - width))}
			if len(xf.Resets) > 0 {
				hard := max(0, slices.IndexFunc(xf.Resets, func(r xmlReset) bool { return r.Type == "" || r.Type == "HARD" }))
				f.Reset = n.parse("reset of "+xf.Name, xf.Resets[hard].Value)
			}
			for _, v := range xf.Values {
				if f.Values == nil {
					f.Values = map[string]uint64{}
				}
				f.Values[v.Name] = n.parse("value "+v.Name, v.Value)
			}
			r.Fields = append(r.Fields, f)
		}
		if len(r.Fields) == 0 {
			access, err := accessOf(xr.Access, "", "")
			if err != nil {
				return nil, fmt.Errorf("IP-XACT: register %s: %w", xr.Name, err)
			}
			r.Fields = []*Field{{Name: xr.Name, Bits: fmt.Sprintf("%d:0", size-1), Access: access, Reset: reset, Volatile: xr.Volatile}}
		}
		b.Registers = append(b.Registers, r)
	}
	return b, n.err
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// accessOf gives the short name of what IP-XACT says in three elements.
func accessOf(access, written, read string) (Access, error) {
	short := map[[3]string]Access{
		{"read-write"}: "rw", {"read-only"}: "ro", {"write-only"}: "wo", {""}: "rw",
		{"read-only", "", "clear"}: "rc", {"read-only", "", "set"}: "rs",
		{"read-write", "", "clear"}: "wrc", {"read-write", "", "set"}: "wrs",
		{"read-write", "oneToClear"}: "w1c", {"read-write", "oneToSet"}: "w1s", {"read-write", "oneToToggle"}: "w1t",
		{"read-write", "zeroToClear"}: "w0c", {"read-write", "zeroToSet"}: "w0s", {"read-write", "clear"}: "wc", {"read-write", "set"}: "ws",
	}
	if a, ok := short[[3]string{access, written, read}]; ok {
		return a, nil
	}
	return "", fmt.Errorf("access %q with modifiedWriteValue %q and readAction %q is not modelled", access, written, read)
}

// numbers parses numbers of IP-XACT and keeps the first error.
type numbers struct{ err error }

func (n *numbers) parse(what, s string) uint64 {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0
	}
	text := strings.ToLower(strings.ReplaceAll(s, "_", ""))
	base := 0
	if _, digits, ok := strings.Cut(text, "'"); ok && len(digits) > 1 { // SystemVerilog: 32'hff
		base, text = map[byte]int{'h': 16, 'd': 10, 'b': 2, 'o': 8}[digits[0]], digits[1:]
		if base == 0 {
			base, text = 10, "?"
		}
	}
	v, err := strconv.ParseUint(text, base, 64)
	if err != nil && n.err == nil {
		n.err = fmt.Errorf("IP-XACT: %s: %q is no number (expressions are not evaluated)", what, s)
	}
	return v
}
