package linkproto

import (
	"fmt"
	"strconv"
	"strings"
)

// Info returns the row of Registers that a register belongs to, its block's if it is one of a block, or nil if there is none.
func (r Reg) Info() (found *RegInfo) {
	for i := range Registers {
		if row := &Registers[i]; row.Reg == r || row.Reg < r && row.Index != "" {
			found = row
		}
	}
	return found
}

// String returns the register's name in the tables, as in "LINK_STATUS+1" for one of a block, or its number.
func (r Reg) String() string {
	row := r.Info()
	switch {
	case row == nil:
		return fmt.Sprintf("%#x", uint16(r))
	case row.Index == "":
		return row.Name
	}
	return fmt.Sprintf("%s+%d", row.Name, r-row.Reg)
}

// Fields lists the fields of a register that has some, or nil.
func (r Reg) Fields() []Bits {
	row := r.Info()
	if row == nil {
		return nil
	}
	switch row.Reg {
	case RegLinkStatus, RegPortStatus:
		return StatusFields[:]
	case RegPeer, RegPortPeer:
		return PeerFields[:]
	case RegFrameTable:
		return FrameFields[:]
	case RegContext:
		return (r - RegContext).contextFields()
	case RegVL:
		return (r - RegVL).vlFields()
	case RegBarrier:
		return (r - RegBarrier).barrierFields()
	case RegRouteTable:
		return RouteTableFields[:]
	case RegControl:
		return ControlFields[:]
	case RegFeatures:
		return Features[:]
	}
	return nil
}

// vlFields lists the fields of a register of a virtual link, by its number in the block.
func (r Reg) vlFields() []Bits {
	switch VLReg(r % VLStride) {
	case VLRegPeer:
		return VLPeerFields[:]
	case VLRegStatus:
		return VLStatusFields[:]
	case VLRegCounts:
		return VLCountsFields[:]
	}
	return nil
}

// ParseReg returns the register that a text names: a name in the tables in small letters or capitals, for one of a block the block's name
// and what is added, as in "LINK_STATUS+1", or a number.
func ParseReg(text string) (Reg, error) {
	if n, err := strconv.ParseUint(text, 0, 16); err == nil {
		return Reg(n), nil
	}
	name, index, indexed := strings.Cut(text, "+")
	for _, row := range Registers {
		if !strings.EqualFold(row.Name, name) {
			continue
		}
		if !indexed {
			return row.Reg, nil
		}
		if row.Index == "" {
			return 0, fmt.Errorf("linkproto: register %s is one only: nothing can be added to it", row.Name)
		}
		n, err := strconv.ParseUint(index, 0, 16)
		if r := row.Reg + Reg(n); err == nil && r >= row.Reg && r.Info().Reg == row.Reg {
			return r, nil
		}
		return 0, fmt.Errorf("linkproto: there is no register %s: what is added to %s is %s", text, row.Name, row.Index)
	}
	return 0, fmt.Errorf("linkproto: there is no register %q", text)
}
