// A line that goes through a register, for the tests of models of serial lines. Flip inverts it.
module through (
    input  wire clk,
    input  wire rst,
    input  wire rx,
    input  wire flip,
    output reg  tx
);
    always @(posedge clk) tx <= rst || (rx ^ flip);
endmodule
