package main

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/linkproto"
)

// placeHelp says what a PLACE is.
const placeHelp = "A PLACE is a register, as in SCRATCH, LINK_STATUS+1 or 0x10 (doc/protocol.md lists them), or bytes of the receive buffer:\n" +
	"@ADDRESS or @ADDRESS:COUNT, as in @0x400:16."

// place is what lmmc read and lmmc write can be told to read or write.
type place struct {
	text     string
	register bool
	reg      linkproto.Reg

	// of bytes
	link  int // by which they are written at the far end; 0 for the NI's own receive buffer, or that of node
	node  int // of the network whose receive buffer it is; 0 for none
	addr  int
	count int // to read

	writes bool
	value  uint32 // of a register
	data   []byte
}

// defaultCount is how many bytes @ADDRESS reads.
const defaultCount = 16

// parsePlace takes PLACE or PLACE=VALUE.
func parsePlace(text string) (p place, err error) {
	where, value, writes := strings.Cut(text, "=")
	p = place{text: where, writes: writes}
	link, bytes, isBytes := strings.Cut(where, "@")
	if !isBytes {
		return p, p.parseRegister(value)
	}
	if number, ok := strings.CutPrefix(link, "node"); ok {
		if p.node, err = strconv.Atoi(number); err != nil || p.node < 1 || p.node > linkproto.MaxNode {
			return p, usagef("%s: after node want its number, 1 to %d", where, linkproto.MaxNode)
		}
		if !writes {
			return p, usagef("%s: another node cannot be read", where)
		}
	} else if link != "" {
		if p.link, err = strconv.Atoi(link); err != nil || p.link < 1 || p.link >= linkproto.MaxLinks {
			return p, usagef("%s: before @ want a link, 1 to %d, node and its number, or nothing", where, linkproto.MaxLinks-1)
		}
		if !writes {
			return p, usagef("%s: the far end of a link cannot be read", where)
		}
	}
	addr, count, counted := strings.Cut(bytes, ":")
	n, err := strconv.ParseUint(addr, 0, 32)
	if err != nil {
		return p, usagef("%s: after @ want an address, as in @0x400", where)
	}
	p.addr, p.count = int(n), defaultCount
	switch {
	case counted && writes:
		return p, usagef("%s: want no count, the value has one", where)
	case counted:
		if p.count, err = strconv.Atoi(count); err != nil || p.count < 1 {
			return p, usagef("%s: after : want the number of bytes, 1 or more", where)
		}
	case writes:
		if p.data, err = parseBytes(value); err != nil || len(p.data) == 0 {
			return p, usagef("%s=%s: want pairs of hexadecimal digits, or text in double quotes", where, value)
		}
	}
	return p, nil
}

func (p *place) parseRegister(value string) error {
	p.register = true
	var err error
	if p.reg, err = linkproto.ParseReg(p.text); err != nil {
		name, _, _ := strings.Cut(strings.ToUpper(p.text), "+")
		return usagef("%v; for bytes of the receive buffer use @ADDRESS", hinted(err, []string{name}, registerNames()))
	}
	access := ""
	if row := p.reg.Info(); row != nil {
		access = row.Access
	}
	switch {
	case p.writes && access == "ro":
		return usagef("register %s is read-only", p.text)
	case !p.writes && access == "wo":
		return usagef("register %s is write-only", p.text)
	case p.writes:
		v, err := strconv.ParseUint(value, 0, 32)
		if err != nil {
			return usagef("%s=%s: want a 32-bit number", p.text, value)
		}
		p.value = uint32(v)
	}
	return nil
}

// parseBytes takes hexadecimal digits, or text in quotes as Go has it.
func parseBytes(value string) ([]byte, error) {
	if strings.HasPrefix(value, `"`) {
		text, err := strconv.Unquote(value)
		return []byte(text), err
	}
	return hex.DecodeString(strings.TrimPrefix(value, "0x"))
}
