package ni_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
)

var variants = []rtl.Params{
	{},
	{Links: 2, Frames: 5, PageBytes: 64, ReplayBytes: 256, RxBytes: 512},
	{Links: 7, Frames: 24, PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024},
}

// whole is a network interface with a host and a peer in Go on each link.
type whole struct {
	*ni.Fabric
	t     *testing.T
	rng   *testbench.Rand
	image []byte
}

func openWhole(t *testing.T, p rtl.Params) *whole {
	t.Helper()
	c := ni.Config{Params: p, Nodes: 1, Seed: seedOf(t)}
	for l := range p.Cables() {
		c.Peers = append(c.Peers, ni.Socket{Link: l + 1})
	}
	f := check.Must(ni.Open(t.Context(), c))(t)
	t.Cleanup(func() { check.Error(t, f.Close()) })
	w := &whole{Fabric: f, t: t, rng: testbench.NewRand(c.Seed)}
	w.image = w.rng.Bytes(f.Params.BufferBytes())
	w.must(f.FillBuffer(0, w.image))
	return w
}

func (w *whole) must(err error) {
	w.t.Helper()
	check.Fatal(w.t, err)
}

func (w *whole) peer(link int) *ni.Port { return w.Peers[ni.Socket{Link: link}] }

func (w *whole) ask(p linkproto.Packet) linkproto.Packet {
	w.t.Helper()
	return check.Must(w.Ask(0, p))(w.t)
}

func (w *whole) register(r linkproto.Reg) uint32 {
	w.t.Helper()
	return check.Must(w.ReadRegister(0, r))(w.t)
}

func (w *whole) counters(link int) [linkproto.NumCounters]uint32 {
	w.t.Helper()
	return check.Must(w.Counters(0, link))(w.t)
}

// send has the peer of a link send a packet, and says whether it has room for it.
func (w *whole) send(link int, p linkproto.Packet) bool {
	w.t.Helper()
	return w.peer(link).Link.Send(check.Must(p.Append(nil))(w.t)) == nil
}

func (w *whole) checkBuffer() {
	w.t.Helper()
	for i, have := range check.Must(w.ReadBuffer(0))(w.t) {
		if have != w.image[i] {
			w.t.Fatalf("byte %#x of the receive buffer is %02x, want %02x", i, have, w.image[i])
		}
	}
}

func each(t *testing.T, test func(*testing.T, *whole)) {
	for _, p := range variants {
		p = p.WithDefaults()
		t.Run(fmt.Sprintf("%d links %dx%d", p.Links, p.Frames, p.PageBytes), func(t *testing.T) { test(t, openWhole(t, p)) })
	}
}

// The identity says what was built, and link status registers agree with the peers.
func TestIdentity(t *testing.T) {
	each(t, func(t *testing.T, w *whole) {
		w.must(w.Run(3000))
		p := w.Params
		for l := range p.Links + 1 {
			c := w.counters(l)
			c[linkproto.CntRxPackets], c[linkproto.CntTxPackets] = 0, 0
			check.Equal(t, fmt.Sprintf("counters of link %d at the beginning", l), c, [linkproto.NumCounters]uint32{})
		}
		for r, want := range map[linkproto.Reg]uint32{
			linkproto.RegMagic: linkproto.Magic, linkproto.RegVersion: linkproto.Version, linkproto.RegHashLo: uint32(rtl.Hash()),
			linkproto.RegHashHi: uint32(rtl.Hash() >> 32), linkproto.RegLinks: uint32(p.Links), linkproto.RegFrames: uint32(p.Frames),
			linkproto.RegPageBytes: uint32(p.PageBytes), linkproto.RegReplayBytes: uint32(p.ReplayBytes), linkproto.RegRxBytes: uint32(p.RxBytes),
			linkproto.RegWindow: linkproto.MaxWindow, linkproto.RegFeatures: 3, // PAGING and NOTIFY
		} {
			check.Equal(t, fmt.Sprintf("register %#x", r), w.register(r), want)
		}
		for round := range 3 { // odd epochs and even ones
			var restart []*flowctl.Endpoint
			for l := range p.Links + 1 {
				port := w.Nodes[0].Host.Port
				if l > 0 {
					port = w.peer(l)
				}
				s := port.Link.Status()
				nonce, node, own := uint32(0), uint32(0), uint16(1)
				if l > 0 {
					nonce, node = w.register(linkproto.RegNonce), uint32(port.Link.Config().Node)
				} else if round == 0 { // the host's port came up before it knew
					own = 0
				}
				status := w.register(linkproto.LinkStatusReg(l))
				life := linkproto.LifeOf(nonce, uint8(l), uint8(linkproto.StatusEpoch.Of(status)))
				if status != linkproto.StatusUp.In(1)|linkproto.StatusEpoch.In(linkproto.StatusEpoch.Of(status)) || s.Peer.Life != life || s.Peer.Node != own || !s.Up {
					t.Errorf("status of link %d is %#x, and its life %#x; to its peer %+v", l, status, life, s)
				}
				check.Equal(t, fmt.Sprintf("PEER of link %d", l), w.register(linkproto.PeerReg(l)), linkproto.PeerKnown.In(1)|node)
				restart = append(restart, port.Link)
			}
			for _, link := range restart {
				link.Restart()
			}
			w.must(w.Run(3000))
		}
	})
}

// The host reads and writes every byte: all sizes and alignments, within pages; the rest is refused and changes nothing.
func TestBufferAccess(t *testing.T) {
	each(t, func(t *testing.T, w *whole) {
		page := w.Params.PageBytes
		sizes := []int{0, 1, 2, 3, 4, 5, 7, 8, 63, 64, page - 1, page, page + 1}
		for i := range 300 {
			n := sizes[w.rng.IntN(len(sizes))]
			at := w.rng.IntN(w.Params.BufferBytes())
			switch i % 4 {
			case 0:
				at = at / page * page
			case 1:
				at = max(at/page*page+page-n, 0) // up to the page's end
			case 2:
				at = w.Params.BufferBytes() - w.rng.IntN(3)
			}
			fits := at < w.Params.BufferBytes() && at%page+n <= page
			read := w.ask(linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(at), Count: uint16(n)})
			switch {
			case !fits && (read.Type != linkproto.TypeDone || read.Status != linkproto.StatusBadAddress):
				t.Fatalf("reading %d bytes at %#x: %v, %v", n, at, read.Type, read.Status)
			case fits && (read.Type != linkproto.TypeBufData || int(read.Addr) != at || !bytes.Equal(read.Data, w.image[at:at+n])):
				t.Fatalf("reading %d bytes at %#x: %v at %#x, % x, want % x", n, at, read.Type, read.Addr, read.Data, w.image[at:at+n])
			}
			data := w.rng.Bytes(min(n, page)) // a longer packet would not go over the link
			fits = at < w.Params.BufferBytes() && at%page+len(data) <= page
			written := w.ask(linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: uint32(at), Data: data})
			switch {
			case fits && written.Status == linkproto.StatusOK:
				copy(w.image[at:], data)
			case fits || written.Status != linkproto.StatusBadAddress:
				t.Fatalf("writing %d bytes at %#x: %v", len(data), at, written.Status)
			}
		}
		w.checkBuffer()
	})
}

// Each link reaches its own peer and the frames that are its own, and nothing else.
func TestLinksAreApart(t *testing.T) {
	each(t, func(t *testing.T, w *whole) {
		p := w.Params
		owners := make([]int, p.Frames)
		denied, carried := make([]int, p.Links+1), make([]int, p.Links+1)
		for round := range 4 {
			for f := range owners {
				owners[f] = w.rng.IntN(p.Links + 2) // 0 and LINKS+1: nobody
				w.must(w.WriteRegister(0, linkproto.FrameReg(f), 1<<31|uint32(owners[f]&7)))
				if w.rng.IntN(4) == 0 {
					owners[f] = 0
					w.must(w.WriteRegister(0, linkproto.FrameReg(f), uint32(w.rng.IntN(8))))
				}
			}
			sent := make([]uint32, p.Links+1)
			for l := 1; l <= p.Links; l++ {
				for f := range p.Frames + 2 {
					n := 1 + w.rng.IntN(9)
					at := f*p.PageBytes + w.rng.IntN(p.PageBytes-n)
					data := make([]byte, n)
					binary.PutUvarint(data, uint64(l))
					write := linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(at), Data: data}
					w.must(w.Until(100_000, "room", func() bool { return w.send(l, write) }))
					carried[l]++
					if f < p.Frames && owners[f] == l && l <= p.Links {
						copy(w.image[at:], data)
					} else {
						denied[l]++
					}
				}
				// From the host, three packets each way at a time, all links at once.
				for range 3 {
					data := make([]byte, 9)
					data[0], data[1] = byte(l), byte(round)
					w.must(w.Until(100_000, "room", func() bool { return w.Nodes[0].Host.Write(l, 0, data) == nil }))
					sent[l]++
				}
			}
			got := make([]uint32, p.Links+1)
			err := w.Until(200_000, "all packets", func() bool {
				quiet := true
				for l := 1; l <= p.Links; l++ {
					for raw, ok := w.peer(l).Link.Receive(); ok; raw, ok = w.peer(l).Link.Receive() {
						var q linkproto.Packet
						w.must(q.Decode(raw))
						if q.Via != 0 || q.Data[0] != byte(l) || q.Data[1] != byte(round) {
							t.Fatalf("peer %d received %+v", l, q)
						}
						got[l]++
					}
					quiet = quiet && got[l] == sent[l] && w.peer(l).Link.Queued() == 0 && w.Nodes[0].Host.Credit(l).Outstanding() == 0
				}
				return quiet
			})
			w.must(err)
			w.must(w.Run(2 * p.RxBytes))
			w.checkBuffer()
		}
		for l := 1; l <= p.Links; l++ {
			c := w.counters(l)
			want := [linkproto.NumCounters]uint32{linkproto.CntRxPackets: uint32(carried[l]), linkproto.CntTxPackets: 12, linkproto.CntDenied: uint32(denied[l])}
			want[linkproto.CntStops] = c[linkproto.CntStops]
			check.Equal(t, fmt.Sprintf("counters of link %d", l), c, want)
		}
		before := w.counters(0)
		w.must(w.Run(1000))
		after := w.counters(0)
		want := [linkproto.NumCounters]uint32{linkproto.CntRxPackets: before[linkproto.CntRxPackets] + linkproto.NumCounters,
			linkproto.CntTxPackets: after[linkproto.CntTxPackets], linkproto.CntStops: before[linkproto.CntStops]}
		check.Equal(t, "counters of the host port", after, want)
	})
}

// A host that reads a word while the link writes it sees one of the values written, never a mixture.
func TestReadWhileWritten(t *testing.T) {
	w := openWhole(t, rtl.Params{}.WithDefaults())
	w.must(w.WriteRegister(0, linkproto.FrameReg(0), 1<<31|1))
	w.must(w.Run(2000))
	value := func(n uint32) uint32 { return n&0xFF | (n+1)&0xFF<<8 | (n+2)&0xFF<<16 | (n+3)&0xFF<<24 }
	write := func(n uint32) bool {
		return w.send(1, linkproto.Packet{Type: linkproto.TypeWrite, Addr: 8, Data: binary.LittleEndian.AppendUint32(nil, value(n))})
	}
	sent, reads := uint32(0), 0
	for write(sent) {
		sent++
	}
	w.must(w.Run(2000)) // value 0 is there
	for reads < 1500 {
		for write(sent % 256) {
			sent++
			// Of random length, so that writes meet reads at any clock.
			w.send(1, linkproto.Packet{Type: linkproto.TypeWrite, Addr: 64, Data: make([]byte, w.rng.IntN(8))})
		}
		a := w.ask(linkproto.Packet{Type: linkproto.TypeBufRead, Addr: 8, Count: 4})
		if v := binary.LittleEndian.Uint32(a.Data); v != value(v&0xFF) {
			t.Fatalf("read %d gives %08x", reads, v)
		}
		reads++
	}
}
