`default_nettype none
// Adds up the pulses of N sources and gives them on one a clock, for a counter that counts one a clock.
//
// Contract: `event_out` pulses as often as bits of `events` were set; of more than 255 that wait, some are lost.
//
// Proven: trunk_tally.formal.v.
module trunk_tally #(
    parameter N = 4
) (
    input  wire         clk,
    input  wire         rst,
    input  wire [N-1:0] events,
    output wire         event_out
);
    reg [7:0] waits;
    reg [3:0] more;
    integer k;
    always @* begin
        more = 4'd0;
        for (k = 0; k < N; k = k + 1) more = more + {3'd0, events[k]};
    end
    assign event_out = waits != 8'd0;
    wire [8:0] sum = {1'b0, waits} + {5'd0, more} - {8'd0, event_out};
    always @(posedge clk) waits <= rst ? 8'd0 : sum[8] ? 8'd255 : sum[7:0];
`ifdef FORMAL
`include "trunk_tally.formal.v"
`endif
endmodule
`resetall
