package probe

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/verilator"
)

// Hops is a way from one link endpoint to another by some routers.
type Hops struct {
	Model *verilator.Model

	routers int
	source  *verilator.Source
	sink    *verilator.Sink
	pins    struct {
		Rst    *bool   `port:"rst"`
		WrEn   *bool   `port:"wr_en"`
		WrAddr *uint16 `port:"wr_addr"`
		WrData *uint32 `port:"wr_data"`
		Up     *bool   `port:"up"`
		In     *uint32 `port:"in_at"`
		Out    *uint32 `port:"out_at"`
	}
}

// OpenHops makes a way by so many routers, over links of so many lanes, and brings them up. Packets have that many bytes a beat.
func OpenHops(ctx context.Context, routers, lanes int) (*Hops, error) {
	h := &Hops{routers: routers}
	return h, open(ctx, "hops", map[string]int{"ROUTERS": routers, "LANES": lanes, "WIDTH": lanes}, 1, h.attach)
}

func (h *Hops) attach(m *verilator.Model) {
	h.Model = m
	try.OK(m.Bind(&h.pins))
	try.Get(m.Clock("clk", 2, 0))
	*h.pins.Rst = true
	try.OK(m.Run(64))
	h.source, h.sink = try.Get(m.Source(verilator.Stream("as"))), try.Get(m.Sink(verilator.Stream("am")))
	*h.pins.Rst = false
	try.OK(m.Run(100)) // the tables are clear
	*h.pins.WrEn, *h.pins.WrAddr, *h.pins.WrData = true, h.far(), 2
	try.OK(m.Run(1))
	*h.pins.WrEn = false
	try.OK(m.Run(20_000))
	if !*h.pins.Up {
		try.Failf("probe: the links of a way by %d routers are not up", h.routers)
	}
}

// far is the number of the node at the end.
func (h *Hops) far() uint16 { return uint16(2 + h.routers) }

// Way sends a packet, lets so many clocks pass, and returns how many it was on its way, from its last byte to its last byte.
func (h *Hops) Way(packet []byte, clocks int) (took int, err error) {
	r := linkproto.Route{Dest: h.far(), Src: 1, Hops: linkproto.MaxHops, State: linkproto.RouteDatagram, Packet: packet}
	raw, err := r.Append(nil)
	if err == nil && !h.source.Send(raw) {
		err = fmt.Errorf("probe: no room for a packet of %d bytes", len(raw))
	}
	if err == nil {
		err = h.Model.Run(uint64(clocks))
	}
	if err != nil {
		return 0, err
	}
	if got, ok := h.sink.Frame(nil); !ok || len(got) != len(raw) {
		return 0, fmt.Errorf("probe: %d bytes came by %d routers, want %d", len(got), h.routers, len(raw))
	}
	return int(*h.pins.Out - *h.pins.In), nil
}
