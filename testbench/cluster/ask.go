package cluster

import (
	"cmp"
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

// AskEach sends requests to all network interfaces, to each its own, and runs until all have answered. The answers' Data is the caller's.
func (n *Cluster) AskEach(of func(i *NI) []linkproto.Packet) (answers [][]linkproto.Packet, err error) {
	requests, answers := make([][]linkproto.Packet, len(n.NIs)), make([][]linkproto.Packet, len(n.NIs))
	left := 0
	for k, i := range n.NIs {
		requests[k] = of(i)
		left += len(requests[k])
	}
	sent := make([]int, len(n.NIs))
	for last, since := left, n.Cycles; left > 0; {
		for k, i := range n.NIs {
			for sent[k] < len(requests[k]) {
				p := requests[k][sent[k]]
				busy := i.Request(p, func(a linkproto.Packet) {
					a.Data = slices.Clone(a.Data)
					answers[k] = append(answers[k], a)
					left--
					if a.Type == linkproto.TypeDone && a.Status != linkproto.StatusOK {
						err = fmt.Errorf("cluster: %s refused %v: %v", n.name(i), p.Type, a.Status)
					}
				})
				if errors.Is(busy, ni.ErrBusy) {
					break
				} else if busy != nil {
					return answers, busy
				}
				sent[k]++
			}
		}
		if failed := n.Run(quantum); failed != nil || err != nil {
			return answers, cmp.Or(failed, err)
		}
		if left < last {
			last, since = left, n.Cycles
		} else if n.Cycles-since > uint64(patience) {
			return answers, &ni.Timeout{Since: since, Clocks: uint64(patience), What: "answers of network interfaces"}
		}
	}
	return answers, nil
}

// readBuffers returns the whole receive buffers of all network interfaces.
func (n *Cluster) readBuffers() (buffers [][]byte, err error) {
	page := n.config.Params.PageBytes
	answers, err := n.AskEach(func(*NI) (pages []linkproto.Packet) {
		for at := 0; at < n.config.Params.BufferBytes(); at += page {
			pages = append(pages, linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(at), Count: uint16(page)})
		}
		return pages
	})
	for _, pages := range answers {
		var buffer []byte
		for _, a := range pages {
			buffer = append(buffer, a.Data...)
		}
		buffers = append(buffers, buffer)
	}
	return buffers, err
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
	}
	return n.routers(func(status uint32) bool { return linkproto.StatusQueued.Of(status) == 0 })
}

// routers reports whether the status of all cabled ports of the network interfaces' routers is as it should be, where only their hosts can ask for it.
func (n *Cluster) routers(good func(status uint32) bool) bool {
	answers, err := n.AskEach(func(i *NI) (ports []linkproto.Packet) {
		for port, peer := range n.peers[i.Node] {
			if _, known := n.nodes[i.Node].status(port); peer >= 0 && !n.Outside(peer) && i.Params.Router > 0 && !known {
				ports = append(ports, linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.PortStatusReg(port)})
			}
		}
		return ports
	})
	bad := func(a linkproto.Packet) bool { return !good(a.Value) }
	return err == nil && !slices.ContainsFunc(slices.Concat(answers...), bad)
}
