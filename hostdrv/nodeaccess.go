package hostdrv

import (
	"context"

	"github.com/stafflink/lmmc/linkproto"
)

// nodeAccess is what a node lets programs do with its NI besides ports. The methods are the NI's.
type nodeAccess interface {
	ReadRegister(ctx context.Context, r linkproto.Reg) (uint32, error)
	WriteRegister(ctx context.Context, r linkproto.Reg, v uint32) error
	ReadBuffer(ctx context.Context, p []byte, addr int) error
	WriteBuffer(ctx context.Context, p []byte, addr int) error
	SendRouted(ctx context.Context, link int, dest uint16, p linkproto.Packet) error
	Sync(ctx context.Context, link int) error
}

// ReadRegister is NI.ReadRegister. It and the other methods of NI that a Node has are there too where the NI is another process's, for programs of its
// user. Those that change something are refused with ErrPort then by a server whose node has ports.
func (node *Node) ReadRegister(ctx context.Context, r linkproto.Reg) (uint32, error) {
	return node.on().ReadRegister(ctx, r)
}

// WriteRegister is NI.WriteRegister, as ReadRegister is.
func (node *Node) WriteRegister(ctx context.Context, r linkproto.Reg, v uint32) error {
	return node.on().WriteRegister(ctx, r, v)
}

// ReadBuffer is NI.ReadBuffer, as ReadRegister is.
func (node *Node) ReadBuffer(ctx context.Context, p []byte, addr int) error {
	return node.on().ReadBuffer(ctx, p, addr)
}

// WriteBuffer is NI.WriteBuffer, as ReadRegister is.
func (node *Node) WriteBuffer(ctx context.Context, p []byte, addr int) error {
	return node.on().WriteBuffer(ctx, p, addr)
}

// SendRouted is NI.SendRouted, as ReadRegister is.
func (node *Node) SendRouted(ctx context.Context, link int, dest uint16, p linkproto.Packet) error {
	return node.on().SendRouted(ctx, link, dest, p)
}

// Sync is NI.Sync, as ReadRegister is; of all programs' packets, if the NI is shared. Losses are told to one of them.
func (node *Node) Sync(ctx context.Context, link int) error { return node.on().Sync(ctx, link) }
