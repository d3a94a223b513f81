`default_nettype none
// Adds up the pulses of N sources and gives them on one a clock, for a counter that counts one a clock.
//
// Contract: `event_out` pulses as often as bits of `events` were set, a clock later or more; of more than 2^BITS-1 some are lost.
//
// Proven: pulse_tally.formal.v.
module pulse_tally #(
    parameter N    = 4,                 // 1 to 15
    parameter BITS = 8                  // 1 to 8
) (
    input  wire         clk,
    input  wire         rst,
    input  wire [N-1:0] events,
    output wire         event_out
);
    reg [BITS-1:0] waits;
    reg [3:0] more;
    integer k;
    always @* begin
        more = 4'd0;
        for (k = 0; k < N; k = k + 1) more = more + {3'd0, events[k]};
    end
    assign event_out = waits != {BITS{1'b0}};
    wire [8:0] sum = {{9-BITS{1'b0}}, waits} + {5'd0, more} - {8'd0, event_out};
    always @(posedge clk) waits <= rst ? {BITS{1'b0}} : sum[8:BITS] != {9-BITS{1'b0}} ? {BITS{1'b1}} : sum[BITS-1:0];
`ifdef FORMAL
`include "pulse_tally.formal.v"
`endif
endmodule
`resetall
