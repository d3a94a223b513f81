`default_nettype none
// 8b/10b encoder with running disparity.
//
// Contract
//   code is the code group of the symbol that sym was in the clock before, at rd, the running disparity (1: positive). en says that it has
//   been sent: rd is then the one after it, and sym no longer this symbol.
//   code reads abcdei fghj from left to right: code[9] goes first on the line. Reset makes rd negative.
//   Of the K symbols the protocol's own are encoded as themselves; any other becomes K30.7, which is ERR.
//
// HX8K: 64 LUT4.
// Proven: enc_8b10b.formal.v, by induction: what dec_8b10b makes of it, disparity, run length, no false comma.
// Source: A. X. Widmer, P. A. Franaszek, "A DC-Balanced, Partitioned-Block, 8B/10B Transmission Code", IBM J. Res. Dev. 27(5),
// 1983; the tables of IEEE 802.3 clause 36.2.4.
module enc_8b10b (
    input  wire       clk,
    input  wire       rst,
    input  wire       en,
    input  wire [8:0] sym,
    output wire [9:0] code,
    output reg        rd
);
`include "linkproto.vh"

    localparam [8:0] ERR = `LP_SYM_ERR;

    wire       comma = sym == `LP_SYM_IDLE, abort = sym == `LP_SYM_ABORT;
    wire       k28   = comma || abort || sym == `LP_SYM_SOP || sym == `LP_SYM_EOP || sym == `LP_SYM_LSW;
    wire       error = sym[`LP_SYM_K_BIT] && !k28;
    wire [4:0] x     = error ? ERR[4:0] : sym[4:0];
    wire [2:0] y     = error ? ERR[7:5] : sym[7:5];

    // What does not depend on running disparity. Of the two columns of a table one has the bits of the symbol
    // themselves, but for a few values, and one more that balances them. low and high say which column that is, where they
    // differ: that of negative disparity or that of positive; in the other all bits are inverted. tilt: not as many ones as zeros.
    wire x0 = x == 5'd0, x15 = x == 5'd15, x16 = x == 5'd16, x24 = x == 5'd24, x31 = x == 5'd31;
    wire one_of_four = x == 5'd1 || x == 5'd2 || x == 5'd4 || x == 5'd8;
    wire four_ones   = k28 || x == 5'd23 || x == 5'd27 || x == 5'd29 || x == 5'd30;
    wire two_ones    = x0 || one_of_four || x15 || x16 || x24 || x31;
    wire y0 = y == 3'd0, y3 = y == 3'd3, y4 = y == 3'd4, y7 = y == 3'd7;

    reg [5:0] own6;
    reg [3:0] own4;
    reg       tilt6, low6, high6, tilt4, low4, high4;
    reg       other_low, other_high;    // .7 has its other form, if disparity is then negative, positive
    always @(posedge clk) begin
        own6 <= {x[0] ^ (x16 || x31), x[1] ^ (x0 || x15), x[2] ^ (x0 || x24 || x31), x[3] ^ (x15 || x16),
                 x[4] ^ (one_of_four || x16 || x24 || x31),
                 k28 || x == 5'd3 || x == 5'd5 || x == 5'd6 || x == 5'd9 || x == 5'd10 || x == 5'd12 ||
                 x == 5'd17 || x == 5'd18 || x == 5'd20};
        own4  <= {y[0], y[1] || y0, y[2], y == 3'd1 || y == 3'd2};
        tilt6 <= four_ones || two_ones;
        low6  <= four_ones || x == 5'd7;
        high6 <= two_ones;
        tilt4 <= y0 || y4 || y7;
        low4  <= y3 || y7;
        high4 <= y0 || y4 || comma || abort;
        // Five equal bits across the border are avoided so; and it makes K30.7 of D30.7.
        other_low  <= y7 && (error || x == 5'd17 || x == 5'd18 || x == 5'd20);
        other_high <= y7 && (error || x == 5'd11 || x == 5'd13 || x == 5'd14);
    end

    // The column.
    wire       rd6   = rd ^ tilt6;
    wire       other = rd6 ? other_high : other_low;
    assign code = {own6 ^ {6{rd ? low6 : high6}}, (other ? 4'b0111 : own4) ^ {4{rd6 ? low4 : high4}}};
    always @(posedge clk)
        if (rst)     rd <= 1'b0;
        else if (en) rd <= rd6 ^ tilt4;
`ifdef FORMAL
`include "enc_8b10b.formal.v"
`endif
endmodule
`resetall
