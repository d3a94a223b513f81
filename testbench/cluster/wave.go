package cluster

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/stafflink/lmmc/testbench/ni"
)

// mostWaves is how many waves DumpWaves writes when nobody knows which nodes are concerned.
const mostWaves = 16

// Suspects are the nodes that the last failure is about: the ends of what has not come as it should, and the nodes between them.
func (n *Cluster) Suspects() []int { return n.suspects }

// suspect says that what one node sends to another does not come as it should.
func (n *Cluster) suspect(from, to int) {
	n.suspects = []int{from}
	for at := from; at != to && len(n.suspects) <= len(n.nodes); {
		port, _ := n.Tables.Route(at, to)
		if at = n.peers[at][port]; at < 0 {
			return
		}
		n.suspects = append(n.suspects, at)
	}
}

// suspectStuck says that some network interfaces have not got rid of what they send.
func (n *Cluster) suspectStuck() {
	n.suspects = nil
	for _, i := range n.NIs {
		for link := range i.Params.Links {
			if i.Credit(link+1).Outstanding() > 0 {
				n.suspects = append(n.suspects, i.Node)
				break
			}
		}
	}
}

// DumpWaves writes waves of the last clocks, at least Config.Waves of them, of the suspects in RTL, or of the first nodes if there are none. It returns
// the files, NODE.fst in the folder.
func (n *Cluster) DumpWaves(dir string) (files []string, err error) {
	if n.config.Waves == 0 || n.group != nil {
		return nil, fmt.Errorf("cluster: no waves are recorded: Config.Waves is 0, or the network is split")
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	of := n.suspects
	if len(of) == 0 {
		for i := range min(len(n.nodes), mostWaves) {
			of = append(of, i)
		}
	}
	for _, i := range of {
		m, ok := n.nodes[i].(interface{ model() *rtlNode })
		if !ok {
			continue // a model in Go
		}
		file := filepath.Join(dir, n.Topology.Nodes[i].Name+".fst")
		if _, err := m.model().DumpWave(file); err != nil {
			return files, err
		}
		files = append(files, file)
	}
	return files, nil
}

func (m *rtlNode) model() *rtlNode { return m }

// await is Until, and says whom it concerns if that does not come.
func (n *Cluster) await(what string, done func() bool) error {
	err := n.Until(patience, what, done)
	if _, timeout := err.(*ni.Timeout); timeout {
		n.suspectStuck()
	}
	return err
}
