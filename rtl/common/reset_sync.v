// Reset for one clock domain: asserted at once, released in step with the clock and late.
//
// Contract
//   rst is high from configuration, or from any moment arst is high (without a clock too), until
//   STRETCH+3 rising edges of clk have passed with arst low; it falls just after a rising edge.
//   It works from the flops' configuration values alone: arst may be tied low.
//   STRETCH is at least 64: iCE40 block memory reads zero, and may be written at address 0, for some
//   36 clocks after configuration, and every design here holds its write enables low during rst.
//
// The one place with an asynchronous set: a stopped clock must not keep a domain running.
// HX8K: 9 LUT4, 10 flops. Source: Lattice TN1250 (iCE40 memory usage guide); C. Cummings,
// "Synchronous Resets? Asynchronous Resets?", SNUG 2002, section 7.
`default_nettype none

module reset_sync #(
    parameter STRETCH = 64              // power of two
) (
    input  wire clk,
    input  wire arst,
    output reg  rst = 1'b1
);
    localparam CW = $clog2(STRETCH);

    generate
        if (STRETCH != 1 << CW || STRETCH < 64) error_stretch_must_be_a_power_of_two_from_64 u_check_stretch ();
    endgenerate

    // The counter stands still until the release of arst has passed two flops, so its bits cannot
    // leave reset at different edges.
    (* ASYNC_REG = "TRUE", keep *) reg [1:0] released = 2'b00;
    reg [CW:0] count = 0;

    always @(posedge clk or posedge arst)
        if (arst) begin
            released <= 2'b00;
            count    <= 0;
            rst      <= 1'b1;
        end else begin
            released <= {released[0], 1'b1};
            if (released[1] && !count[CW]) count <= count + {{CW{1'b0}}, 1'b1};
            rst      <= !count[CW];
        end
endmodule

`resetall
