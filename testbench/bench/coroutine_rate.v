`default_nettype none
// The smallest design that a coroutine can have something to do with: counts in steps.
module coroutine_rate (
    input  wire        clk,
    input  wire        enable,
    input  wire [31:0] step,
    output reg  [31:0] count
);
    initial count = 0;
    always @(posedge clk) if (enable) count <= count + step;
endmodule
`resetall
