package cluster

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
)

// Ask sends a request to a network interface and runs until the answer is there, whose Data is then the caller's.
func (n *Cluster) Ask(i *NI, p linkproto.Packet) (answer linkproto.Packet, err error) {
	done := false
	take := func(a linkproto.Packet) {
		answer, done = a, true
		answer.Data = slices.Clone(a.Data)
	}
	err = n.Until(patience, "room on the host port of "+n.name(i), func() bool { return !errors.Is(i.Request(p, take), ni.ErrBusy) })
	if err == nil {
		err = n.Until(patience, fmt.Sprintf("%s to answer %v", n.name(i), p.Type), func() bool { return done })
	}
	if err == nil && answer.Type == linkproto.TypeDone && answer.Status != linkproto.StatusOK {
		err = fmt.Errorf("cluster: %s refused %v: %v", n.name(i), p.Type, answer.Status)
	}
	return answer, err
}

// readBuffers returns the whole receive buffers of all network interfaces, which are read side by side.
func (n *Cluster) readBuffers() ([][]byte, error) {
	page, size := n.config.Params.PageBytes, n.config.Params.BufferBytes()
	buffers := make([][]byte, len(n.NIs))
	asked := make([]int, len(n.NIs)) // bytes
	var failed error
	err := n.Until(patience, "the receive buffers to be read", func() bool {
		done := true
		for k, i := range n.NIs {
			for asked[k] < size && failed == nil {
				request := linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(asked[k]), Count: uint16(page)}
				err := i.Request(request, func(a linkproto.Packet) { buffers[k] = append(buffers[k], a.Data...) })
				if errors.Is(err, ni.ErrBusy) {
					break
				}
				failed = errors.Join(failed, err)
				asked[k] += page
			}
			done = done && len(buffers[k]) == size
		}
		return done || failed != nil
	})
	return buffers, errors.Join(err, failed)
}

// drained reports whether no packet is on its way between two nodes.
func (n *Cluster) drained() bool {
	for i, node := range n.nodes {
		for port := range n.peers[i] {
			if status, known := node.status(port); known && linkproto.StatusQueued.Of(status) != 0 {
				return false
			}
		}
	}
	for _, i := range n.NIs {
		for link := range i.Params.Links {
			if i.Credit(link+1).Outstanding() > 0 {
				return false
			}
		}
		if !n.ports(i, func(status uint32) bool { return linkproto.StatusQueued.Of(status) == 0 }) {
			return false
		}
	}
	return true
}

// ports reports whether all cabled ports of a network interface's router have a status that is as it should be.
func (n *Cluster) ports(i *NI, good func(status uint32) bool) bool {
	for port, peer := range n.peers[i.Node] {
		if peer < 0 || i.Params.Router == 0 {
			continue
		}
		a, err := n.Ask(i, linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.PortStatusReg(port)})
		if err != nil || !good(a.Value) {
			return false
		}
	}
	return true
}
