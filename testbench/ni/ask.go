package ni

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// Ask sends a request to a node and runs until the answer is there, whose Data is then the caller's.
func (f *Fabric) Ask(node int, p linkproto.Packet) (linkproto.Packet, error) {
	var answer linkproto.Packet
	done := false
	take := func(a linkproto.Packet) {
		answer, done = a, true
		answer.Data = append([]byte(nil), a.Data...)
	}
	h := f.Nodes[node].Host
	err := f.Until(f.Patience(), "room on the host port", func() bool { return !errors.Is(h.Request(p, take), ErrBusy) })
	if err != nil {
		return answer, err
	}
	return answer, f.Until(f.Patience(), fmt.Sprintf("node %d to answer %v", node, p.Type), func() bool { return done })
}

// Patience is how long anything may take on links full of faults, in symbol times. On a slow line it follows from the time in which a link gives up.
func (f *Fabric) Patience() int {
	if f.symbol > 1 {
		return 8 * f.Params.RetryLimit * f.Params.Retry
	}
	return 1_000_000
}

// ReadRegister returns the value of a register of a node.
func (f *Fabric) ReadRegister(node int, r linkproto.Reg) (uint32, error) {
	a, err := f.Ask(node, linkproto.Packet{Type: linkproto.TypeRegRead, Reg: r})
	if err == nil && a.Type != linkproto.TypeRegData {
		err = fmt.Errorf("ni: node %d refused to read register %v: %v", node, r, a.Status)
	}
	return a.Value, err
}

// WriteRegister writes a register of a node.
func (f *Fabric) WriteRegister(node int, r linkproto.Reg, v uint32) error {
	a, err := f.Ask(node, linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: r, Value: v})
	if err == nil && a.Status != linkproto.StatusOK {
		err = fmt.Errorf("ni: node %d refused to write register %v: %v", node, r, a.Status)
	}
	return err
}

// ReadBuffer returns the whole receive buffer of a node.
func (f *Fabric) ReadBuffer(node int) ([]byte, error) {
	buffer := make([]byte, 0, f.Params.BufferBytes())
	for len(buffer) < f.Params.BufferBytes() {
		a, err := f.Ask(node, linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(len(buffer)), Count: uint16(f.Params.PageBytes)})
		if err != nil {
			return nil, err
		}
		if len(a.Data) != f.Params.PageBytes {
			return nil, fmt.Errorf("ni: node %d answered a read of %d bytes at %#x with %v of %d bytes, status %v",
				node, f.Params.PageBytes, len(buffer), a.Type, len(a.Data), a.Status)
		}
		buffer = append(buffer, a.Data...)
	}
	return buffer, nil
}

// FillBuffer writes the whole receive buffer of a node from its host, and its image.
func (f *Fabric) FillBuffer(node int, data []byte) error {
	for at := 0; at < len(data); at += f.Params.PageBytes {
		page := data[at : at+f.Params.PageBytes]
		a, err := f.Ask(node, linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: uint32(at), Data: page})
		if err != nil {
			return err
		}
		if a.Status != linkproto.StatusOK {
			return fmt.Errorf("ni: node %d refused to write its buffer at %#x: %v", node, at, a.Status)
		}
	}
	copy(f.Nodes[node].Image, data)
	return nil
}

// Counters reads all counters of a link of a node; link 0 is the host port. On a line whose symbols take many clocks it asks for all of them at once.
func (f *Fabric) Counters(node, link int) (c [linkproto.NumCounters]uint32, err error) {
	ahead := 1
	if f.symbol > 1 {
		ahead = len(c)
	}
	asked, have := 0, 0
	late := f.Until(f.Patience(), fmt.Sprintf("node %d to tell the counters of link %d", node, link), func() bool {
		for err == nil && asked < len(c) && asked-have < ahead {
			i := asked
			busy := f.Nodes[node].Host.Request(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.CounterReg(link, linkproto.Counter(i))}, func(a linkproto.Packet) {
				c[i] = a.Value
				if have++; a.Type != linkproto.TypeRegData {
					err = fmt.Errorf("ni: node %d refused to read counter %v of link %d: %v", node, linkproto.Counter(i), link, a.Status)
				}
			})
			if errors.Is(busy, ErrBusy) {
				return false
			}
			err = errors.Join(err, busy)
			asked++
		}
		return err != nil || have == len(c)
	})
	return c, errors.Join(err, late)
}

// CheckCounters compares counters of a link with what they must be.
func (f *Fabric) CheckCounters(s Socket, want map[linkproto.Counter]int) error {
	have, err := f.Counters(s.Node, s.Link)
	for _, c := range slices.Sorted(maps.Keys(want)) {
		if err == nil && int(have[c]) != want[c] {
			err = fmt.Errorf("node %d link %d: counter %v is %d, want %d", s.Node, s.Link, c, have[c], want[c])
		}
	}
	return err
}

// Admit lets the host of a node send by a link again that has lost packets, and reports whether it has.
func (f *Fabric) Admit(node, link int) (lost bool, err error) {
	status, err := f.ReadRegister(node, linkproto.LinkStatusReg(link))
	if err != nil || linkproto.StatusLost.Of(status) == 0 {
		return false, err
	}
	if err := f.WriteRegister(node, linkproto.LinkStatusReg(link), linkproto.StatusLost.In(1)); err != nil {
		return true, err
	}
	f.Nodes[node].Host.Credit(link).Stopped = false
	return true, nil
}
