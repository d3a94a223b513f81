// Two-flop synchroniser for one bit that comes from another clock, or from a pin.
//
// Contract
//   q follows d 2 to 3 clocks later. d must be a register (or a pin) and stay for more than one
//   clock of clk to be seen for certain. Several bits that belong together must not go through
//   several of these: use Gray code, a handshake or fifo_async.
//
// The attributes keep tools from merging, retiming or making shift-register memory of the two flops.
// HX8K: 2 flops, no LUT. Source: C. Cummings, "Clock Domain Crossing", SNUG 2008, section 4.
`default_nettype none

module sync_bit #(
    parameter INIT = 1'b0               // q after configuration
) (
    input  wire clk,
    input  wire d,
    output wire q
`ifdef FORMAL
    ,
    output wire f_first
`endif
);
    (* ASYNC_REG = "TRUE", keep *) reg first  = INIT;
    (* ASYNC_REG = "TRUE", keep *) reg second = INIT;

    always @(posedge clk) begin
        first  <= d;
        second <= first;
    end

    assign q = second;
`ifdef FORMAL
    assign f_first = first;
`endif
endmodule

`resetall
