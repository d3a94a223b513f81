package bitstream

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Info says what a bitstream was built from. `lmmc build` writes it into the comment of the .asc file, which icepack
// carries into the bitstream, as a line:
//
//	lmmc board=hx8k config=one-link device=hx8k hash=0123456789abcdef frames=4 links=1
type Info struct {
	Board  string `json:"board"`
	Config string `json:"config,omitempty"`
	Device string `json:"device,omitempty"` // as nextpnr-ice40 names it: "hx8k"; "" for unknown
	// Hash is of the RTL, as the network interface's HASH registers show it.
	Hash uint64 `json:"-"`
	// Params are further facts, among them the parameters of the network interface: "links", "frames".
	Params map[string]string `json:"params,omitempty"`
}

// Reached is the name among Params of the clock in MHz that place and route came to, in a bitstream that has not the one it needs.
const Reached = "reached"

// Protocol is the name among Params of the version of the link protocol that the network interface speaks; version 2 and those before do not have it.
const Protocol = "protocol"

// Pins is the name among Params of the pins of a project's own design, "clk:J3 led[0]:B5".
const Pins = "pins"

// Own reports whether the bitstream holds a design of a project, and not the network interface.
func (i *Info) Own() bool { return i != nil && i.Params[Pins] != "" }

// MarshalJSON writes Hash as everything else shows it, in 16 hexadecimal digits: as a number it would have more than JSON's readers keep.
func (i Info) MarshalJSON() ([]byte, error) {
	type fields Info
	return json.Marshal(struct {
		fields
		Hash string `json:"hash"`
	}{fields(i), fmt.Sprintf("%016x", i.Hash)})
}

const mark = "lmmc "

// The names that Params cannot have.
const (
	keyBoard  = "board"
	keyConfig = "config"
	keyDevice = "device"
	keyHash   = "hash"
)

// Comment returns the lines for the .comment section of an .asc file. Params with the names of other fields are left out.
// The section must come after any other: icepack keeps the last.
func (i Info) Comment() []string {
	var b strings.Builder
	b.WriteString("lmmc")
	put := func(key, value string) {
		// The escapes keep spaces, equal signs, ends of lines and zero bytes apart from the format's own.
		b.WriteString(" " + url.QueryEscape(key) + "=" + url.QueryEscape(value))
	}
	put(keyBoard, i.Board)
	if i.Config != "" {
		put(keyConfig, i.Config)
	}
	if i.Device != "" {
		put(keyDevice, i.Device)
	}
	put(keyHash, fmt.Sprintf("%016x", i.Hash))
	for _, key := range slices.Sorted(maps.Keys(i.Params)) {
		switch key {
		case keyBoard, keyConfig, keyDevice, keyHash:
		default:
			put(key, i.Params[key])
		}
	}
	return []string{b.String()}
}

// findInfo returns what the one line of lmmc in a comment says, or nil without one.
func findInfo(lines []string) (*Info, error) {
	var info *Info
	for _, line := range lines {
		rest, ours := strings.CutPrefix(line, mark)
		if !ours {
			continue
		}
		if info != nil {
			return nil, fmt.Errorf("%w: it has two lines that begin with %q", ErrInfo, mark)
		}
		var err error
		if info, err = parseInfo(rest); err != nil {
			return nil, err
		}
	}
	return info, nil
}

func parseInfo(text string) (*Info, error) {
	values := map[string]string{}
	for word := range strings.FieldsSeq(text) {
		k, v, ok := strings.Cut(word, "=")
		key, errKey := url.QueryUnescape(k)
		value, errValue := url.QueryUnescape(v)
		if !ok || errKey != nil || errValue != nil {
			return nil, fmt.Errorf("%w: %q is not of the form key=value", ErrInfo, word)
		}
		if _, twice := values[key]; twice {
			return nil, fmt.Errorf("%w: it says %s= twice", ErrInfo, key)
		}
		values[key] = value
	}
	for _, key := range []string{keyBoard, keyHash} {
		if values[key] == "" {
			return nil, fmt.Errorf("%w: no %s=", ErrInfo, key)
		}
	}
	hash, err := strconv.ParseUint(values[keyHash], 16, 64)
	if err != nil {
		return nil, fmt.Errorf("%w: hash=%s is not a hexadecimal number of 64 bits", ErrInfo, values[keyHash])
	}
	info := &Info{Board: values[keyBoard], Config: values[keyConfig], Device: values[keyDevice], Hash: hash}
	for _, key := range []string{keyBoard, keyConfig, keyDevice, keyHash} {
		delete(values, key)
	}
	if len(values) > 0 {
		info.Params = values
	}
	return info, nil
}
