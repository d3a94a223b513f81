package regs

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/stafflink/lmmc/internal/nearest"
)

// Read reads a block from a file. Its name's end says what it is: .toml; .xml for IP-XACT (IEEE 1685-2009 or 1685-2014), of which a file has to
// have one address block; .rdl for SystemRDL 2.0, which program peakrdl turns into IP-XACT, if it is installed.
func Read(path string) (*Block, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("regs: %w", err)
	}
	var b *Block
	switch filepath.Ext(path) {
	case ".toml":
		b, err = parseTOML(text)
	case ".xml":
		b, err = parseIPXACT(text)
	case ".rdl":
		b, err = readRDL(path)
	default:
		err = fmt.Errorf("want a file .toml, .xml (IP-XACT) or .rdl (SystemRDL)")
	}
	if err == nil {
		err = b.check()
	}
	if err != nil {
		return nil, fmt.Errorf("regs: %s: %w", path, err)
	}
	return b, nil
}

// Parse reads a block from text in TOML.
func Parse(text []byte) (*Block, error) {
	b, err := parseTOML(text)
	if err == nil {
		err = b.check()
	}
	if err != nil {
		return nil, fmt.Errorf("regs: %w", err)
	}
	return b, nil
}

func parseTOML(text []byte) (*Block, error) {
	b := new(Block)
	meta, err := toml.Decode(string(text), b)
	if err != nil {
		return nil, err
	}
	if stray := meta.Undecoded(); len(stray) > 0 {
		key := stray[0]
		of := reflect.TypeFor[Block]()
		if len(key) > 1 && key[0] == "register" {
			if of = reflect.TypeFor[Register](); len(key) > 2 && key[1] == "field" {
				of = reflect.TypeFor[Field]()
			}
		}
		var names []string
		for i := range of.NumField() {
			if name := of.Field(i).Tag.Get("toml"); name != "" {
				names = append(names, name)
			}
		}
		return nil, fmt.Errorf("%s has no %q%s; it has %s", strings.ToLower(of.Name()), key[len(key)-1], nearest.Hint(key[len(key)-1], names), strings.Join(names, ", "))
	}
	return b, nil
}
