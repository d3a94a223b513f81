`default_nettype none
// Where the rings of a context of messages stand, and whether bytes that a descriptor names are its own: the check of every access to them.
//
// Contract:
//   first, last, size: the region's, of a context that is enabled. entry: byte address of entry `n` of the ring of 2^size or, if `twice`,
//   2^(size+1) entries that begins `skip` times 2^size entries behind the region's beginning.
//   owns: `length` bytes at `address`, a multiple of 4, are in the region behind the rings.
//
// Proven: ni_msg_place.formal.v.
// Source: doc/protocol.md, "Messages of an interface".
module ni_msg_place #(
    parameter PAGE_BYTES = 1024,
    parameter ADDR_WIDTH = 12
) (
    input  wire [7:0]            first,
    input  wire [7:0]            last,
    input  wire [3:0]            size,
    input  wire [1:0]            skip,
    input  wire                  twice,
    input  wire [15:0]           n,
    output wire [ADDR_WIDTH-1:0] entry,
    input  wire [31:0]           address,
    input  wire [31:0]           length,
    output wire                  owns
);
`include "linkproto.vh"
    localparam PW = $clog2(PAGE_BYTES);
    wire [21:0] base   = {14'd0, first} << PW;
    wire [21:0] end_at = ({14'd0, last} + 22'd1) << PW;
    wire [15:0] at     = n & ((16'd1 << ({1'b0, size} + {4'd0, twice})) - 16'd1);
    wire [21:0] place  = base + (({20'd0, skip} << size) + {6'd0, at}) * 22'd`LP_RING_ENTRY;
    wire [21:0] bytes  = base + (22'd`LP_RINGS << size);
    wire [32:0] over   = {1'b0, address} + {1'b0, length};
    assign entry = place[ADDR_WIDTH-1:0];
    assign owns  = address[1:0] == 2'd0 && address >= {10'd0, bytes} && over <= {11'd0, end_at};
    wire unused = ^{place};
endmodule
`resetall
