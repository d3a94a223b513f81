`default_nettype none
`include "linkproto.vh"
// ni_msg_place in a region of frames that there are and that holds its rings: bytes that are the context's, whichever of them the solver
// likes, are in its frames and not in its rings; an entry is in its ring, whole, and in the frames.
module ni_msg_place_formal #(
    parameter PAGE_BYTES = 64,
    parameter ADDR_WIDTH = 10
) (
    input wire clk
);
    (* anyseq *) wire [7:0]  first, last;
    (* anyseq *) wire [3:0]  size;
    (* anyseq *) wire [1:0]  ring;          // sends, receives, completions
    (* anyseq *) wire [15:0] n;
    (* anyseq *) wire [31:0] address, length, f_byte;
    wire [ADDR_WIDTH-1:0] entry;
    wire                  owns;
    wire twice = ring == 2'd2;
    ni_msg_place #(.PAGE_BYTES(PAGE_BYTES), .ADDR_WIDTH(ADDR_WIDTH)) u_place (
        .first(first), .last(last), .size(size), .skip(ring), .twice(twice), .n(n), .entry(entry), .address(address), .length(length),
        .owns(owns)
    );
    localparam PW = $clog2(PAGE_BYTES);
    wire [15:0] begins = {8'd0, first} << PW, ends = ({8'd0, last} + 16'd1) << PW;
    wire [15:0] rings = begins + (16'd`LP_RINGS << size);
    wire [15:0] from = begins + (({14'd0, ring} * 16'd`LP_RING_ENTRY) << size);
    wire [15:0] to = from + ((16'd`LP_RING_ENTRY << size) << twice);
    always @* assume (first <= last && {8'd0, last} < 16'd1 << (ADDR_WIDTH - PW) && size < ADDR_WIDTH && ring != 2'd3 && rings <= ends);

    reg f_run = 1'b0;
    reg f_owned, f_right, f_placed;
    always @(posedge clk) begin
        f_run    <= 1'b1;
        f_owned  <= owns && f_byte >= address && {1'b0, f_byte} < {1'b0, address} + {1'b0, length};
        f_right  <= address[1:0] == 2'd0 && f_byte >= {16'd0, rings} && f_byte < {16'd0, ends};
        f_placed <= {6'd0, entry} >= from && {6'd0, entry} + 16'd`LP_RING_ENTRY <= to && to <= ends && entry[3:0] == 4'd0;
    end
    always @* if (f_run) begin
        if (f_owned) assert (f_right);
        assert (f_placed);
    end
endmodule
`resetall
