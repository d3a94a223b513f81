package ni

import "github.com/stafflink/lmmc/linkproto"

// Admit lets the host of a node send by a link again that has lost packets, and reports whether it has.
func (f *Fabric) Admit(node, link int) (lost bool, err error) {
	status, err := f.ReadRegister(node, linkproto.LinkStatusReg(link))
	if err != nil || linkproto.StatusLost.Of(status) == 0 {
		return false, err
	}
	if err := f.WriteRegister(node, linkproto.LinkStatusReg(link), linkproto.StatusLost.In(1)); err != nil {
		return true, err
	}
	f.Nodes[node].Host.Admit(link)
	return true, nil
}
