package cluster

import (
	"bytes"
	"compress/gzip"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/stafflink/lmmc/internal/snapshot"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/verilator"
)

// ErrCheckpoint says that a checkpoint is not one of this network.
var ErrCheckpoint = errors.New("cluster: the checkpoint does not fit")

// Checkpoint is a network at one clock, while Carry sends: its nodes, what is on its cables, its hosts and what they have still to send. Open continues it.
type Checkpoint struct {
	Version  string // of the program
	Topology []byte // its file
	Config   Config // without what changes no result
	Traffic  Traffic
	Cycles   uint64

	Saved         // of this process
	Parts []Saved // of a network that is split
}

// Saved is what one process has of a network.
type Saved struct {
	State  []byte   // of all that is in Go, and of cables between RTL
	Models [][]byte // in RTL
}

// ReadCheckpoint reads what Checkpoint.Write has written.
func ReadCheckpoint(r io.Reader) (*Checkpoint, error) {
	c := new(Checkpoint)
	z, err := gzip.NewReader(r)
	if err == nil {
		err = gob.NewDecoder(z).Decode(c)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, z) // to the end, where the sum stands
	}
	if err != nil {
		return nil, fmt.Errorf("%w: it is none, is damaged, or was written by another version: %w", ErrCheckpoint, err)
	}
	return c, nil
}

// Write writes a checkpoint.
func (c *Checkpoint) Write(w io.Writer) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err == nil {
		err = gob.NewEncoder(z).Encode(c)
	}
	return errors.Join(err, z.Close())
}

// Checkpoint is the network now. It needs Config.Checkpoints, and is for Between of a Carry.
func (n *Cluster) Checkpoint() (c *Checkpoint, err error) {
	if !n.config.Checkpoints || n.haul == nil || len(n.outsiders) > 0 {
		return nil, errors.New("cluster: there are checkpoints with Config.Checkpoints, while Carry sends, of networks without nodes outside")
	}
	return c, try.Run(func() {
		c = n.identity(n.haul.Traffic)
		c.Cycles, c.Saved = n.Cycles, n.save()
		if n.group != nil {
			for i, a := range try.Get(n.group.tell(partOrder{Do: orderSave})) {
				c.Parts[i] = a.Saved
			}
		}
	})
}

// save is the state of what is in this process.
func (n *Cluster) save() (s Saved) {
	s.State = try.Get(snapshot.Save(unsaved, n.roots()...))
	for _, m := range n.models() {
		s.Models = append(s.Models, try.Get(m.Save()))
	}
	return s
}

// identity is what a checkpoint must have in common with the network that it is to be loaded into.
func (n *Cluster) identity(t Traffic) *Checkpoint {
	var file bytes.Buffer
	try.OK(n.Topology.Write(&file))
	c := n.config
	own := &Checkpoint{Version: c.Version, Topology: file.Bytes(), Traffic: t}
	if c.Parts != nil {
		own.Parts = make([]Saved, c.Parts.Count)
	}
	c.Topology, c.Parts, c.From, c.Threads, c.Waves = nil, nil, nil, 0, 0
	own.Config = c
	return own
}

// fits says why a checkpoint is not of this network and program.
func (c *Checkpoint) fits(own *Checkpoint) error {
	type part struct {
		what       string
		have, want any
	}
	a, b := c.Config, own.Config
	for _, p := range []part{
		{"routing", a.Routing, b.Routing}, {"manager", a.Manager, b.Manager}, {"rung", a.Rung, b.Rung}, {"seed", a.Seed, b.Seed}, {"slots", a.Slots, b.Slots}, {"virtual links", a.Virtual, b.Virtual},
		{"barriers", a.Barriers, b.Barriers}, {"virtual links in software at", fmt.Sprint(a.InSoftware), fmt.Sprint(b.InSoftware)},
		{"parameters of the nodes", a.Params, b.Params}, {"processes, by --parts,", len(c.Parts), len(own.Parts)},
	} {
		if p.have != p.want {
			return fmt.Errorf("%w: it was made with %s %v, and this is with %v", ErrCheckpoint, p.what, p.have, p.want)
		}
	}
	switch {
	case !bytes.Equal(c.Topology, own.Topology):
		return fmt.Errorf("%w: it is of another topology", ErrCheckpoint)
	case c.Version != own.Version:
		return fmt.Errorf("%w: it was made by another version of the program, with RTL %016x here", ErrCheckpoint, rtl.Hash())
	}
	return nil
}

// load brings a network that has just been built to a checkpoint.
func (n *Cluster) load(c *Checkpoint) error {
	n.haul = &haul{}
	n.receive(n.haul)
	if err := n.restore(c.Saved); err != nil || n.group == nil {
		return err
	}
	_, err := n.group.exchange(func(part int) partOrder { return partOrder{Do: orderRestore, Saved: c.Parts[part]} }, 0)
	return err
}

// restore brings what is in this process to a state.
func (n *Cluster) restore(s Saved) error {
	if err := snapshot.Load(s.State, unsaved, n.roots()...); err != nil {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	models := n.models()
	if len(models) != len(s.Models) {
		return fmt.Errorf("%w: it has %d nodes in RTL, and here are %d", ErrCheckpoint, len(s.Models), len(models))
	}
	for i, m := range models {
		if err := m.Restore(s.Models[i]); err != nil {
			return fmt.Errorf("%w: %w", ErrCheckpoint, err)
		}
	}
	return nil
}

// models are the nodes in RTL.
func (n *Cluster) models() []*verilator.Model {
	if n.net == nil {
		return nil
	}
	return n.net.Models()
}

// roots lead to all that a network is but for its models in RTL.
func (n *Cluster) roots() []any {
	roots := []any{n.rng, &n.NIs, &n.Cycles, &n.Setup, &n.pulled, &n.suspects}
	for _, node := range n.nodes {
		switch m := node.(type) {
		case modelNI:
			roots = append(roots, m.NI)
		case modelSwitch:
			roots = append(roots, m.Switch)
		}
	}
	for i := range n.cables {
		c := &n.cables[i]
		roots = append(roots, &c.cut)
		for _, w := range c.all() {
			if w.line != nil {
				roots = append(roots, w.line)
			}
			if w.link != nil {
				roots = append(roots, w.link)
			}
		}
	}
	for _, p := range n.hostPorts {
		roots = append(roots, p)
	}
	if n.haul != nil {
		roots = append(roots, n.haul)
	}
	return roots
}

// unsaved are types whose state Model.Save has.
func unsaved(t reflect.Type) bool {
	return t == reflect.TypeFor[verilator.Clock]() || t == reflect.TypeFor[verilator.Model]()
}
