`default_nettype none
// Patience with who takes packets for a node: a host that has stopped, behind a trap, must not hold up the network.
//
// Contract:
//   room: he can take a packet. moved: he has taken something. `overdue` rises when he has not had room for PATIENCE clocks without
//   moving, and falls as soon as he moves.
//
// Proven: net_patience.formal.v. Source: doc/network.md.
module net_patience #(
    parameter PATIENCE = 1 << 20
) (
    input  wire clk,
    input  wire rst,
    input  wire room,
    input  wire moved,
    output reg  overdue
);
    localparam TW = $clog2(PATIENCE + 1);
    reg  [TW-1:0] waited;
    wire          long;
    at_least #(.WIDTH(TW), .LIMIT(PATIENCE)) u_long (.x(waited), .y(long));
    always @(posedge clk) begin
        waited  <= room || moved ? {TW{1'b0}} : waited + {{TW-1{1'b0}}, !long};
        overdue <= !moved && (overdue || long);
        if (rst) {waited, overdue} <= {TW + 1{1'b0}};
    end
`ifdef FORMAL
`include "net_patience.formal.v"
`endif
endmodule
`resetall
